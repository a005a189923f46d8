/** Headers of ours that a page may read beside those that every page may (CORS, "exposed"). */
const EXPOSED_HEADERS = "Retry-After, RateLimit, RateLimit-Policy, X-Request-Id"

/** Headers that a page may send beside those that every page may: a key in either of its places, JSON, a request id. */
const ALLOWED_HEADERS = "Authorization, X-API-Key, Content-Type, X-Request-Id"

/** How long a browser may keep what a preflight told it. */
const PREFLIGHT_MAX_AGE_S = 600

/** The headers that let a page of the origin read an answer; `origin` is one that the key allows, as it was sent. */
export const corsHeaders = (origin: string): Readonly<Record<string, string>> => ({
  "Access-Control-Allow-Origin": origin,
  "Access-Control-Expose-Headers": EXPOSED_HEADERS,
  Vary: "Origin",
})

/** The headers that answer a preflight. Null: the origin is none that any key allows, and gets nothing but `Vary`. */
export function preflightHeaders(origin: string | null, methods: string): Readonly<Record<string, string>> {
  if (origin === null) return { Vary: "Origin" }
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Allow-Methods": methods,
    "Access-Control-Allow-Headers": ALLOWED_HEADERS,
    "Access-Control-Max-Age": String(PREFLIGHT_MAX_AGE_S),
    Vary: "Origin",
  }
}
