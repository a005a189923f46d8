import { isIPv4 } from "node:net"
import { DOMAIN_NAME_CHARS_MAX } from "../dns/domain-name.ts"

/** What is asked of whom: all of it read from one parsed URL, so that nothing is read in two ways. */
export type FetchTarget = {
  /** The URL as it is asked for, without a fragment. */
  readonly href: string
  /** A-labels, lower case, without a trailing dot. */
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** Path and query, as a request line has them: printable ASCII. */
  readonly path: string
}

const URL_CHARS_MAX = 2048

/** The port of each scheme that is asked; both schemes may be asked on both ports. */
const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 }
const ALLOWED_PORTS: ReadonlySet<number> = new Set(Object.values(DEFAULT_PORTS))

/** Two labels or more of what host names are made of, none but the first ones all digits (RFC 3696 §2). */
const HOST_NAME = /^(?:[a-z0-9_-]{1,63}\.)+(?!\d+$)[a-z0-9_-]{1,63}$/

/**
 * Reads a URL that a caller or a redirect named; a relative one is taken from `base`. The URL parser writes every spelling
 * of an IPv4 address as four decimal numbers and every IPv6 address in brackets (WHATWG URL, "host parser"): all are
 * refused, for a website that is asked for by its name has no need of one.
 */
export function parseFetchTarget(text: string, base?: string): FetchTarget | FetchErrorCause {
  const url = text.length > URL_CHARS_MAX ? null : URL.parse(text, base)
  if (url === null || url.href.length > URL_CHARS_MAX) return "bad_url"
  const ownPort = DEFAULT_PORTS[url.protocol]
  if (ownPort === undefined) return "bad_scheme"
  if (url.username !== "" || url.password !== "") return "has_credentials"
  const port = url.port === "" ? ownPort : Number(url.port)
  if (!ALLOWED_PORTS.has(port)) return "bad_port"
  const host = url.hostname.replace(/\.$/, "")
  if (host.startsWith("[") || isIPv4(host)) return "ip_host"
  if (!HOST_NAME.test(host) || host.length > DOMAIN_NAME_CHARS_MAX) return "bad_host"
  const path = url.pathname + url.search
  if (!/^\/[!-~]*$/.test(path)) return "bad_url"
  url.hash = ""
  return { href: url.href, host, port, isTls: url.protocol === "https:", path }
}

/** Why a guarded fetch has no page, each with what it says of whom. */
export const FETCH_ERROR_CAUSES = {
  bad_url: "It is no URL that can be asked for, or too long a one.",
  bad_scheme: "It is neither http nor https.",
  has_credentials: "It has a user name or a password.",
  bad_port: "It names a port other than 80 and 443.",
  ip_host: "Its host is an IP address.",
  bad_host: "Its host is no name of the public DNS.",
  no_address: "The name does not exist or has no address.",
  not_public: "One of its addresses is not public.",
  dns_unavailable: "DNS cannot tell its addresses.",
  refused: "The host does not listen.",
  unreachable: "The host is not reached.",
  untrusted: "TLS failed: most often the certificate is not trusted, too old, or of another name.",
  broken_off: "The connection ended before the answer did.",
  not_http: "What came is no answer of HTTP/1.",
  too_long: "The head of the answer, or what frames its body, is longer than is read.",
  bad_coding: "The body is coded in a way that is not read, or wrongly.",
  too_many_redirects: "It leads from one redirect to the next.",
  timed_out: "The answer was not there in time.",
  failed: "It failed in a way that nobody foresaw.",
} as const satisfies Record<string, string>
export type FetchErrorCause = keyof typeof FETCH_ERROR_CAUSES

/** Ends a fetch, and says why. It is thrown and caught within the fetch. */
export class FetchError extends Error {
  override readonly name = "FetchFault"
  readonly reason: FetchErrorCause

  constructor(why: FetchErrorCause) {
    super(FETCH_ERROR_CAUSES[why])
    this.reason = why
  }
}
