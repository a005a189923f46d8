/** Parses JSON (RFC 8259); `undefined` means that the text is not JSON. Throws if it is nested too deep for the parser's stack. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Printable ASCII without `"` and `\`, which needs no escaping in JSON. */
const JSON_SAFE = /^[ !#-[\]-~]*$/

/** The text as a JSON string, or `null`: what `JSON.stringify` returns, faster. */
export function jsonString(text: string | null): string {
  if (text === null) return "null"
  return JSON_SAFE.test(text) ? `"${text}"` : JSON.stringify(text)
}

/** Compares two texts by code units, for `sort`. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The text without white space at its ends: that of ASCII but U+000B, Zs, U+200B and U+FEFF, which are pasted along unseen. */
export function trimSpace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return end - start === text.length ? text : text.slice(start, end)
}

/** Whether `trimSpace` takes this UTF-16 unit off. */
export function isSpace(code: number): boolean {
  if (code < 0xa0) return code === 32 || (code >= 9 && code <= 13 && code !== 11)
  if (code >= 0x2000 && code <= 0x200b) return true
  return OTHER_SPACES.has(code)
}

/** Zs beyond U+200A and below U+2000, and the byte order mark. */
const OTHER_SPACES: ReadonlySet<number> = new Set([0xa0, 0x1680, 0x202f, 0x205f, 0x3000, 0xfeff])

/**
 * Whether a text has at most `countMax` characters, white space at its ends left out. JSON Schema counts code points
 * (RFC 8259 §7), each of which is one or two UTF-16 units.
 */
export function hasAtMostCharacters(text: string, countMax: number): boolean {
  if (text.length <= countMax) return true
  const trimmed = trimSpace(text)
  return trimmed.length <= countMax || (trimmed.length <= countMax * 2 && [...trimmed].length <= countMax)
}

/** The 32-bit FNV-1a hash of a part of a text, with its bits mixed: short texts would use only some. It makes no string. */
export function textHash(text: string, from = 0, end = text.length): number {
  let hash = 0x811c9dc5 | 0
  for (let index = from; index < end; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash ^ (hash >>> 15)
}

/** How many ends of texts are kept. */
const RECURRING_ENDS_MAX = 512
const recurringEnds = Array<string>(RECURRING_ENDS_MAX).fill("")

/** Whether it is what a text has from an index on. Nothing is cut out. */
export const isEndOf = (end: string | null, text: string, from: number): boolean =>
  from === 0 ? end === text : end !== null && end.length === text.length - from && text.endsWith(end)

/** The text from an index on. It is cut out once for equal ends, such as suffixes of domains: a comparison costs less. */
export function recurringEnd(text: string, from: number): string {
  const place = textHash(text, from) & (RECURRING_ENDS_MAX - 1)
  const known = recurringEnds[place] ?? ""
  if (isEndOf(known, text, from)) return known
  const end = text.slice(from)
  recurringEnds[place] = end
  return end
}

/**
 * A number for the two UTF-16 units at the index; -1 if one of them is missing. It is not read beyond the ends: functions that do are
 * compiled again and again.
 */
export const pairAt = (text: string, index: number): number =>
  index < 0 || index + 1 >= text.length ? -1 : text.charCodeAt(index) * 0x1_0000 + text.charCodeAt(index + 1)

const UTF8 = new TextDecoder("utf-8", { fatal: true })

/** Decodes UTF-8 (RFC 3629) and drops a byte order mark; `null` means that the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

/**
 * Returns the same text as one flat string. The runtime keeps a concatenation as a tree of parts and walks that tree again
 * for every longer text that contains it. For a part of many texts that takes a fifth of the time they need.
 */
export function flattenString(text: string): string {
  // Reading one code unit makes the runtime flatten the string.
  text.charCodeAt(0)
  return text
}

/** The text with a full stop, unless it ends as a sentence does. */
export const asSentence = (text: string): string => text.replace(/(?<![.?!])$/, ".")

/** Whether the text contains a control character (C0, DEL or C1). */
export function hasControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 32 || (code >= 127 && code < 160)) return true
  }
  return false
}

/** The text with its first letter as a capital. */
export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** Whether the UTF-8 form of the text has more than `bytesMax` bytes. */
export function exceedsUtf8Bytes(text: string, bytesMax: number): boolean {
  // A UTF-16 code unit takes one to three bytes, so most texts need no counting.
  if (text.length > bytesMax) return true
  return text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax
}
