import { decodeUtf8 } from "../../base/text.ts"
import { LONG_BODY_BYTES_MIN, type LoadShedder } from "../admission/load-shedder.ts"
import { invalidInput, Problem } from "../response/problem.ts"

/**
 * Reads the JSON body of a request. A body over `bytesMax` is refused by its `Content-Length` before it is read, or by its
 * count while it is read. Rejects with `payload_too_large`, with `overloaded`, or with `invalid_input` when the media type is
 * not JSON, the bytes are not UTF-8 or the text is not JSON. A byte order mark is accepted.
 */
export const readJsonBody = (request: Request, bytesMax: number, bodies: BodyReservations): Promise<unknown> =>
  parseJsonBodyLater(request, startReadingBody(request, bytesMax, bodies))

/** Waits for the bytes that `startReadingBody` gave, and parses them. */
export async function parseJsonBodyLater(request: Request, pendingBytes: Promise<Uint8Array>): Promise<unknown> {
  return parseJsonBody(request, await readableBody(pendingBytes))
}

/**
 * The first half of `readJsonBody`, for the check endpoint, where each promise counts: the bytes of the body. When the promise
 * is already resolved, the bytes go to `parseJsonBody`, else the promise goes to `parseJsonBodyLater`.
 */
export function startReadingBody(request: Request, bytesMax: number, bodies: BodyReservations): Promise<Uint8Array> {
  const length = contentLength(request)
  if (length === null) return readUnknownLength(request, bytesMax, bodies)
  if (length > bytesMax) return Promise.reject(tooLarge(bytesMax))
  return length > LONG_BODY_BYTES_MIN ? readLongBody(request, length, bodies) : request.bytes()
}

async function readableBody(pendingBytes: Promise<Uint8Array>): Promise<Uint8Array> {
  try {
    return await pendingBytes
  } catch (error) {
    throw unreadableBody(error)
  }
}

/** A client that was cut off or too slow does not receive this problem, but it must not count as an internal error. */
const unreadableBody = (error: unknown): Problem => (error instanceof Problem ? error : bodyCutOff())

/**
 * The second half of `readJsonBody`: parses the bytes that `startReadingBody` gave. Throws `invalid_input`. Our own code decodes
 * them, because the runtime's text has U+FFFD for bytes that are not UTF-8, and a caller may really send U+FFFD.
 */
export function parseJsonBody(request: Request, bytes: Uint8Array): unknown {
  if (!isJsonType(request.headers.get("content-type"))) {
    throw invalidInput([{ pointer: "", detail: "The `Content-Type` of the body must be application/json." }])
  }
  const coding = request.headers.get("content-encoding")
  if (coding !== null && coding.toLowerCase() !== "identity") throw invalidInput([CODED_BODY])
  if (bytes.length > LONG_JSON_BYTES_MIN) assertBoundedJson(bytes)
  const text = decodeUtf8(bytes)
  if (text === null) throw invalidInput([{ pointer: "", detail: "The body is not UTF-8." }])
  try {
    return JSON.parse(text)
  } catch (error) {
    // A SyntaxError, or a RangeError when the nesting exceeds the parser's stack.
    if (error instanceof Error) throw invalidInput([{ pointer: "", detail: "The body is not JSON." }])
    throw error
  }
}

/** Shorter texts are parsed in two milliseconds, whatever they hold. */
const LONG_JSON_BYTES_MIN = 16_384

const JSON_DEPTH_MAX = 64
const JSON_MEMBERS_MAX = 10_000

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
/** How brackets change the depth. */
const BRACKETS: Readonly<Record<number, number>> = { 91: 1, 123: 1, 93: -1, 125: -1 }

/**
 * Throws `invalid_input` for JSON that is nested deeper than `JSON_DEPTH_MAX`, or has more than `JSON_MEMBERS_MAX` members and elements:
 * a quarter of a megabyte of brackets takes 30 ms to parse.
 */
export function assertBoundedJson(bytes: Uint8Array): void {
  let [depth, members] = [0, 1]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) at = stringEnd(bytes, at)
    else if (byte === COMMA) members++
    else depth += BRACKETS[byte] ?? 0
    if (depth > JSON_DEPTH_MAX) throw tooMuchJson(`is nested deeper than ${JSON_DEPTH_MAX}`)
    if (members > JSON_MEMBERS_MAX) throw tooMuchJson(`has more than ${JSON_MEMBERS_MAX} members`)
  }
}

/** Where the string ends that begins at a quote. */
function stringEnd(bytes: Uint8Array, quote: number): number {
  let at = quote + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

const tooMuchJson = (fault: string): Problem => invalidInput([{ pointer: "", detail: `The body ${fault}.` }])

const CODED_BODY = {
  pointer: "",
  detail: "The body must not be compressed. Send it without `Content-Encoding`.",
} as const

/** Reserves memory for bodies while they are read. */
export type BodyReservations = Pick<LoadShedder, "reserveBody" | "releaseBody" | "nextTick">

/** Bounds the bodies of callers without a key too. */
export type KeylessBodyReservations = BodyReservations & Pick<LoadShedder, "readKeylessBody">

/** Reads the bytes of a body, at most `bytesMax`. Rejects with `payload_too_large`, or with `overloaded` when no memory is left. */
export const readBytes = (request: Request, bytesMax: number, bodies: BodyReservations): Promise<Uint8Array> =>
  readableBody(startReadingBody(request, bytesMax, bodies))

/** The announced length, which the runtime enforces; null: none was announced. */
function contentLength(request: Request): number | null {
  const length = request.headers.get("content-length")
  return length === null ? null : Number(length)
}

/** Reads a long body of known length. Memory for it is reserved first. */
async function readLongBody(request: Request, length: number, bodies: BodyReservations): Promise<Uint8Array> {
  bodies.reserveBody(length)
  try {
    return await request.bytes()
  } catch {
    throw bodyCutOff()
  } finally {
    bodies.releaseBody(length)
  }
}

const isJsonType = (mediaType: string | null): boolean =>
  mediaType === "application/json" || (mediaType !== null && JSON_TYPE.test(mediaType))
const JSON_TYPE = /^\s*application\/(json|[a-z0-9!#$&^_.+-]+\+json)\s*(;|$)/i

const tooLarge = (bytesMax: number): Problem =>
  new Problem("payload_too_large", `The body is larger than ${bytesMax} bytes.`, { limit: bytesMax })

const bodyCutOff = (): Problem => invalidInput([{ pointer: "", detail: "The body ended before it was complete." }])

/**
 * Reads a body of unknown length and stops at the first byte too many. It first waits for the next tick: by then nearly every
 * body is complete, and for one that is not the runtime reserves 64 KiB, which it frees late.
 */
async function readUnknownLength(request: Request, bytesMax: number, bodies: BodyReservations): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  let reserved = 0
  await new Promise<void>(resolve => bodies.nextTick(resolve))
  try {
    for await (const chunk of request.body ?? []) {
      length += chunk.byteLength
      if (length > bytesMax) throw tooLarge(bytesMax)
      if (length > LONG_BODY_BYTES_MIN) {
        bodies.reserveBody(length - reserved)
        reserved = length
      }
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof Problem ? error : bodyCutOff()
  } finally {
    bodies.releaseBody(reserved)
  }
  return Buffer.concat(chunks)
}
