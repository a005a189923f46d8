/** Below this length an answer is sent as fast as it is compressed. */
const COMPRESSED_BYTES_MIN = 1_000

/** The header that tells caches that an answer depends on `Accept-Encoding`. */
export const VARY_ENCODING = "Accept-Encoding"

/** Whether an answer of so many bytes or characters is sent compressed to this client. */
export const isCompressible = (length: number, { headers }: Request): boolean =>
  length >= COMPRESSED_BYTES_MIN && acceptsGzip(headers.get("accept-encoding"))

/** Compresses an answer that is sent once. The lowest level takes half the time of the usual one (a batch of 100: 50 µs). */
export const compress = (body: string | Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  Bun.gzipSync(body, { level: 1 })

/** Whether `Accept-Encoding` names gzip with a weight above zero. */
export const acceptsGzip = (acceptEncoding: string | null): boolean => acceptsCoding(acceptEncoding, "gzip")

/** Whether `Accept-Encoding` (RFC 9110 §12.5.3) names the coding with a weight above zero. */
export function acceptsCoding(acceptEncoding: string | null, coding: "gzip" | "br"): boolean {
  const codings = (acceptEncoding ?? "").toLowerCase().split(",")
  return codings.some(text => {
    const [name = "", weight = "q=1"] = text.split(";").map(part => part.trim())
    return name === coding && Number(weight.replace(/^q=/, "")) > 0
  })
}
