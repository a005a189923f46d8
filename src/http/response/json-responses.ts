import type { WrittenJson } from "../../check/result/result-writer.ts"
import { LIMITS } from "../../contract/limits.ts"
import { hasKey } from "../../customers/keys/key-format.ts"
import { type CallerHeaders, headerFields } from "./caller-headers.ts"
import { isCompressible, VARY_ENCODING } from "./compression.ts"

/**
 * Headers of every response of the API: no cache, no frame, no script. Each header costs a response about 0.3 µs, so those
 * that mean nothing for JSON are left out.
 */
const API_HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
} as const

const REQUEST_ID_PATTERN = new RegExp(`^[A-Za-z0-9._-]{1,${LIMITS.requestIdLengthMax}}$`)

const OK = 200
const NOT_MODIFIED = 304

/** Makes responses with the headers of the API. */
export type JsonResponses = {
  /** The `X-Request-Id` of the request when it is well formed, else a new one. */
  readonly requestId: (request: Request) => string
  readonly json: (body: unknown, requestId: string, status?: number) => Response
  /** Copies JSON that is serialized already. */
  readonly serialized: (
    json: WrittenJson,
    requestId: string,
    status?: number,
    headers?: CallerHeaders | null,
  ) => Response
  readonly problem: (
    body: unknown,
    requestId: string,
    status: number,
    headers: Readonly<Record<string, string>>,
  ) => Response
  /** Sends a document that does not change, compressed on request, or 304 to a client that has it (RFC 9110 §13.1.2). */
  readonly document: (document: JsonDocument, request: Request, requestId: string) => Response
  readonly noContent: (requestId: string, headers: Readonly<Record<string, string>>) => Response
}

/** A document as it is sent for as long as the process runs. */
export type JsonDocument = {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Null: it is compressed by itself, as a package is. */
  readonly compressed: Uint8Array<ArrayBuffer> | null
  readonly mediaType: string
  /** Weak where there is a compressed form, which is the same document. */
  readonly entityTag: string
}

/** Serializes a document once. */
export const jsonDocument = (value: unknown): JsonDocument => textDocument(JSON.stringify(value), "application/json")

/** Compresses a text once. */
export function textDocument(text: string, mediaType: string): JsonDocument {
  const bytes = new TextEncoder().encode(text)
  return {
    bytes,
    mediaType,
    compressed: Bun.gzipSync(bytes),
    entityTag: `W/${entityTagOf(bytes)}`,
  }
}

/** A document that is sent byte for byte as it is, with a strong entity tag. */
export const binaryDocument = (bytes: Uint8Array<ArrayBuffer>, mediaType: string): JsonDocument => ({
  bytes,
  mediaType,
  compressed: null,
  entityTag: entityTagOf(bytes),
})

const entityTagOf = (bytes: Uint8Array<ArrayBuffer>): string =>
  `"${Bun.SHA256.hash(bytes, "base64url").slice(0, ENTITY_TAG_CHARS)}"`

/** 96 bits of the hash. */
const ENTITY_TAG_CHARS = 16

/** Whether `If-None-Match` names the tag, or any. Tags are compared without their weakness (RFC 9110 §13.1.2). */
function matchesTag(ifNoneMatch: string | null, tag: string): boolean {
  const opaque = (text: string): string => text.trim().replace(/^W\//, "")
  return (ifNoneMatch ?? "").split(",").some(sent => opaque(sent) === opaque(tag) || sent.trim() === "*")
}

/** `nextId` gives a new request id. `isHttps` adds `Strict-Transport-Security`. */
export function createJsonResponses(nextId: () => string, isHttps: boolean): JsonResponses {
  const fixed = isHttps ? { ...API_HEADERS, "Strict-Transport-Security": "max-age=31536000" } : API_HEADERS
  const problem = { ...fixed, "Content-Type": "application/problem+json" }
  const serialized = createSerializedResponses({ ...fixed, "Content-Type": "application/json" })
  return {
    requestId: request => {
      const sent = request.headers.get("x-request-id")
      // The log has the id, and must not have a key.
      return sent !== null && REQUEST_ID_PATTERN.test(sent) && !hasKey(sent) ? sent : nextId()
    },
    serialized,
    json: (body, requestId, status) => serialized(JSON.stringify(body), requestId, status),
    problem: (body, requestId, status, headers) =>
      new Response(JSON.stringify(body), { status, headers: { ...problem, ...headers, "X-Request-Id": requestId } }),
    document: ({ bytes, compressed, mediaType, entityTag }, request, requestId) => {
      const headers = {
        ...fixed,
        "Cache-Control": "no-cache",
        ETag: entityTag,
        ...(compressed !== null && { Vary: VARY_ENCODING }),
        "X-Request-Id": requestId,
      }
      if (matchesTag(request.headers.get("if-none-match"), entityTag))
        return new Response(null, { status: NOT_MODIFIED, headers })
      const typed = { ...headers, "Content-Type": mediaType }
      return compressed !== null && isCompressible(bytes.length, request)
        ? new Response(compressed, { headers: { ...typed, "Content-Encoding": "gzip" } })
        : new Response(bytes, { headers: typed })
    },
    noContent: (requestId, headers) =>
      new Response(null, { status: 204, headers: { ...fixed, ...headers, "X-Request-Id": requestId } }),
  }
}

/**
 * Makes responses of serialized JSON. A response copies its headers. Copying one `Headers` object, whose request id is replaced
 * each time, takes half the time of reading them from a plain object.
 */
function createSerializedResponses(plain: Readonly<Record<string, string>>): JsonResponses["serialized"] {
  const unlimited = { status: OK, headers: new Headers(plain) }
  // One such object for each policy, of which there are few: setting one header less saves its time.
  const limited = new Map<string, typeof unlimited>()
  const limitedBy = (policy: string): typeof unlimited => {
    const cached = limited.get(policy)
    if (cached !== undefined) return cached
    const init = { status: OK, headers: new Headers({ ...plain, "RateLimit-Policy": policy }) }
    limited.set(policy, init)
    return init
  }
  const withId = (json: WrittenJson, requestId: string, status: number, init: typeof unlimited): Response => {
    init.headers.set("X-Request-Id", requestId)
    return new Response(json, status === OK ? init : { status, headers: init.headers })
  }
  return (json, requestId, status = OK, headers = null) => {
    if (headers === null) return withId(json, requestId, status, unlimited)
    const { policy, remaining, other } = headers
    if (other !== null || policy === null || remaining === "")
      return new Response(json, { status, headers: { ...plain, ...headerFields(headers), "X-Request-Id": requestId } })
    const init = limitedBy(policy)
    init.headers.set("RateLimit", remaining)
    return withId(json, requestId, status, init)
  }
}
