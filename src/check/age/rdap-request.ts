import { type Fetch, isRedirect, readTextBody } from "../../base/fetch.ts"
import type { Clock } from "../../base/outside-world.ts"
import { parseRetryAfter, settleRequest } from "../fetch/request.ts"

/** The outcome of one request to an RDAP server. */
export type RdapResponse =
  /** Status 200 with JSON. */
  | { readonly kind: "answered"; readonly json: unknown }
  /** Status 404: the server does not know the domain (RFC 7480 §5.3). */
  | { readonly kind: "not_found" }
  /** Another server has the answer (RFC 7480 §5.2). */
  | { readonly kind: "redirected"; readonly to: URL }
  /** Too many requests, or no capacity now. `retryAfterMs` is null if there is no `Retry-After`. */
  | { readonly kind: "throttled"; readonly retryAfterMs: number | null }
  /** The server refuses this request, and may answer another. */
  | { readonly kind: "refused" }
  /** There was no response, or it cannot be read. */
  | { readonly kind: "failed" }
  /** The response was not complete at the deadline. */
  | { readonly kind: "timed_out" }

/** What a request needs. */
export type RdapRequestDeps = {
  readonly fetchUrl: Fetch
  readonly clock: Clock
  /** The `User-Agent` header (RFC 9110 §10.1.5). */
  readonly userAgent: string
  /** The operator set the URL of the bootstrap, so its servers need not be public. */
  readonly isOperatorUrl: boolean
}

/** A longer body is not read. Real bodies have 2 to 30 KiB. */
const BODY_BYTES_MAX = 256 * 1024

const TOO_MANY_REQUESTS = 429
const SERVICE_UNAVAILABLE = 503
/** A server that has blocked us responds so to every request: it counts as failing. */
const FORBIDDEN_STATUSES: ReadonlySet<number> = new Set([401, 403])

/** Sends one request to an RDAP server. It never rejects, and settles at the latest when `deadline` is aborted. */
export function requestRdap(deps: RdapRequestDeps, url: URL, deadline: AbortSignal): Promise<RdapResponse> {
  return settleRequest(sendRequest(deps, url, deadline), deadline)
}

/** Rejects if there is no response, if the body breaks off, and if it is no JSON. */
async function sendRequest(deps: RdapRequestDeps, url: URL, deadline: AbortSignal): Promise<RdapResponse> {
  const request = new AbortController()
  try {
    const signal = AbortSignal.any([deadline, request.signal])
    const response = await deps.fetchUrl(url.href, { signal, headers: requestHeaders(deps) })
    return await toRdapResponse(deps, url, response)
  } finally {
    // Ends a response whose body was not read.
    request.abort()
  }
}

/** The body is requested uncompressed, so that its bound also bounds the memory. */
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
    // Some servers send JSON as HTML or plain text, so the content type is not checked.
    const text = await readTextBody(response, BODY_BYTES_MAX)
    return text === null ? { kind: "failed" } : { kind: "answered", json: JSON.parse(text) }
  }
  if (status === 404) return { kind: "not_found" }
  if (isRedirect(status)) return toRedirect(url, headers.get("location"), isOperatorUrl)
  const retryAfterMs = parseRetryAfter(headers.get("retry-after"), clock())
  if (status === TOO_MANY_REQUESTS || (status === SERVICE_UNAVAILABLE && retryAfterMs !== null))
    return { kind: "throttled", retryAfterMs }
  return { kind: status >= 500 || status < 400 || FORBIDDEN_STATUSES.has(status) ? "failed" : "refused" }
}

function toRedirect(from: URL, location: string | null, isOperatorUrl: boolean): RdapResponse {
  const to = location === null ? null : URL.parse(location, from)
  return to !== null && isAllowedRedirect(from, to, isOperatorUrl) ? { kind: "redirected", to } : { kind: "failed" }
}

/** The loopback addresses and `localhost`, in the form of the URL parser, which turns `127.1` into `127.0.0.1`. */
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|(?:[^.]+\.)*localhost\.?)$/

/** An IP address, or a name of one label, which only a private network knows. No registry has a certificate for either. */
const PRIVATE_HOST = /^(?:\[.*\]|\d{1,3}(?:\.\d{1,3}){3}|[^.]*\.?)$/

/** Whether the host of the URL is this machine. */
export const isLoopbackUrl = ({ hostname }: URL): boolean => LOOPBACK.test(hostname)

/**
 * Whether a bootstrap may name an RDAP server at the URL: by https, at a public name. If the operator set the URL of the
 * bootstrap, its servers may be any host by https, and loopback by plain HTTP too. A URL with credentials is never allowed.
 */
export function isAllowedServer(url: URL, isOperatorUrl: boolean): boolean {
  if (url.username !== "" || url.password !== "") return false
  if (isOperatorUrl && isLoopbackUrl(url)) return url.protocol === "https:" || url.protocol === "http:"
  return url.protocol === "https:" && (isOperatorUrl || hasPublicHost(url))
}

/**
 * Whether an RDAP server may redirect from one URL to another: by https to a public name at the default port, and to loopback
 * only from loopback. So no server elsewhere can redirect us to this machine or its network.
 */
function isAllowedRedirect(from: URL, to: URL, isOperatorUrl: boolean): boolean {
  if (!isAllowedServer(to, isOperatorUrl)) return false
  if (to.origin === from.origin) return true
  return isLoopbackUrl(to) ? isLoopbackUrl(from) : hasPublicHost(to) && to.port === ""
}

const hasPublicHost = (url: URL): boolean => !isLoopbackUrl(url) && !PRIVATE_HOST.test(url.hostname)

/** The URL of a domain at an RDAP server (RFC 9082 §3.1.3). `base` ends with a slash; `domain` is A-labels, lower case. */
export const rdapDomainUrl = (base: string, domain: string): string => `${base}domain/${encodeURIComponent(domain)}`
