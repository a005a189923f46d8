import type { Transform } from "node:stream"
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib"
import { yieldThread } from "../../base/concurrency.ts"
import { FetchError } from "./fetch-target.ts"

/** The head of a response. Header names are lower case. Of a header that occurs twice the first counts. */
export type ResponseHead = { readonly status: number; readonly headers: ReadonlyMap<string, string> }

/** The body of a response, or its beginning. */
type ResponseBody = { readonly bytes: Uint8Array; readonly isTruncated: boolean }

const STATUS_LINE = /^HTTP\/1\.[01] ([1-5]\d\d)(?: |$)/
/** A header name is a token (RFC 9110 §5.1). */
const HEADER_NAME = /^[!#$%&'*+.^`|~\w-]+$/
const CHUNK_SIZE = /^([\da-f]{1,8})[ \t]*(?:;.*)?$/i
const CHUNK_LINE_BYTES_MAX = 1024
/** Each chunk costs a few microseconds of the event loop, however small it is. After so many other work has its turn. */
const CHUNKS_MAX = 10_000
const CHUNKS_PER_TURN = 500
/** Real heads have a few dozen lines. */
const HEAD_LINES_MAX = 1000

/**
 * Reads the head of a response (RFC 9112 §4, §5), and skips interim responses (1xx). All of them together have at most `bytesMax`
 * bytes and `HEAD_LINES_MAX` lines. Throws `FetchError`.
 */
export async function readResponseHead(reader: ConnectionReader, bytesMax: number): Promise<ResponseHead> {
  let bytesLeft = bytesMax
  let linesLeft = HEAD_LINES_MAX
  const line = async (): Promise<string> => {
    if (linesLeft-- === 0) throw new FetchError("too_long")
    const text = await reader.readLine(bytesLeft)
    bytesLeft -= Buffer.byteLength(text) + 1
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

/** The request asks for no other protocol, so this status is an error. */
const SWITCHING_PROTOCOLS = 101

/** Reads the headers. A malformed line is skipped. */
async function readHeaders(line: () => Promise<string>): Promise<ReadonlyMap<string, string>> {
  const headers = new Map<string, string>()
  for (let text = await line(); text !== ""; text = await line()) {
    // Name and value are not split by a regular expression: thousands of spaces would keep it busy for hours.
    const colon = text.indexOf(":")
    const name = text.slice(0, Math.max(colon, 0))
    if (!HEADER_NAME.test(name) || text.includes("\r")) continue
    const [key, value] = [name.toLowerCase(), text.slice(colon + 1).trim()]
    if (key === "content-length" && (headers.get(key) ?? value) !== value) throw new FetchError("not_http")
    if (!headers.has(key)) headers.set(key, value)
  }
  return headers
}

/** Reads the body after a head (RFC 9112 §6.3), at most `bytesMax` bytes of it. Throws `FetchError`. */
export async function readResponseBody(
  reader: ConnectionReader,
  { status, headers }: ResponseHead,
  bytesMax: number,
): Promise<ResponseBody> {
  if (status === 204 || status === 304) return { bytes: new Uint8Array(), isTruncated: false }
  const coding = headers.get("transfer-encoding")
  if (coding !== undefined) {
    if (coding.toLowerCase() !== "chunked") throw new FetchError("bad_coding")
    return await readUpTo(chunkedBody(reader), bytesMax)
  }
  const length = headers.get("content-length")
  if (length === undefined) return await readUpTo(closeDelimitedBody(reader), bytesMax)
  if (!/^\d{1,15}$/.test(length)) throw new FetchError("not_http")
  return await readUpTo(fixedLengthBody(reader, Number(length)), bytesMax)
}

/** Reads at most `bytesMax` bytes. */
async function readUpTo(pieces: AsyncIterable<Uint8Array>, bytesMax: number): Promise<ResponseBody> {
  const chunks: Uint8Array[] = []
  let count = 0
  for await (const piece of pieces) {
    chunks.push(piece.subarray(0, bytesMax - count))
    count += piece.length
    if (count > bytesMax) break
  }
  return { bytes: Buffer.concat(chunks), isTruncated: count > bytesMax }
}

const PIECE_BYTES_MAX = 65_536

async function* closeDelimitedBody(reader: ConnectionReader): AsyncGenerator<Uint8Array> {
  for (
    let piece = await reader.readSome(PIECE_BYTES_MAX);
    piece !== null;
    piece = await reader.readSome(PIECE_BYTES_MAX)
  )
    yield piece
}

async function* fixedLengthBody(reader: ConnectionReader, bytes: number): AsyncGenerator<Uint8Array> {
  for (let bytesLeft = bytes; bytesLeft > 0; ) {
    const piece = await reader.readSome(Math.min(bytesLeft, PIECE_BYTES_MAX))
    if (piece === null) throw new FetchError("broken_off")
    bytesLeft -= piece.length
    yield piece
  }
}

/** Reads a chunked body (RFC 9112 §7.1). The trailer is not read. */
async function* chunkedBody(reader: ConnectionReader): AsyncGenerator<Uint8Array> {
  for (let count = 0; ; count++) {
    const [, size] = CHUNK_SIZE.exec(await reader.readLine(CHUNK_LINE_BYTES_MAX)) ?? []
    if (size === undefined) throw new FetchError("not_http")
    const bytes = Number.parseInt(size, 16)
    if (bytes === 0) return
    if (count === CHUNKS_MAX) throw new FetchError("too_long")
    if (count % CHUNKS_PER_TURN === CHUNKS_PER_TURN - 1) await yieldThread()
    yield* fixedLengthBody(reader, bytes)
    if ((await reader.readLine(CHUNK_LINE_BYTES_MAX)) !== "") throw new FetchError("not_http")
  }
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/**
 * Reads lines and bytes from a connection on demand. More than `bytesMax` bytes in all are `too_long`; a connection that breaks off
 * is `broken_off`.
 */
export class ConnectionReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #buffered: Uint8Array = new Uint8Array()
  #bytesLeft: number

  constructor(parts: AsyncIterable<Uint8Array>, bytesMax: number) {
    this.#chunks = parts[Symbol.asyncIterator]()
    this.#bytesLeft = bytesMax
  }

  /** The next line as UTF-8, without the line feed (RFC 9112 §2.2). A line longer than `bytesMax` is `too_long`. */
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

  /** The next bytes, at least one and at most `bytesMax`; null: the connection has ended. */
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
    const { value, done } = await this.#chunks.next().catch((_error: unknown) => {
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

/** The supported content codings, as a request lists them (RFC 9110 §12.5.3). */
export const ACCEPTED_CODINGS = "gzip, deflate, br"

/** A truncated body is decoded as far as possible. */
const TRUNCATED_OPTIONS = { finishFlush: constants.Z_SYNC_FLUSH }
const TRUNCATED_BROTLI_OPTIONS = { finishFlush: constants.BROTLI_OPERATION_FLUSH }

const DECODERS: Readonly<Record<string, (body: ResponseBody) => Transform>> = {
  gzip: ({ isTruncated }) => createGunzip(isTruncated ? TRUNCATED_OPTIONS : {}),
  "x-gzip": ({ isTruncated }) => createGunzip(isTruncated ? TRUNCATED_OPTIONS : {}),
  br: ({ isTruncated }) => createBrotliDecompress(isTruncated ? TRUNCATED_BROTLI_OPTIONS : {}),
  // Some servers omit the zlib wrapper of this coding (RFC 9110 §8.4.1.2), whose first byte holds the method, 8.
  deflate: ({ bytes, isTruncated }) =>
    (((bytes[0] ?? 0) & 0x0f) === 8 ? createInflate : createInflateRaw)(isTruncated ? TRUNCATED_OPTIONS : {}),
}

/**
 * Decodes a body, at most `bytesMax` bytes of it. No more than that and one piece of 16 KiB is ever decompressed. Throws
 * `FetchError` with `bad_coding` if the coding is unknown, one of several, or corrupt.
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
  const chunks: Uint8Array[] = []
  let count = 0
  decoder.end(body.bytes)
  try {
    for await (const piece of decoder) {
      chunks.push(piece.subarray(0, bytesMax - count))
      count += piece.length
      if (count > bytesMax) break // this ends the decoder
    }
  } catch (error) {
    throw new FetchError(error instanceof FetchError ? error.reason : "bad_coding")
  }
  return { bytes: Buffer.concat(chunks), isTruncated: body.isTruncated || count > bytesMax }
}
