import { decodeUtf8 } from "../../base/text.ts"
import { LONG_BODY_BYTES_MIN, type LoadShedder } from "../admission/load-shedder.ts"
import { invalidInput, Problem } from "../response/problem.ts"

/**
 * Reads the JSON body of a request. A body over `bytesMax` is refused by its `Content-Length` before it is read, or by its
 * count while it is read. Rejects with `payload_too_large`, with `overloaded`, or with `invalid_input` when the media type is
 * not JSON, the bytes are not UTF-8 or the text is not JSON. A byte order mark is accepted.
 */
export const readJsonBody = (request: Request, bytesMax: number, bodies: BodyReservations): Promise<unknown> =>
  parseJsonBodyLater(request, readBodyText(request, bytesMax, bodies))

/** Waits for a text that `readBodyText` gave, and parses it. */
export async function parseJsonBodyLater(request: Request, pendingText: Promise<string | null>): Promise<unknown> {
  let text: string | null
  try {
    text = await pendingText
  } catch (error) {
    throw unreadableBody(error)
  }
  return parseJsonBody(request, text)
}

/**
 * The first half of `readJsonBody`, for the check endpoint, where each promise counts: the body as text. When the promise is
 * already resolved, the text goes to `parseJsonBody`, else the promise goes to `parseJsonBodyLater`. Null: not UTF-8.
 */
export function readBodyText(request: Request, bytesMax: number, bodies: BodyReservations): Promise<string | null> {
  const length = contentLength(request)
  if (length === null) return readUnknownLength(request, bytesMax, bodies).then(decodeUtf8)
  if (length > bytesMax) return Promise.reject(tooLarge(bytesMax))
  return length > LONG_BODY_BYTES_MIN ? readKnownLength(request, length, bodies, AS_TEXT) : request.text()
}

/** A client that was cut off or too slow does not receive this problem, but it must not count as an internal error. */
const unreadableBody = (error: unknown): Problem => (error instanceof Problem ? error : bodyCutOff())

/** The second half of `readJsonBody`: parses a text that `readBodyText` gave. Throws `invalid_input`. */
export function parseJsonBody(request: Request, text: string | null): unknown {
  // The runtime replaces bytes that are not UTF-8 by U+FFFD, which takes three bytes. Only a text that has one is measured.
  const isText = text !== null && (!text.includes("\uFFFD") || isByteLength(text, contentLength(request)))
  if (!isJsonType(request.headers.get("content-type"))) {
    throw invalidInput([{ pointer: "", detail: "The `Content-Type` of the body must be application/json." }])
  }
  if (!isText) throw invalidInput([{ pointer: "", detail: "The body is not UTF-8." }])
  try {
    return JSON.parse(text)
  } catch (error) {
    // A SyntaxError, or a RangeError when the nesting exceeds the parser's stack.
    if (error instanceof Error) throw invalidInput([{ pointer: "", detail: "The body is not JSON." }])
    throw error
  }
}

/** Reserves memory for bodies while they are read. */
export type BodyReservations = Pick<LoadShedder, "reserveBody" | "releaseBody" | "nextTick">

/** Reads the bytes of a body, at most `bytesMax`. Rejects with `payload_too_large`, or with `overloaded` when no memory is left. */
export async function readBytes(request: Request, bytesMax: number, bodies: BodyReservations): Promise<Uint8Array> {
  const length = contentLength(request)
  if (length === null) return await readUnknownLength(request, bytesMax, bodies)
  if (length > bytesMax) throw tooLarge(bytesMax)
  return await readKnownLength(request, length, bodies, AS_BYTES)
}

/** The announced length, which the runtime enforces; null: none was announced. */
function contentLength(request: Request): number | null {
  const length = request.headers.get("content-length")
  return length === null ? null : Number(length)
}

const AS_TEXT = (request: Request): Promise<string> => request.text()
const AS_BYTES = (request: Request): Promise<Uint8Array> => request.bytes()

/** Reads a body of known length. Memory for a long one is reserved first. */
async function readKnownLength<T>(
  request: Request,
  length: number,
  bodies: BodyReservations,
  read: (request: Request) => Promise<T>,
): Promise<T> {
  const reserved = length > LONG_BODY_BYTES_MIN ? length : 0
  bodies.reserveBody(reserved)
  try {
    return await read(request)
  } catch {
    throw bodyCutOff()
  } finally {
    bodies.releaseBody(reserved)
  }
}

/** Whether the text takes as many bytes as were sent, with or without a byte order mark. If not, bytes were replaced. Null: unknown. */
function isByteLength(text: string, sentLength: number | null): boolean {
  const length = Buffer.byteLength(text)
  return sentLength === null || length === sentLength || length + 3 === sentLength
}

const isJsonType = (mediaType: string | null): boolean =>
  mediaType === "application/json" || (mediaType !== null && JSON_TYPE.test(mediaType))
const JSON_TYPE = /^\s*application\/(json|[a-z0-9!#$&^_.+-]+\+json)\s*(;|$)/i

const tooLarge = (bytesMax: number): Problem =>
  new Problem("payload_too_large", `The body is over ${bytesMax} octets.`, { limit: bytesMax })

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
