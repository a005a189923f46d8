/** Letters that have no base letter to be taken apart into, by what people write in their place. */
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

/** Marks on letters, and characters that nobody sees. */
const DROPPED_CHARACTERS = /[\p{M}\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu

/** A pattern as folded texts need it: its letters as `folded` leaves them, and all else as it is. */
export const foldPattern = (pattern: string): string => stripMarks(pattern)

/** A text in lower case, without diacritics, with straight quotes and one space between words. */
export const foldText = (text: string): string => stripMarks(text.replace(/\s+/g, " ").toLowerCase()).trim()

const stripMarks = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(DROPPED_CHARACTERS, "")
    .replace(REPLACED_LETTER, letter => LETTER_REPLACEMENTS[letter] ?? letter)

/** Named character references that pages write letters and signs with, beside those of one letter and its diacritic. */
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

/** A text of HTML with its character references resolved; an accented letter becomes its base letter, as in `folded`. */
export const decodeEntities = (text: string): string =>
  text.replace(ENTITY, (all, decimal?: string, hex?: string, name?: string) => {
    if (name === undefined) return codePointText(Number.parseInt(decimal ?? hex ?? "", decimal === undefined ? 16 : 10))
    const key = name.toLowerCase()
    return (Object.hasOwn(NAMED_ENTITIES, key) ? NAMED_ENTITIES[key] : ACCENTED_ENTITY.exec(name)?.[1]) ?? all
  })

const codePointText = (code: number): string => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd")
