import { dropExcessMarks } from "../../base/unicode.ts"

/** Letters and quotes that NFKD does not decompose, with their usual replacements. */
const LETTER_REPLACEMENTS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ı: "i",
  "’": "'",
  "‘": "'",
  "“": '"',
  "”": '"',
  "„": '"',
  "«": '"',
  "»": '"',
}

const REPLACED_LETTER = new RegExp(`[${Object.keys(LETTER_REPLACEMENTS).join("")}]`, "gu")

/** Combining marks and invisible characters. */
const DROPPED_CHARACTERS = /[\p{M}\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu

/** A regular expression for folded texts: its letters are folded, its case and spaces are kept. */
export const foldPattern = (pattern: string): string => stripMarks(pattern)

/** A text in lower case, without diacritics, with straight quotes and one space between words. */
export const foldText = (text: string): string => stripMarks(text.replace(/\s+/g, " ").toLowerCase()).trim()

const stripMarks = (text: string): string =>
  dropExcessMarks(text)
    .normalize("NFKD")
    .replace(DROPPED_CHARACTERS, "")
    .replace(REPLACED_LETTER, letter => LETTER_REPLACEMENTS[letter] ?? letter)

/** Common named character references, without those of a letter with a diacritic. */
const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  nbsp: " ",
  ensp: " ",
  emsp: " ",
  thinsp: " ",
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  lsquo: "'",
  rsquo: "'",
  ldquo: '"',
  rdquo: '"',
  bdquo: '"',
  laquo: '"',
  raquo: '"',
  ndash: "–",
  mdash: "—",
  hellip: "…",
  middot: "·",
  bull: "•",
  copy: "©",
  reg: "®",
  trade: "™",
  euro: "€",
  szlig: "ß",
  aelig: "æ",
  oelig: "œ",
  oslash: "ø",
  shy: "",
}

const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+\d{0,2}));?/gi
const ACCENTED_ENTITY = /^([a-z])(?:uml|acute|grave|circ|tilde|cedil|ring|caron|ogon|macr|breve|slash)$/i

/** An HTML text with its character references resolved. A letter with a diacritic becomes its base letter, as in `foldText`. */
export const decodeEntities = (text: string): string =>
  text.replace(ENTITY, (all, decimal?: string, hex?: string, name?: string) => {
    if (name === undefined) return codePointText(Number.parseInt(decimal ?? hex ?? "", decimal === undefined ? 16 : 10))
    const key = name.toLowerCase()
    return (Object.hasOwn(NAMED_ENTITIES, key) ? NAMED_ENTITIES[key] : ACCENTED_ENTITY.exec(name)?.[1]) ?? all
  })

const codePointText = (code: number): string => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd")
