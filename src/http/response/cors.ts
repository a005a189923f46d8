import type { AllowedOrigins } from "../../customers/keys/origins.ts"
import { pathOf } from "../request/request-url.ts"

/** Response headers that a page may read besides those that CORS always allows. */
const EXPOSED_HEADERS = "Link, RateLimit, RateLimit-Policy, Retry-After, Warning, X-Request-Id"

/** Request headers that a page may send: a key in either header, JSON, a request id. */
const ALLOWED_HEADERS = "Authorization, X-API-Key, Content-Type, X-Request-Id"

/** Request headers that carry a key. A page that sends none of them may ask about test addresses from any origin. */
const KEY_HEADERS: readonly string[] = ["authorization", "x-api-key"]

/** How long a browser may cache the result of a preflight. */
const PREFLIGHT_MAX_AGE_S = 600

/** The headers that let a page of the origin read a response. `origin` is an allowed one, as it was sent. */
export const corsHeaders = (origin: string): Readonly<Record<string, string>> => ({
  "Access-Control-Allow-Origin": origin,
  "Access-Control-Expose-Headers": EXPOSED_HEADERS,
  Vary: "Origin",
})

/** Lets the page of a request read its response. Gives a promise only where the database may have to be asked. */
export type ShareWithPage = (request: Request, response: Response) => Response | Promise<Response>

/**
 * Creates `ShareWithPage`: a page may read every answer of the API, refusals too, if any active publishable key allows its origin
 * (DECISIONS 113), which is all that a preflight tells as well. What the response says of an origin already stays.
 */
export function createShareWithPage(knownOrigins: AllowedOrigins): ShareWithPage {
  return (request, response) => {
    const origin = request.headers.get("origin")
    if (origin === null || response.headers.has("Access-Control-Allow-Origin")) return response
    // What a preflight tells, and what it does not, is decided where it is answered.
    if (request.method === "OPTIONS") return response
    if (!pathOf(request).startsWith("/v1/") && response.headers.get("content-type") !== PROBLEM_TYPE) return response
    response.headers.append("Vary", "Origin")
    // A server that sheds load asks no database for it.
    const isKnown = response.status === UNAVAILABLE ? knownOrigins.hasCached(origin) : knownOrigins.has(origin)
    if (typeof isKnown === "boolean") return isKnown ? shared(response, origin) : response
    return isKnown.then(
      known => (known ? shared(response, origin) : response),
      () => response,
    )
  }
}

const UNAVAILABLE = 503
const PROBLEM_TYPE = "application/problem+json"

function shared(response: Response, origin: string): Response {
  response.headers.set("Access-Control-Allow-Origin", origin)
  response.headers.set("Access-Control-Expose-Headers", EXPOSED_HEADERS)
  return response
}

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

/** Whether the request after a preflight carries no key: it can only be about a test address, which any page may read. */
export const isKeylessPreflight = (request: Request): boolean =>
  !(request.headers.get("access-control-request-headers") ?? KEY_HEADERS.join(","))
    .toLowerCase()
    .split(",")
    .some(name => KEY_HEADERS.includes(name.trim()))
