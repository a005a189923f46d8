import { FetchFault } from "./fetch-fault.ts"
import type { WireReader } from "./wire-reader.ts"

/** The head of an answer. Names of headers are lower case; of one that stands there twice the first counts. */
export type ResponseHead = { readonly status: number; readonly headers: ReadonlyMap<string, string> }

/** The body of an answer as it came, or the beginning of one that is longer than is read. */
export type ResponseBody = { readonly bytes: Uint8Array; readonly isCut: boolean }

const STATUS_LINE = /^HTTP\/1\.[01] ([1-5]\d\d)(?: |$)/
/** A name is a token (RFC 9110 §5.1). */
const HEADER_NAME = /^[!#$%&'*+.^`|~\w-]+$/
const CHUNK_SIZE = /^([\da-f]{1,8})[ \t]*(?:;.*)?$/i
const CHUNK_LINE_BYTES_MAX = 1024
/** Each chunk costs a few microseconds, however small it is, in which nobody else is answered. */
const CHUNKS_MAX = 10_000

/**
 * Reads the head of an answer (RFC 9112 §4, §5), and passes over those that only announce one (1xx). All of it together
 * has `bytesMax` octets at most. It throws a `FetchFault`.
 */
export async function readHead(wire: WireReader, bytesMax: number): Promise<ResponseHead> {
  let left = bytesMax
  const line = async (): Promise<string> => {
    const text = await wire.line(left)
    left -= Buffer.byteLength(text) + 1 // an empty line counts too, or there could be no end of them
    return text
  }
  for (;;) {
    const [, code] = STATUS_LINE.exec(await line()) ?? []
    if (code === undefined) throw new FetchFault("not_http")
    const headers = await headersOf(line)
    const status = Number(code)
    if (status === SWITCHING) throw new FetchFault("not_http")
    if (status >= 200) return { status, headers }
  }
}

/** Nobody asked for another protocol. */
const SWITCHING = 101

/** A line that is no header is passed over: none that steers us is made of such. */
async function headersOf(line: () => Promise<string>): Promise<ReadonlyMap<string, string>> {
  const headers = new Map<string, string>()
  for (let text = await line(); text !== ""; text = await line()) {
    // No pattern parts name from value: white space of many thousand octets would keep it busy for hours.
    const colon = text.indexOf(":")
    const name = text.slice(0, Math.max(colon, 0))
    if (!HEADER_NAME.test(name) || text.includes("\r")) continue
    const [key, value] = [name.toLowerCase(), text.slice(colon + 1).trim()]
    if (key === "content-length" && (headers.get(key) ?? value) !== value) throw new FetchFault("not_http")
    if (!headers.has(key)) headers.set(key, value)
  }
  return headers
}

/** Reads the body that follows a head (RFC 9112 §6.3), at most `bytesMax` octets of it. It throws a `FetchFault`. */
export async function readBody(
  wire: WireReader,
  { status, headers }: ResponseHead,
  bytesMax: number,
): Promise<ResponseBody> {
  if (status === 204 || status === 304) return { bytes: new Uint8Array(), isCut: false }
  const coding = headers.get("transfer-encoding")
  if (coding !== undefined) {
    if (coding.toLowerCase() !== "chunked") throw new FetchFault("bad_coding")
    return await taken(chunks(wire), bytesMax)
  }
  const length = headers.get("content-length")
  if (length === undefined) return await taken(untilEnd(wire), bytesMax)
  if (!/^\d{1,15}$/.test(length)) throw new FetchFault("not_http")
  return await taken(counted(wire, Number(length)), bytesMax)
}

/** The beginning of what comes, up to `bytesMax` octets. */
async function taken(pieces: AsyncIterable<Uint8Array>, bytesMax: number): Promise<ResponseBody> {
  const held: Uint8Array[] = []
  let count = 0
  for await (const piece of pieces) {
    held.push(piece.subarray(0, bytesMax - count))
    count += piece.length
    if (count > bytesMax) break
  }
  return { bytes: Buffer.concat(held), isCut: count > bytesMax }
}

const PIECE_BYTES_MAX = 65_536

async function* untilEnd(wire: WireReader): AsyncGenerator<Uint8Array> {
  for (let piece = await wire.some(PIECE_BYTES_MAX); piece !== null; piece = await wire.some(PIECE_BYTES_MAX))
    yield piece
}

async function* counted(wire: WireReader, bytes: number): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; ) {
    const piece = await wire.some(Math.min(left, PIECE_BYTES_MAX))
    if (piece === null) throw new FetchFault("broken_off")
    left -= piece.length
    yield piece
  }
}

/** RFC 9112 §7.1. What comes after the last chunk is not read. */
async function* chunks(wire: WireReader): AsyncGenerator<Uint8Array> {
  for (let count = 0; ; count++) {
    const [, size] = CHUNK_SIZE.exec(await wire.line(CHUNK_LINE_BYTES_MAX)) ?? []
    if (size === undefined) throw new FetchFault("not_http")
    const bytes = Number.parseInt(size, 16)
    if (bytes === 0) return
    if (count === CHUNKS_MAX) throw new FetchFault("too_long")
    yield* counted(wire, bytes)
    if ((await wire.line(CHUNK_LINE_BYTES_MAX)) !== "") throw new FetchFault("not_http")
  }
}
