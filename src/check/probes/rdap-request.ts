import type { Clock } from "../../base/clock.ts"
import { bodyText, isRedirect, type Web } from "../../base/web.ts"
import { mayRedirect } from "./rdap-url.ts"
import { retryAfterMs } from "./retry-after.ts"

/** What an RDAP server made of one request. */
export type RdapReply =
  /** Status 200 with JSON. */
  | { readonly kind: "told"; readonly json: unknown }
  /** Status 404: it knows no such domain (RFC 7480 §5.3). */
  | { readonly kind: "not_found" }
  /** Ask there instead (RFC 7480 §5.2). */
  | { readonly kind: "redirected"; readonly to: URL }
  /** Too many requests, or none now: null where it does not say when to come again. */
  | { readonly kind: "sent_off"; readonly retryAfterMs: number | null }
  /** It does not answer this question, and might answer another. */
  | { readonly kind: "refused" }
  /** Nobody answered, or with what cannot be read. */
  | { readonly kind: "failed" }
  /** No whole answer before the deadline. */
  | { readonly kind: "timed_out" }

/** What a request needs, and how it names itself (RFC 9110 §10.1.5). */
export type RdapAsking = {
  readonly web: Web
  readonly clock: Clock
  readonly agent: string
  /** The operator named the bootstrap. */
  readonly isOwn: boolean
}

/** A longer body is not read. Real ones have 2 to 30 KiB. */
const BODY_BYTES_MAX = 256 * 1024

const TOO_MANY_REQUESTS = 429
const UNAVAILABLE = 503
/** Without leave, a server that has shut us out says so to any question. */
const SHUT_OUT: ReadonlySet<number> = new Set([401, 403])

/** Puts one request to an RDAP server. It never rejects, and it settles when `deadline` is aborted at the latest. */
export function askRdap(asking: RdapAsking, url: URL, deadline: AbortSignal): Promise<RdapReply> {
  return new Promise(resolve => {
    const timeOut = (): void => resolve({ kind: "timed_out" })
    if (deadline.aborted) timeOut()
    deadline.addEventListener("abort", timeOut, { once: true })
    exchange(asking, url, deadline)
      .then(resolve, () => resolve({ kind: "failed" }))
      .finally(() => deadline.removeEventListener("abort", timeOut))
  })
}

/** Rejects when nobody answers, when the body breaks off, and when it is no JSON. */
async function exchange(asking: RdapAsking, url: URL, deadline: AbortSignal): Promise<RdapReply> {
  const request = new AbortController()
  try {
    const signal = AbortSignal.any([deadline, request.signal])
    const response = await asking.web(url.href, { signal, headers: headersOf(asking) })
    return await replyOf(asking, url, response)
  } finally {
    // What is not read of a body is not waited for.
    request.abort()
  }
}

/** Uncompressed, so that the bound on the body is one on memory too. */
const headersOf = ({ agent }: RdapAsking): Readonly<Record<string, string>> => ({
  accept: "application/rdap+json",
  "accept-encoding": "identity",
  "user-agent": agent,
})

async function replyOf({ clock, isOwn }: RdapAsking, url: URL, response: Response): Promise<RdapReply> {
  const { status, headers } = response
  if (status === 200) {
    // Some say that it is HTML or plain text, so what the body is tells more than what it is called.
    const text = await bodyText(response, BODY_BYTES_MAX)
    return text === null ? { kind: "failed" } : { kind: "told", json: JSON.parse(text) }
  }
  if (status === 404) return { kind: "not_found" }
  if (isRedirect(status)) return redirectOf(url, headers.get("location"), isOwn)
  const waitMs = retryAfterMs(headers.get("retry-after"), clock())
  if (status === TOO_MANY_REQUESTS || (status === UNAVAILABLE && waitMs !== null))
    return { kind: "sent_off", retryAfterMs: waitMs }
  return { kind: status >= 500 || status < 400 || SHUT_OUT.has(status) ? "failed" : "refused" }
}

function redirectOf(from: URL, location: string | null, isOwn: boolean): RdapReply {
  const to = location === null ? null : URL.parse(location, from)
  return to !== null && mayRedirect(from, to, isOwn) ? { kind: "redirected", to } : { kind: "failed" }
}
