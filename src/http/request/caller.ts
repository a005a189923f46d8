import { isoInstant } from "../../base/time.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { ProblemCode } from "../../contract/problems.ts"
import type { KeyAuthenticator, KeyLookup } from "../../customers/keys/key-authenticator.ts"
import type { CallerCredentials } from "../../customers/keys/key-cache.ts"
import { hasKey } from "../../customers/keys/key-format.ts"
import { Problem, rateLimited } from "../response/problem.ts"

/** The active key of a request with its account; null: the request has no key. */
export type Caller = CallerCredentials | null

const AUTH_CHALLENGE = { "WWW-Authenticate": 'Bearer realm="mailkind"' }

/** The problem 401 `unauthorized`: no key was sent where one is needed, or one without its scheme. */
export const unauthorized = (headers: Headers): Problem =>
  new Problem(
    "unauthorized",
    hasKey(headers.get("authorization") ?? "")
      ? "The key in `Authorization` is ignored, because `Bearer` and a space are missing before it. Send `Authorization: Bearer <API_KEY>`."
      : "Send an API key in the header `Authorization: Bearer <API_KEY>` or `X-API-Key: <API_KEY>`. A key in the query string is ignored. Only test addresses need no key.",
    {},
    AUTH_CHALLENGE,
  )

/** The problem 429 `rate_limited` of a client without a key; `waitS`: seconds until the next request. */
export const keylessTooFast = (waitS: number, perSecond: number = LIMITS.keylessPerSecond): Problem =>
  rateLimited(`Without a key, the limit is ${perSecond} requests per second.`, waitS, perSecond, "client")

/** The problem 401 `invalid_key`. */
export const invalidKey = (detail: string): Problem => new Problem("invalid_key", detail, {}, AUTH_CHALLENGE)

/** The problem of a key that exists and may not be used any more. Its account sees in the request log that somebody tried. */
export class RefusedKey extends Problem {
  readonly credentials: CallerCredentials

  constructor(code: ProblemCode, detail: string, credentials: CallerCredentials) {
    super(code, detail, {}, AUTH_CHALLENGE)
    this.credentials = credentials
  }
}

/** The problem 401 `key_revoked` of every key of a suspended account. */
export const accountSuspended = (credentials: CallerCredentials): RefusedKey =>
  new RefusedKey(
    "key_revoked",
    "The account of this key is suspended. Sign in to the dashboard to read why.",
    credentials,
  )

/**
 * Finds the caller from the headers. A key that is sent is verified even where none is needed; throws, or rejects, when it
 * is not active. Gives a promise only when the database is needed.
 */
export function identifyCaller(headers: Headers, keys: KeyAuthenticator): Caller | Promise<Caller> {
  const text = keyFromHeaders(headers)
  if (text === null) return null
  const lookup = keys.lookup(text)
  return lookup instanceof Promise ? lookup.then(activeCaller) : activeCaller(lookup)
}

function activeCaller(lookup: KeyLookup): Caller {
  switch (lookup.kind) {
    case "active":
      return lookup
    case "revoked":
      throw new RefusedKey("key_revoked", "This key was revoked. Use another one.", lookup)
    case "expired":
      throw new RefusedKey(
        "key_revoked",
        `The key expired on ${isoInstant(lookup.expiresAtMs)}. Use another one.`,
        lookup.credentials,
      )
    case "unknown":
      throw invalidKey("This key does not exist.")
    case "bad_checksum":
      throw invalidKey("The key's checksum is wrong. Check that you copied the whole key.")
    case "malformed":
      throw invalidKey("This is not a key of this service.")
  }
}

/** The key of either header; null: none was sent. The same key in both headers counts as one. */
function keyFromHeaders(headers: Headers): string | null {
  const authorization = headers.get("authorization")
  const bearer = authorization === null ? null : bearerToken(authorization)
  const sent = headers.get("x-api-key")?.trim() ?? ""
  // An empty header is what a client sends whose key is not set.
  const plain = sent === "" ? null : sent
  if (bearer !== null && plain !== null && bearer !== plain) throw invalidKey("Two different keys were sent.")
  return bearer ?? plain
}

/** The token of a Bearer header; null: it has none, or the header has another scheme. */
function bearerToken(authorization: string): string | null {
  // The fast path: one space, and no white space after it. The end of a header value is trimmed already.
  if (authorization.startsWith("Bearer ") && authorization.charCodeAt(7) > 32) return authorization.slice(7)
  return BEARER.test(authorization) ? authorization.slice(6).trim() : null
}

/** The Bearer scheme (RFC 6750 §2.1), whose name is case-insensitive. */
const BEARER = /^bearer(?:\s|$)/i
