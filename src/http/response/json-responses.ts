import type { WrittenJson } from "../../check/result/result-writer.ts"
import { LIMITS } from "../../contract/limits.ts"
import { type CallerHeaders, headerFields } from "./caller-headers.ts"

/**
 * Headers of every answer of the API. It runs no script, is framed by nobody and is kept by no cache. Each
 * header takes about 0.3 µs of an answer, so there is none that says nothing to a reader of JSON.
 */
const API_HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
} as const

const REQUEST_ID_PATTERN = new RegExp(`^[A-Za-z0-9._-]{1,${LIMITS.requestIdLengthMax}}$`)

const OK = 200

/** Writes JSON answers with the headers of the API. */
export type JsonResponses = {
  /** The caller's own `X-Request-Id` when it is well formed, else a new one. */
  readonly requestId: (request: Request) => string
  readonly json: (body: unknown, requestId: string, status?: number) => Response
  /** JSON that is written already, which is copied; with `extra` headers where there are any. */
  readonly serialized: (json: WrittenJson, requestId: string, status?: number, extra?: CallerHeaders | null) => Response
  readonly problem: (
    body: unknown,
    requestId: string,
    status: number,
    headers: Readonly<Record<string, string>>,
  ) => Response
  /** An answer without a body. */
  readonly noContent: (requestId: string, headers: Readonly<Record<string, string>>) => Response
}

/** Builds the answers of one server. `nextId` gives a new request id; over HTTPS browsers are told to stay there. */
export function createJsonResponses(nextId: () => string, isHttps: boolean): JsonResponses {
  const fixed = isHttps ? { ...API_HEADERS, "Strict-Transport-Security": "max-age=31536000" } : API_HEADERS
  const problem = { ...fixed, "Content-Type": "application/problem+json" }
  // An answer copies its headers when it is made. One set of them, with the id put in, is copied in half the time that it
  // takes to read them from an object.
  const plain = { ...fixed, "Content-Type": "application/json" }
  const unlimited = { status: OK, headers: new Headers(plain) }
  // The same for callers with limits, one for each policy: there are a few, and what is set twice costs twice.
  const limited = new Map<string, typeof unlimited>()
  const limitedBy = (policy: string): typeof unlimited => {
    const held = limited.get(policy)
    if (held !== undefined) return held
    const own = { status: OK, headers: new Headers({ ...plain, "RateLimit-Policy": policy }) }
    limited.set(policy, own)
    return own
  }
  const withExtra = (json: WrittenJson, requestId: string, status: number, extra: CallerHeaders): Response => {
    const { policy, remaining, other } = extra
    if (other !== null || policy === null)
      return new Response(json, { status, headers: { ...plain, ...headerFields(extra), "X-Request-Id": requestId } })
    const own = limitedBy(policy)
    own.headers.set("RateLimit", remaining)
    return withId(json, requestId, status, own)
  }
  const withId = (json: WrittenJson, requestId: string, status: number, own: typeof unlimited): Response => {
    own.headers.set("X-Request-Id", requestId)
    return new Response(json, status === OK ? own : { status, headers: own.headers })
  }
  const serialized = (
    json: WrittenJson,
    requestId: string,
    status = OK,
    extra: CallerHeaders | null = null,
  ): Response =>
    extra === null ? withId(json, requestId, status, unlimited) : withExtra(json, requestId, status, extra)
  return {
    requestId: request => {
      const own = request.headers.get("x-request-id")
      return own !== null && REQUEST_ID_PATTERN.test(own) ? own : nextId()
    },
    serialized,
    json: (body, requestId, status) => serialized(JSON.stringify(body), requestId, status),
    problem: (body, requestId, status, headers) =>
      new Response(JSON.stringify(body), { status, headers: { ...problem, ...headers, "X-Request-Id": requestId } }),
    noContent: (requestId, headers) =>
      new Response(null, { status: 204, headers: { ...fixed, ...headers, "X-Request-Id": requestId } }),
  }
}
