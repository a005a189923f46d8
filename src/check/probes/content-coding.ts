import type { Transform } from "node:stream"
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib"
import { FetchFault } from "./fetch-fault.ts"
import type { ResponseBody } from "./http-response.ts"

/** The codings that are read, as a request names them (RFC 9110 §12.5.3). */
export const ACCEPTED_CODINGS = "gzip, deflate, br"

/** What is there of a body that was cut is decoded as far as it goes. */
const CUT = { finishFlush: constants.Z_SYNC_FLUSH }
const CUT_BROTLI = { finishFlush: constants.BROTLI_OPERATION_FLUSH }

const DECODERS: Readonly<Record<string, (body: ResponseBody) => Transform>> = {
  gzip: ({ isCut }) => createGunzip(isCut ? CUT : {}),
  "x-gzip": ({ isCut }) => createGunzip(isCut ? CUT : {}),
  br: ({ isCut }) => createBrotliDecompress(isCut ? CUT_BROTLI : {}),
  // Some servers leave out the wrapper that the coding has (RFC 9110 §8.4.1.2), whose first octet names its method, 8.
  deflate: ({ bytes, isCut }) => (((bytes[0] ?? 0) & 0x0f) === 8 ? createInflate : createInflateRaw)(isCut ? CUT : {}),
}

/**
 * The body without its content coding, at most `bytesMax` octets of it: no more than that, and one piece of 16 KiB, is
 * ever decompressed. It throws a `FetchFault`: `bad_coding` when the coding is unknown, one of several, or broken.
 */
export async function decoded(body: ResponseBody, coding: string | undefined, bytesMax: number): Promise<ResponseBody> {
  const name = (coding ?? "").toLowerCase()
  if (name === "" || name === "identity" || body.bytes.length === 0) return body
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name]?.(body) : undefined
  if (decoder === undefined) throw new FetchFault("bad_coding")
  const held: Uint8Array[] = []
  let count = 0
  decoder.end(body.bytes)
  try {
    for await (const piece of decoder) {
      held.push(piece.subarray(0, bytesMax - count))
      count += piece.length
      if (count > bytesMax) break // leaving the loop ends the decoder
    }
  } catch (broken) {
    throw new FetchFault(broken instanceof FetchFault ? broken.why : "bad_coding")
  }
  return { bytes: Buffer.concat(held), isCut: body.isCut || count > bytesMax }
}
