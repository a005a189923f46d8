import { decodeUtf8 } from "../../base/text.ts"
import { LONG_BODY_BYTES_MIN, type LoadShedder } from "../admission/load-shedder.ts"
import { invalidInput, Problem } from "../response/problem.ts"

/**
 * Reads the JSON body of a request, at most `bytesMax` octets: refused by `Content-Length` before reading and by count
 * while reading. Rejects with `payload_too_large`, or `invalid_input` for a media type that is not JSON, for bytes that are
 * not UTF-8 and for text that is not JSON. A byte order mark is accepted.
 */
export const readJsonBody = (request: Request, bytesMax: number, bodies: BodyReservations): Promise<unknown> =>
  parseJsonBodyLater(request, readBodyText(request, bytesMax, bodies))

/** The same of a body that `readBodyText` has begun to read. */
export async function parseJsonBodyLater(request: Request, sent: Promise<string | null>): Promise<unknown> {
  let text: string | null
  try {
    text = await sent
  } catch (error) {
    throw unreadableBody(error)
  }
  return parseJsonBody(request, text)
}

/**
 * The first half of `readJsonBody`, for a way on which each promise counts: the body as a text, which is for `membersOf`, or for
 * `parseJsonBodyLater` where it is still to come or could not be read.
 */
export function readBodyText(request: Request, bytesMax: number, bodies: BodyReservations): Promise<string | null> {
  const octets = contentLength(request)
  if (octets === null) return readCounted(request, bytesMax, bodies).then(decodeUtf8)
  if (octets > bytesMax) return Promise.reject(tooLarge(bytesMax))
  return octets > LONG_BODY_BYTES_MIN ? readComplete(request, octets, bodies, AS_TEXT) : request.text()
}

/** The refusal of a body that could not be read. Whoever is cut off, or was too slow, does not hear it: it is no fault of ours. */
const unreadableBody = (error: unknown): Problem => (error instanceof Problem ? error : bodyCutOff())

/** The second half of `readJsonBody`: the JSON of a text that `readBodyText` gave. Throws `invalid_input`. */
export function parseJsonBody(request: Request, text: string | null): unknown {
  // What is not UTF-8 was read as U+FFFD where the length was told; that is three octets, so only with one a second look is due.
  const isText = text !== null && (!text.includes("\uFFFD") || isByteLength(text, contentLength(request)))
  if (!isJsonType(request.headers.get("content-type"))) {
    throw invalidInput([{ pointer: "", detail: "The `Content-Type` of the body must be application/json." }])
  }
  if (!isText) throw invalidInput([{ pointer: "", detail: "The body is not UTF-8." }])
  try {
    return JSON.parse(text)
  } catch (error) {
    // A SyntaxError, or a RangeError where it is nested past the parser's stack.
    if (error instanceof Error) throw invalidInput([{ pointer: "", detail: "The body is not JSON." }])
    throw error
  }
}

/** Room for the bodies that are being read, and a way to wait for what is on its way. */
export type BodyReservations = Pick<LoadShedder, "reserveBody" | "releaseBody" | "nextTick">

/**
 * The octets of a body as they came, at most `bytesMax`: refused by `Content-Length` before reading and by count while
 * reading. Rejects with `payload_too_large`, or `overloaded` when there is no room.
 */
export async function readBytes(request: Request, bytesMax: number, bodies: BodyReservations): Promise<Uint8Array> {
  const octets = contentLength(request)
  if (octets === null) return await readCounted(request, bytesMax, bodies)
  if (octets > bytesMax) throw tooLarge(bytesMax)
  return await readComplete(request, octets, bodies, AS_BYTES)
}

/** How long the body is told to be, which the server holds it to; null: that is not told. */
function contentLength(request: Request): number | null {
  const length = request.headers.get("content-length")
  return length === null ? null : Number(length)
}

const AS_TEXT = (request: Request): Promise<string> => request.text()
const AS_BYTES = (request: Request): Promise<Uint8Array> => request.bytes()

/** Reads a body whole; a long one has to have room first. */
async function readComplete<T>(
  request: Request,
  octets: number,
  bodies: BodyReservations,
  read: (request: Request) => Promise<T>,
): Promise<T> {
  const taken = octets > LONG_BODY_BYTES_MIN ? octets : 0
  bodies.reserveBody(taken)
  try {
    return await read(request)
  } catch {
    throw bodyCutOff()
  } finally {
    bodies.releaseBody(taken)
  }
}

/** Whether the text takes as many octets as were sent, a byte order mark aside: a replaced octet takes three. Null: nobody knows. */
function isByteLength(text: string, octets: number | null): boolean {
  const own = Buffer.byteLength(text)
  return octets === null || own === octets || own + 3 === octets
}

const isJsonType = (mediaType: string | null): boolean =>
  mediaType === "application/json" || (mediaType !== null && JSON_TYPE.test(mediaType))
const JSON_TYPE = /^\s*application\/(json|[a-z0-9!#$&^_.+-]+\+json)\s*(;|$)/i

const tooLarge = (bytesMax: number): Problem =>
  new Problem("payload_too_large", `The body is over ${bytesMax} octets.`, { limit: bytesMax })

const bodyCutOff = (): Problem => invalidInput([{ pointer: "", detail: "The body ended before it was whole." }])

/**
 * Reads a body of unknown length and stops at the first octet too many. For one that is not whole yet the runtime makes 64 KiB
 * of room, and lets go of it late; nearly all are whole when what came with the head has been taken in.
 */
async function readCounted(request: Request, bytesMax: number, bodies: BodyReservations): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let count = 0
  let taken = 0
  await new Promise<void>(resolve => bodies.nextTick(resolve))
  try {
    for await (const chunk of request.body ?? []) {
      count += chunk.byteLength
      if (count > bytesMax) throw tooLarge(bytesMax)
      if (count > LONG_BODY_BYTES_MIN) {
        bodies.reserveBody(count - taken)
        taken = count
      }
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof Problem ? error : bodyCutOff()
  } finally {
    bodies.releaseBody(taken)
  }
  return Buffer.concat(chunks)
}
