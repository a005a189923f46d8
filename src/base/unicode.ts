/** The most combining marks in a row of a text in Stream-Safe Text Format (UAX #15 §13). No language uses more than a few. */
const MARKS_MAX = 30

const TOO_MANY_MARKS = new RegExp(`\\p{M}{${MARKS_MAX + 1}}`, "u")
const EXCESS_MARKS = new RegExp(`(\\p{M}{${MARKS_MAX}})\\p{M}+`, "gu")

/** Whether a text has more combining marks in a row than any language needs. Normalizing them takes quadratic time. */
export const exceedsMarks = (text: string): boolean => TOO_MANY_MARKS.test(text)

/** The text without the combining marks beyond the first 30 in a row, so that it is normalized in linear time. */
export const dropExcessMarks = (text: string): string => text.replace(EXCESS_MARKS, "$1")

/** Characters with an empty glyph that Unicode counts among letters, marks and symbols. */
const BLANK = /[\u2800\u{13441}\u{13442}\u{16FE4}\u{1D159}]/u

/** Whether the text has a character that is drawn as nothing and that no property of Unicode tells. */
export const hasBlankGlyph = (text: string): boolean => BLANK.test(text)
