/** What a JSON text says (RFC 8259); undefined: it is none. Throws where it is nested past the parser's stack. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (notJson) {
    if (notJson instanceof SyntaxError) return undefined
    throw notJson
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true })

/** The text of the octets, without a byte order mark; null: they are not UTF-8 (RFC 3629). */
export function decodeUtf8(octets: Uint8Array): string | null {
  try {
    return UTF8.decode(octets)
  } catch (notUtf8) {
    if (notUtf8 instanceof TypeError) return null
    throw notUtf8
  }
}

/**
 * The text, put together. The runtime keeps a text that was made of parts as these, and looks them all up again for every
 * longer text that it becomes a part of: for a part of many that takes a fifth of their time.
 */
export function flattenString(text: string): string {
  // To look at one unit of a text puts it together.
  text.charCodeAt(0)
  return text
}
