import type { Transform } from "node:stream"
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib"
import { FetchError } from "./fetch-target.ts"

/** The head of an answer. Names of headers are lower case; of one that stands there twice the first counts. */
export type ResponseHead = { readonly status: number; readonly headers: ReadonlyMap<string, string> }

/** The body of an answer as it came, or the beginning of one that is longer than is read. */
type ResponseBody = { readonly bytes: Uint8Array; readonly isTruncated: boolean }

const STATUS_LINE = /^HTTP\/1\.[01] ([1-5]\d\d)(?: |$)/
/** A name is a token (RFC 9110 §5.1). */
const HEADER_NAME = /^[!#$%&'*+.^`|~\w-]+$/
const CHUNK_SIZE = /^([\da-f]{1,8})[ \t]*(?:;.*)?$/i
const CHUNK_LINE_BYTES_MAX = 1024
/** Each chunk costs a few microseconds, however small it is, in which nobody else is answered. */
const CHUNKS_MAX = 10_000

/**
 * Reads the head of an answer (RFC 9112 §4, §5), and passes over those that only announce one (1xx). All of it together
 * has `bytesMax` octets at most. It throws a `FetchError`.
 */
export async function readResponseHead(wire: ConnectionReader, bytesMax: number): Promise<ResponseHead> {
  let left = bytesMax
  const line = async (): Promise<string> => {
    const text = await wire.readLine(left)
    left -= Buffer.byteLength(text) + 1 // an empty line counts too, or there could be no end of them
    return text
  }
  for (;;) {
    const [, code] = STATUS_LINE.exec(await line()) ?? []
    if (code === undefined) throw new FetchError("not_http")
    const headers = await readHeaders(line)
    const status = Number(code)
    if (status === SWITCHING_PROTOCOLS) throw new FetchError("not_http")
    if (status >= 200) return { status, headers }
  }
}

/** Nobody asked for another protocol. */
const SWITCHING_PROTOCOLS = 101

/** A line that is no header is passed over: none that steers us is made of such. */
async function readHeaders(line: () => Promise<string>): Promise<ReadonlyMap<string, string>> {
  const headers = new Map<string, string>()
  for (let text = await line(); text !== ""; text = await line()) {
    // No pattern parts name from value: white space of many thousand octets would keep it busy for hours.
    const colon = text.indexOf(":")
    const name = text.slice(0, Math.max(colon, 0))
    if (!HEADER_NAME.test(name) || text.includes("\r")) continue
    const [key, value] = [name.toLowerCase(), text.slice(colon + 1).trim()]
    if (key === "content-length" && (headers.get(key) ?? value) !== value) throw new FetchError("not_http")
    if (!headers.has(key)) headers.set(key, value)
  }
  return headers
}

/** Reads the body that follows a head (RFC 9112 §6.3), at most `bytesMax` octets of it. It throws a `FetchError`. */
export async function readResponseBody(
  wire: ConnectionReader,
  { status, headers }: ResponseHead,
  bytesMax: number,
): Promise<ResponseBody> {
  if (status === 204 || status === 304) return { bytes: new Uint8Array(), isTruncated: false }
  const coding = headers.get("transfer-encoding")
  if (coding !== undefined) {
    if (coding.toLowerCase() !== "chunked") throw new FetchError("bad_coding")
    return await readUpTo(chunkedBody(wire), bytesMax)
  }
  const length = headers.get("content-length")
  if (length === undefined) return await readUpTo(closeDelimitedBody(wire), bytesMax)
  if (!/^\d{1,15}$/.test(length)) throw new FetchError("not_http")
  return await readUpTo(fixedLengthBody(wire, Number(length)), bytesMax)
}

/** The beginning of what comes, up to `bytesMax` octets. */
async function readUpTo(pieces: AsyncIterable<Uint8Array>, bytesMax: number): Promise<ResponseBody> {
  const held: Uint8Array[] = []
  let count = 0
  for await (const piece of pieces) {
    held.push(piece.subarray(0, bytesMax - count))
    count += piece.length
    if (count > bytesMax) break
  }
  return { bytes: Buffer.concat(held), isTruncated: count > bytesMax }
}

const PIECE_BYTES_MAX = 65_536

async function* closeDelimitedBody(wire: ConnectionReader): AsyncGenerator<Uint8Array> {
  for (let piece = await wire.readSome(PIECE_BYTES_MAX); piece !== null; piece = await wire.readSome(PIECE_BYTES_MAX))
    yield piece
}

async function* fixedLengthBody(wire: ConnectionReader, bytes: number): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; ) {
    const piece = await wire.readSome(Math.min(left, PIECE_BYTES_MAX))
    if (piece === null) throw new FetchError("broken_off")
    left -= piece.length
    yield piece
  }
}

