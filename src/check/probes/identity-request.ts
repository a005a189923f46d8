import type { Clock } from "../../base/clock.ts"
import { bodyText, type Web } from "../../base/web.ts"
import { retryAfterMs } from "./retry-after.ts"

/** What an identity endpoint made of one request. */
export type IdentityReply =
  /** Status 200 with JSON. */
  | { readonly kind: "told"; readonly json: unknown }
  /** Any other status; a redirect is one. `retryAfterMs` is null when it does not say when to come again. */
  | { readonly kind: "refused"; readonly status: number; readonly retryAfterMs: number | null }
  /** Nobody answered, or with what cannot be read. */
  | { readonly kind: "failed" }
  /** No whole answer before the deadline. */
  | { readonly kind: "timed_out" }

/** A longer body is not read; the real ones have about 2 KiB. */
const BODY_BYTES_MAX = 65_536

/** All that is told about us. Uncompressed, so that the bound on the body is one on memory too. */
const HEADERS = { accept: "application/json", "accept-encoding": "identity", "user-agent": "mailkind" }

/** Puts one request to an identity endpoint. It never rejects, and it settles when `deadline` is aborted at the latest. */
export function askIdentity(web: Web, clock: Clock, url: string, deadline: AbortSignal): Promise<IdentityReply> {
  return new Promise(resolve => {
    deadline.addEventListener("abort", () => resolve({ kind: "timed_out" }), { once: true })
    exchange(web, clock, url, deadline).then(resolve, () => resolve({ kind: "failed" }))
  })
}

/** Rejects when nobody answers, when the body breaks off, and when it is no JSON. */
async function exchange(web: Web, clock: Clock, url: string, signal: AbortSignal): Promise<IdentityReply> {
  const response = await web(url, { signal, headers: HEADERS })
  const { status, headers } = response
  // The body of a refusal is read too, for only then the connection can be used again.
  const text = await bodyText(response, BODY_BYTES_MAX)
  if (status !== 200)
    return { kind: "refused", status, retryAfterMs: retryAfterMs(headers.get("retry-after"), clock()) }
  return text === null ? { kind: "failed" } : { kind: "told", json: JSON.parse(text) }
}
