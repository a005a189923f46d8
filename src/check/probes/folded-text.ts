/** Letters that have no base letter to be taken apart into, by what people write in their place. */
const LETTERS: Readonly<Record<string, string>> = {
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

const REPLACED = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "gu")

/** Marks on letters, and characters that nobody sees. */
const DROPPED = /[\p{M}\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu

/** A pattern as folded texts need it: its letters as `folded` leaves them, and all else as it is. */
export const foldedPattern = (pattern: string): string => unmarked(pattern)

/** A text in lower case, without diacritics, with straight quotes and one space between words. */
export const folded = (text: string): string => unmarked(text.replace(/\s+/g, " ").toLowerCase()).trim()

const unmarked = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(DROPPED, "")
    .replace(REPLACED, letter => LETTERS[letter] ?? letter)

/** Named character references that pages write letters and signs with, beside those of one letter and its diacritic. */
const NAMED: Readonly<Record<string, string>> = {
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

const REFERENCE = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+\d{0,2}));?/gi
const ACCENTED = /^([a-z])(?:uml|acute|grave|circ|tilde|cedil|ring|caron|ogon|macr|breve|slash)$/i

/** A text of HTML with its character references resolved; an accented letter becomes its base letter, as in `folded`. */
export const unescaped = (text: string): string =>
  text.replace(REFERENCE, (all, decimal?: string, hex?: string, name?: string) => {
    if (name === undefined) return character(Number.parseInt(decimal ?? hex ?? "", decimal === undefined ? 16 : 10))
    const key = name.toLowerCase()
    return (Object.hasOwn(NAMED, key) ? NAMED[key] : ACCENTED.exec(name)?.[1]) ?? all
  })

const character = (code: number): string => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd")
