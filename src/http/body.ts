import { invalidInput, Problem } from "./problem.ts"

/**
 * Reads the JSON body of a request, at most `bytesMax` octets: refused by `Content-Length` before reading and by count
 * while reading. Throws `payload_too_large`, or `invalid_input` for a media type that is not JSON, for bytes that are
 * not UTF-8 and for text that is not JSON. A byte order mark is accepted.
 */
export async function jsonBody(request: Request, bytesMax: number): Promise<unknown> {
  const length = request.headers.get("content-length")
  if (length !== null && Number(length) > bytesMax) throw tooLarge(bytesMax)
  const bytes = length === null ? await counted(request, bytesMax) : await request.bytes()
  if (!isJson(request.headers.get("content-type"))) {
    throw invalidInput([{ pointer: "", detail: "The `Content-Type` of the body must be application/json." }])
  }
  try {
    return JSON.parse(UTF8.decode(bytes))
  } catch (error) {
    // Not UTF-8 (TypeError), not JSON (SyntaxError) or nested past the parser's stack (RangeError).
    const says = error instanceof TypeError ? "The body is not UTF-8." : "The body is not JSON."
    throw invalidInput([{ pointer: "", detail: says }])
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true })

const isJson = (mediaType: string | null): boolean => mediaType !== null && JSON_TYPE.test(mediaType)
const JSON_TYPE = /^\s*application\/(json|[a-z0-9!#$&^_.+-]+\+json)\s*(;|$)/i

const tooLarge = (bytesMax: number): Problem =>
  new Problem("payload_too_large", `The body is over ${bytesMax} octets.`, { limit: bytesMax })

/** Reads a body of unknown length and stops at the first octet too many. */
async function counted(request: Request, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let count = 0
  for await (const chunk of request.body ?? []) {
    count += chunk.byteLength
    if (count > bytesMax) throw tooLarge(bytesMax)
    chunks.push(chunk)
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
}
