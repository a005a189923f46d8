import { type Fetch, isRedirect, readTextBody } from "../../base/fetch.ts"
import type { Clock } from "../../base/outside-world.ts"
import { parseRetryAfter } from "../fetch/retry-after.ts"

/** What an RDAP server made of one request. */
export type RdapResponse =
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
export type RdapRequestDeps = {
  readonly fetchUrl: Fetch
  readonly clock: Clock
  readonly userAgent: string
  /** The operator named the bootstrap. */
  readonly isOperatorUrl: boolean
}

/** A longer body is not read. Real ones have 2 to 30 KiB. */
const BODY_BYTES_MAX = 256 * 1024

const TOO_MANY_REQUESTS = 429
const SERVICE_UNAVAILABLE = 503
/** Without leave, a server that has shut us out says so to any question. */
const FORBIDDEN_STATUSES: ReadonlySet<number> = new Set([401, 403])

/** Puts one request to an RDAP server. It never rejects, and it settles when `deadline` is aborted at the latest. */
export function requestRdap(asking: RdapRequestDeps, url: URL, deadline: AbortSignal): Promise<RdapResponse> {
  return new Promise(resolve => {
    const timeOut = (): void => resolve({ kind: "timed_out" })
    if (deadline.aborted) timeOut()
    deadline.addEventListener("abort", timeOut, { once: true })
    sendRequest(asking, url, deadline)
      .then(resolve, () => resolve({ kind: "failed" }))
      .finally(() => deadline.removeEventListener("abort", timeOut))
  })
}

/** Rejects when nobody answers, when the body breaks off, and when it is no JSON. */
async function sendRequest(asking: RdapRequestDeps, url: URL, deadline: AbortSignal): Promise<RdapResponse> {
  const request = new AbortController()
  try {
    const signal = AbortSignal.any([deadline, request.signal])
    const response = await asking.fetchUrl(url.href, { signal, headers: requestHeaders(asking) })
    return await toRdapResponse(asking, url, response)
  } finally {
    // What is not read of a body is not waited for.
    request.abort()
  }
}

/** Uncompressed, so that the bound on the body is one on memory too. */
const requestHeaders = ({ userAgent }: RdapRequestDeps): Readonly<Record<string, string>> => ({
  accept: "application/rdap+json",
  "accept-encoding": "identity",
  "user-agent": userAgent,
})

async function toRdapResponse(
  { clock, isOperatorUrl }: RdapRequestDeps,
  url: URL,
  response: Response,
): Promise<RdapResponse> {
  const { status, headers } = response
  if (status === 200) {
    // Some say that it is HTML or plain text, so what the body is tells more than what it is called.
    const text = await readTextBody(response, BODY_BYTES_MAX)
    return text === null ? { kind: "failed" } : { kind: "told", json: JSON.parse(text) }
  }
  if (status === 404) return { kind: "not_found" }
  if (isRedirect(status)) return toRedirect(url, headers.get("location"), isOperatorUrl)
  const waitMs = parseRetryAfter(headers.get("retry-after"), clock())
  if (status === TOO_MANY_REQUESTS || (status === SERVICE_UNAVAILABLE && waitMs !== null))
    return { kind: "sent_off", retryAfterMs: waitMs }
  return { kind: status >= 500 || status < 400 || FORBIDDEN_STATUSES.has(status) ? "failed" : "refused" }
}

function toRedirect(from: URL, location: string | null, isOwn: boolean): RdapResponse {
  const to = location === null ? null : URL.parse(location, from)
  return to !== null && isAllowedRedirect(from, to, isOwn) ? { kind: "redirected", to } : { kind: "failed" }
}

/** IPv4 and IPv6 loopback and the name for both, as the URL parser writes them: `127.1` has become `127.0.0.1` by then. */
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|(?:[^.]+\.)*localhost\.?)$/

/** An address, or a name of one label: what some network at home knows, and never what a registry's certificate is for. */
const PRIVATE_HOST = /^(?:\[.*\]|\d{1,3}(?:\.\d{1,3}){3}|[^.]*\.?)$/

/** Whether the URL is on this machine. */
export const isLoopbackUrl = ({ hostname }: URL): boolean => LOOPBACK.test(hostname)

/**
 * Whether a bootstrap may name an RDAP server at the URL: by https, at a public name. One that the operator named, which
 * `isAllowedOrigin` says, may name any host by https, and what is on loopback by plain HTTP too. A user name is never sent.
 */
export function isAllowedServer(url: URL, isOwn: boolean): boolean {
  if (url.username !== "" || url.password !== "") return false
  if (isOwn && isLoopbackUrl(url)) return url.protocol === "https:" || url.protocol === "http:"
  return url.protocol === "https:" && (isOwn || hasPublicHost(url))
}

/**
 * Whether an RDAP server may send us from one URL to the other: by https to a public name at its usual port, and to
 * loopback only from there. No server elsewhere sends us to what listens on this machine or in its network.
 */
function isAllowedRedirect(from: URL, to: URL, isOwn: boolean): boolean {
  if (!isAllowedServer(to, isOwn)) return false
  if (to.origin === from.origin) return true
  return isLoopbackUrl(to) ? isLoopbackUrl(from) : hasPublicHost(to) && to.port === ""
}

const hasPublicHost = (url: URL): boolean => !isLoopbackUrl(url) && !PRIVATE_HOST.test(url.hostname)

/** Where an RDAP server tells of a domain (RFC 9082 §3.1.3). `base` ends with a slash; `domain` is A-labels, lower case. */
export const rdapDomainUrl = (base: string, domain: string): string => `${base}domain/${encodeURIComponent(domain)}`