/** RFC 9112 §7.1. What comes after the last chunk is not read. */
async function* chunkedBody(wire: ConnectionReader): AsyncGenerator<Uint8Array> {
  for (let count = 0; ; count++) {
    const [, size] = CHUNK_SIZE.exec(await wire.readLine(CHUNK_LINE_BYTES_MAX)) ?? []
    if (size === undefined) throw new FetchError("not_http")
    const bytes = Number.parseInt(size, 16)
    if (bytes === 0) return
    if (count === CHUNKS_MAX) throw new FetchError("too_long")
    yield* fixedLengthBody(wire, bytes)
    if ((await wire.readLine(CHUNK_LINE_BYTES_MAX)) !== "") throw new FetchError("not_http")
  }
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/**
 * Reads lines and octets off a connection, as they are asked for, and no more of it than `bytesMax` in all: what is beyond is
 * `too_long`. A connection that breaks off is `broken_off`.
 */
export class ConnectionReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #buffered: Uint8Array = new Uint8Array()
  #bytesLeft: number

  constructor(parts: AsyncIterable<Uint8Array>, bytesMax: number) {
    this.#chunks = parts[Symbol.asyncIterator]()
    this.#bytesLeft = bytesMax
  }

  /** The next line without its end, which is a line feed (RFC 9112 §2.2), as UTF-8. Longer than `bytesMax` it is `too_long`. */
  async readLine(bytesMax: number): Promise<string> {
    const pieces: Uint8Array[] = []
    let count = 0
    for (;;) {
      const end = this.#buffered.indexOf(LINE_FEED)
      const piece = this.#take(end < 0 ? this.#buffered.length : end)
      pieces.push(piece)
      count += piece.length
      if (count > bytesMax) throw new FetchError("too_long")
      if (end >= 0) break
      if (!(await this.#readMore())) throw new FetchError("broken_off")
    }
    this.#take(1)
    const line = Buffer.concat(pieces)
    return UTF8.decode(line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line)
  }

  /** The next octets, one at least and at most `bytesMax`; null: there are none. */
  async readSome(bytesMax: number): Promise<Uint8Array | null> {
    while (this.#buffered.length === 0) if (!(await this.#readMore())) return null
    return this.#take(Math.min(bytesMax, this.#buffered.length))
  }

  #take(count: number): Uint8Array {
    const piece = this.#buffered.subarray(0, count)
    this.#buffered = this.#buffered.subarray(count)
    return piece
  }

  async #readMore(): Promise<boolean> {
    const { value, done } = await this.#chunks.next().catch((_broken: unknown) => {
      throw new FetchError("broken_off")
    })
    if (done === true) return false
    this.#buffered = value
    this.#bytesLeft -= value.length
    if (this.#bytesLeft < 0) throw new FetchError("too_long")
    return true
  }
}

const UTF8 = new TextDecoder()

/** The codings that are read, as a request names them (RFC 9110 §12.5.3). */
export const ACCEPTED_CODINGS = "gzip, deflate, br"

/** What is there of a body that was cut is decoded as far as it goes. */
const TRUNCATED_OPTIONS = { finishFlush: constants.Z_SYNC_FLUSH }
const TRUNCATED_BROTLI_OPTIONS = { finishFlush: constants.BROTLI_OPERATION_FLUSH }

const DECODERS: Readonly<Record<string, (body: ResponseBody) => Transform>> = {
  gzip: ({ isTruncated }) => createGunzip(isTruncated ? TRUNCATED_OPTIONS : {}),
  "x-gzip": ({ isTruncated }) => createGunzip(isTruncated ? TRUNCATED_OPTIONS : {}),
  br: ({ isTruncated }) => createBrotliDecompress(isTruncated ? TRUNCATED_BROTLI_OPTIONS : {}),
  // Some servers leave out the wrapper that the coding has (RFC 9110 §8.4.1.2), whose first octet names its method, 8.
  deflate: ({ bytes, isTruncated }) =>
    (((bytes[0] ?? 0) & 0x0f) === 8 ? createInflate : createInflateRaw)(isTruncated ? TRUNCATED_OPTIONS : {}),
}

/**
 * The body without its content coding, at most `bytesMax` octets of it: no more than that, and one piece of 16 KiB, is
 * ever decompressed. It throws a `FetchError`: `bad_coding` when the coding is unknown, one of several, or broken.
 */
export async function decodeBody(
  body: ResponseBody,
  coding: string | undefined,
  bytesMax: number,
): Promise<ResponseBody> {
  const name = (coding ?? "").toLowerCase()
  if (name === "" || name === "identity" || body.bytes.length === 0) return body
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name]?.(body) : undefined
  if (decoder === undefined) throw new FetchError("bad_coding")
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
    throw new FetchError(broken instanceof FetchError ? broken.reason : "bad_coding")
  }
  return { bytes: Buffer.concat(held), isTruncated: body.isTruncated || count > bytesMax }
}
