import { isIPv4 } from "node:net"
import { DOMAIN_NAME_CHARS_MAX } from "../dns/domain-name.ts"

/** The parts of a URL to fetch. All come from one parsed URL, so that no part can be read in two ways. */
export type FetchTarget = {
  /** The URL without its fragment. */
  readonly href: string
  /** A-labels, lower case, without a trailing dot. */
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** Path and query for the request line: printable ASCII. */
  readonly path: string
}

const URL_CHARS_MAX = 2048

/** The allowed schemes with their default ports. Both schemes are allowed on both ports. */
const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 }
const ALLOWED_PORTS: ReadonlySet<number> = new Set(Object.values(DEFAULT_PORTS))

/** At least two labels of letters, digits, hyphens and underscores. The last is not all digits (RFC 3696 §2). */
const HOST_NAME = /^(?:[a-z0-9_-]{1,63}\.)+(?!\d+$)[a-z0-9_-]{1,63}$/

/**
 * Parses a URL of a caller or a redirect, relative to `base`, and returns reason it may not be fetched. IP addresses are refused: no
 * website needs one. The URL parser turns every spelling of an IPv4 address into four decimal numbers, and writes IPv6 addresses
 * in brackets (WHATWG URL, "host parser").
 */
export function parseFetchTarget(text: string, base?: string): FetchTarget | FetchErrorCause {
  const url = text.length > URL_CHARS_MAX ? null : URL.parse(text, base)
  if (url === null || url.href.length > URL_CHARS_MAX) return "bad_url"
  const defaultPort = DEFAULT_PORTS[url.protocol]
  if (defaultPort === undefined) return "bad_scheme"
  if (url.username !== "" || url.password !== "") return "has_credentials"
  const port = url.port === "" ? defaultPort : Number(url.port)
  if (!ALLOWED_PORTS.has(port)) return "bad_port"
  const host = url.hostname.replace(/\.$/, "")
  if (host.startsWith("[") || isIPv4(host)) return "ip_host"
  if (!HOST_NAME.test(host) || host.length > DOMAIN_NAME_CHARS_MAX) return "bad_host"
  const path = url.pathname + url.search
  if (!/^\/[!-~]*$/.test(path)) return "bad_url"
  url.hash = ""
  return { href: url.href, host, port, isTls: url.protocol === "https:", path }
}

const LOCAL_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

/** Parses a URL of http on this host, on any port: `http://localhost:3000/hook`. Null: it is none. For development alone. */
export function parseLocalTarget(text: string): FetchTarget | null {
  const url = text.length > URL_CHARS_MAX ? null : URL.parse(text)
  if (url === null || url.protocol !== "http:" || !LOCAL_HOSTS.has(url.hostname)) return null
  const path = url.pathname + url.search
  if (url.username !== "" || url.password !== "" || url.href.length > URL_CHARS_MAX || !/^\/[!-~]*$/.test(path))
    return null
  url.hash = ""
  return { href: url.href, host: url.hostname, port: Number(url.port || 80), isTls: false, path }
}

/** Why a guarded fetch failed, with the error message of each cause. */
export const FETCH_ERROR_CAUSES = {
  bad_url: "The URL is malformed or too long.",
  bad_scheme: "The scheme is neither http nor https.",
  has_credentials: "The URL has a user name or a password.",
  bad_port: "The port is neither 80 nor 443.",
  ip_host: "The host is an IP address.",
  bad_host: "The host is not a name of the public DNS.",
  no_address: "The name does not exist or has no address.",
  not_public: "An address of the name is not public.",
  dns_unavailable: "The name cannot be resolved.",
  refused: "The host refuses the connection.",
  unreachable: "The host cannot be reached.",
  untrusted: "TLS failed: usually the certificate is not trusted, is expired, or is for another name.",
  broken_off: "The connection ended before the response.",
  not_http: "The response is not an HTTP/1 response.",
  too_long: "The head of the response, or the framing of its body, is too long.",
  bad_coding: "The content coding is unsupported or corrupt.",
  too_many_redirects: "There are too many redirects.",
  timed_out: "The response was not complete in time.",
  outside_off: "The server sends nothing to other hosts.",
  failed: "The fetch failed unexpectedly.",
} as const satisfies Record<string, string>
export type FetchErrorCause = keyof typeof FETCH_ERROR_CAUSES

/** Ends a guarded fetch, which catches it. */
export class FetchError extends Error {
  override readonly name = "FetchError"
  readonly reason: FetchErrorCause

  constructor(reason: FetchErrorCause) {
    super(FETCH_ERROR_CAUSES[reason])
    this.reason = reason
  }
}
