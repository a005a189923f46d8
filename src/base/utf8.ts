const UTF8 = new TextDecoder("utf-8", { fatal: true })

/** The text of the octets, without a byte order mark; null: they are not UTF-8 (RFC 3629). */
export function utf8Text(octets: Uint8Array): string | null {
  try {
    return UTF8.decode(octets)
  } catch (notUtf8) {
    if (notUtf8 instanceof TypeError) return null
    throw notUtf8
  }
}
