import { LIMITS } from "../../contract/limits.ts"
import type { KeyAuthenticator, KeyLookup } from "../../customers/keys/key-authenticator.ts"
import type { CallerCredentials } from "../../customers/keys/key-cache.ts"
import { Problem } from "../response/problem.ts"

/** Who sends a request: the active key that came with it, and its account; null: no key came. */
export type Caller = CallerCredentials | null

const AUTH_CHALLENGE = { "WWW-Authenticate": 'Bearer realm="mailkind"' }

/** The refusal of a request that needs a key and has none. */
export const unauthorized = (): Problem =>
  new Problem(
    "unauthorized",
    "Send an API key in the header `Authorization: Bearer <API_KEY>` or `X-API-Key: <API_KEY>`; a key in the query string is not read. Only test addresses need no key.",
    {},
    AUTH_CHALLENGE,
  )

/** The refusal of who comes too often without a key. */
export const keylessTooFast = (waitS: number): Problem =>
  new Problem("rate_limited", `Without a key ${LIMITS.keylessPerSecond} requests a second are answered.`, {
    retry_after: waitS,
    limit: LIMITS.keylessPerSecond,
  })

/** The refusal of a key that is none, or of the wrong kind. */
export const invalidKey = (detail: string): Problem => new Problem("invalid_key", detail, {}, AUTH_CHALLENGE)

/**
 * Tells who sends a request from its headers. A key that is sent is verified, also where none is needed; a bad one
 * throws, or rejects. Gives a promise only when the store has to be asked.
 */
export function identifyCaller(headers: Headers, keys: KeyAuthenticator): Caller | Promise<Caller> {
  const text = keyFromHeaders(headers)
  if (text === null) return null
  const found = keys.lookup(text)
  return found instanceof Promise ? found.then(callerOfLookup) : callerOfLookup(found)
}

function callerOfLookup(found: KeyLookup): Caller {
  switch (found.kind) {
    case "active":
      return found
    case "revoked":
      throw new Problem("key_revoked", "The key was revoked; use another one.", {}, AUTH_CHALLENGE)
    case "unknown":
      throw invalidKey("No such key exists.")
    case "bad_checksum":
      throw invalidKey("The key's checksum is wrong: it was mistyped or cut.")
    case "malformed":
      throw invalidKey("The key is not of the form of our keys.")
  }
}

/** The key as sent, in either header; null when none is sent. The same key in both is one key. */
function keyFromHeaders(headers: Headers): string | null {
  const authorization = headers.get("authorization")
  const bearer = authorization === null ? null : bearerToken(authorization)
  const plain = headers.get("x-api-key")?.trim() ?? null
  if (bearer !== null && plain !== null && bearer !== plain) throw invalidKey("Two different keys were sent.")
  return bearer ?? plain
}

/** The token of the header; null: it is of another scheme. */
function bearerToken(authorization: string): string | null {
  // Nearly all have one space, which is cut off here at once; a header never ends in one.
  if (authorization.startsWith("Bearer ") && authorization.charCodeAt(7) > 32) return authorization.slice(7)
  return BEARER.test(authorization) ? authorization.slice(6).trim() : null
}

/** The Bearer scheme (RFC 6750 §2.1), whose name is in any case. Another scheme is not ours to read. */
const BEARER = /^bearer(?:\s|$)/i
