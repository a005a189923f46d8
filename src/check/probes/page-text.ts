/** How many octets of a page are searched for what names its character set, as browsers do (HTML, "prescan"). */
const PRESCAN_BYTES = 1024

const IN_HEADER = /charset\s*=\s*["']?([\w.:-]+)/i
const IN_META = /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)/i

/** The text of a page in the character set that its byte order mark, its header or it itself names; else, or if that is unknown, UTF-8. */
export function pageText(bytes: Uint8Array, contentType: string | null): string {
  const named =
    markOf(bytes) ??
    IN_HEADER.exec(contentType ?? "")?.[1] ??
    IN_META.exec(Buffer.from(bytes.subarray(0, PRESCAN_BYTES)).toString("latin1"))?.[1]
  return decoderOf(named ?? "utf-8").decode(bytes)
}

function markOf(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8"
  if (first === 0xff && second === 0xfe) return "utf-16le"
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined
}

function decoderOf(label: string): { readonly decode: (bytes: Uint8Array) => string } {
  try {
    return new TextDecoder(label)
  } catch (unknownLabel) {
    if (unknownLabel instanceof RangeError || unknownLabel instanceof TypeError) return new TextDecoder()
    throw unknownLabel
  }
}
