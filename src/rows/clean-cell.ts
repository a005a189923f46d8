import { trimSpace } from "../base/text.ts"

/** What a cell held beside the text that is judged. */
export type CleanedCell = {
  readonly text: string
  /** Further addresses of the cell, which are not judged. */
  readonly others: readonly string[]
}

/** What people and programs write into a cell that is to be empty, without white space, quotes and parentheses around it. */
const EMPTY_WORDS: ReadonlySet<string> = new Set([
  ...["", "n/a", "#n/a", "n.a.", "n.a", "na", "none", "null", "nil", "nan", "undefined", "empty", "blank", "\\n"],
  ...["-", "--", "---", "\u2013", "\u2014", ".", "?"],
])
const EMPTY_WORD_LENGTH_MAX = 12

/** A longer cell stays as it is: it is a text with addresses in it. */
const CLEANED_LENGTH_MAX = 4096

/** Whether a cell says that there is nothing to judge. */
export function isEmptyCell(cell: string): boolean {
  // Nearly every cell is longer, so nothing of it is read.
  if (cell.length > EMPTY_WORD_LENGTH_MAX + 2 && trimSpace(cell).length > EMPTY_WORD_LENGTH_MAX + 2) return false
  const word = trimSpace(cell.replace(UNSEEN, ""))
  return EMPTY_WORDS.has(word.toLowerCase()) || EMPTY_WORDS.has(withoutWrapping(word).toLowerCase())
}

/** Characters without width, and those that set the direction of text. */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
const ASCII_MAX = 0x7f

/** Whether a text has characters that nobody sees, or white space other than that of ASCII. */
export function hasUnseen(text: string): boolean {
  for (let at = 0; at < text.length; at++)
    if (text.charCodeAt(at) > ASCII_MAX) return text.search(UNSEEN) >= 0 || text.search(OTHER_BLANKS) >= 0
  return false
}

/** White space but the plain blank and those that end a line. */
const OTHER_BLANKS = /[[\p{Zs}\t\v\f]--\x20]/gv

/** What stands around an address as a whole. */
const WRAPPINGS: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "`": "`",
  "\u201c": "\u201d",
  "\u201e": "\u201c",
  "\u2018": "\u2019",
  "\u00ab": "\u00bb",
  "(": ")",
  "[": "]",
  "{": "}",
  "<": ">",
}
const WRAPPINGS_MAX = 4

/** The text without pairs of quotes or brackets around all of it. */
function withoutWrapping(text: string): string {
  let inner = trimSpace(text)
  for (let count = 0; count < WRAPPINGS_MAX; count++) {
    if (inner.length < 2 || WRAPPINGS[inner[0] ?? ""] !== inner.at(-1)) break
    inner = trimSpace(inner.slice(1, -1))
  }
  return inner
}

/** RFC 5322 §3.4: `Jane Doe <jane@acme.com>`, of which the text between the brackets is the address; or between others. */
const BRACKETED_ADDRESS = /[<([]([^<>()[\]\s@]+@[^<>()[\]\s@]+)[>)\]]/
const BRACKETED_ADDRESSES = new RegExp(BRACKETED_ADDRESS, "g")
/** A comment (RFC 5322 §3.2.2) after an address. */
const COMMENT = /\s\([^()@]*\)$/
const MAILTO = /^(?:mailto|e-?mail):/i
/** What separates addresses (RFC 5322 §3.4 has the comma, Outlook the semicolon). */
const SEPARATORS = /[;,|\s]+|\/(?=\s)|(?<=\s)\//
const ENDINGS = ".,;:"
/** What people write before an address: `work: jane@acme.com`. */
const LABEL = /^[\p{L} -]{1,20}:\s+/u
const DOTTED_ADDRESS = /^[^@]+@[^@]+\.[^@.]+$/

/**
 * The address in a cell that is none as it stands: out of angle brackets, after `mailto:` (RFC 6068), within quotes, before
 * punctuation, without characters that nobody sees, or the first of several. Null: nothing plain was meant. Linear in the text.
 */
export function cleanAddressCell(cell: string): CleanedCell | null {
  if (cell.length > CLEANED_LENGTH_MAX || (!cell.includes("@") && !MAILTO.test(cell))) return null
  const seen = trimSpace(cell.replace(UNSEEN, ""))
  // What stands in brackets is the address; a name before it may look like one.
  const [, bracketed] = BRACKETED_ADDRESS.exec(seen) ?? []
  const listed = bracketed === undefined ? seen.replace(COMMENT, "") : seen.replaceAll(BRACKETED_ADDRESSES, ";$1;")
  const found = listedAddresses(listed)
  const [text, ...others] = [...new Set(bracketed === undefined ? found : [plainAddress(bracketed), ...found])]
  return text === undefined || text === cell ? null : { text, others: others.filter(isDotted) }
}

/** The addresses of a text without angle brackets around them. Empty: which one was meant is not plain. */
function listedAddresses(text: string): readonly string[] {
  const whole = plainAddress(text.replace(LABEL, ""))
  if (!/[\s;,|]/.test(whole)) return isOneAddress(whole) ? [whole] : []
  const blanksOnly = !/[;,|]/.test(whole)
  const parts = whole
    .split(SEPARATORS)
    .map(plainAddress)
    .filter(part => part !== "")
  const addresses = parts.filter(isDotted)
  // A blank alone may stand within what somebody took for one address: `jane doe@acme.com`.
  if (addresses.length > 1 || (addresses.length === 1 && (!blanksOnly || parts.length === 1))) return addresses
  const joined = whole.replace(OTHER_BLANKS, "").replace(BLANKS_AROUND_AT, "@").replace(BLANKS_BEFORE_DOT, "")
  return joined !== whole && isDotted(joined) && !/[\s;,|]/.test(joined) ? [joined] : []
}

/** A run of blanks is tried once, from its beginning. */
const BLANKS_AROUND_AT = /(?<! ) *@ */
const BLANKS_BEFORE_DOT = /(?<! ) +(?=\.)/g

const isOneAddress = (text: string): boolean => /^[^@]+@[^@]+$/.test(text)
const isDotted = (text: string): boolean => DOTTED_ADDRESS.test(text)

/** The text without what stands around an address. */
function plainAddress(text: string): string {
  // A spreadsheet writes `="…"` so that no cell is a formula.
  let inner = withoutWrapping(withoutEnding(text.startsWith('="') ? text.slice(1) : text))
  if (MAILTO.test(inner)) inner = decoded(trimSpace(inner.replace(MAILTO, "").replace(/\?.*$/s, "")))
  return withoutWrapping(withoutEnding(inner))
}

/** A text without the punctuation after it. A pattern would look at each mark of a long row of them again. */
function withoutEnding(text: string): string {
  let end = text.length
  while (end > 0 && ENDINGS.includes(text[end - 1] ?? "")) end--
  return text.slice(0, end)
}

/** Percent-encoded octets (RFC 6068 §2) as characters, if they are UTF-8. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}

/** The host or URL in a cell that is none as it stands; null: nothing plain was meant. */
export function cleanHostCell(cell: string): CleanedCell | null {
  if (cell.length > CLEANED_LENGTH_MAX) return null
  const text = withoutWrapping(withoutEnding(trimSpace(cell.replace(UNSEEN, "").replace(OTHER_BLANKS, " "))))
  const [first = ""] = text.split(/[\s;,|]+/)
  return first === cell || first === "" ? null : { text: first, others: [] }
}
