/** Response headers that a page may read besides those that CORS always allows. */
const EXPOSED_HEADERS = "Retry-After, RateLimit, RateLimit-Policy, X-Request-Id"

/** Request headers that a page may send: a key in either header, JSON, a request id. */
const ALLOWED_HEADERS = "Authorization, X-API-Key, Content-Type, X-Request-Id"

/** How long a browser may cache the result of a preflight. */
const PREFLIGHT_MAX_AGE_S = 600

/** The headers that let a page of the origin read a response. `origin` is an allowed one, as it was sent. */
export const corsHeaders = (origin: string): Readonly<Record<string, string>> => ({
  "Access-Control-Allow-Origin": origin,
  "Access-Control-Expose-Headers": EXPOSED_HEADERS,
  Vary: "Origin",
})

/** The headers of the response to a preflight. `origin` null: no key allows it, so nothing is allowed. */
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
