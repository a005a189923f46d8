import { isIPv4 } from "node:net"
import type { FetchCause } from "./fetch-fault.ts"
import { NAME_LENGTH_MAX } from "./host-name.ts"

/** What is asked of whom: all of it read from one parsed URL, so that nothing is read in two ways. */
export type FetchTarget = {
  /** The URL as it is asked for, without a fragment. */
  readonly href: string
  /** A-labels, lower case, without a trailing dot. */
  readonly name: string
  readonly port: number
  readonly isTls: boolean
  /** Path and query, as a request line has them: printable ASCII. */
  readonly path: string
}

const URL_LENGTH_MAX = 2048

/** The port of each scheme that is asked; both schemes may be asked on both ports. */
const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 }
const ALLOWED: ReadonlySet<number> = new Set(Object.values(PORTS))

/** Two labels or more of what host names are made of, none but the first ones all digits (RFC 3696 §2). */
const NAME = /^(?:[a-z0-9_-]{1,63}\.)+(?!\d+$)[a-z0-9_-]{1,63}$/

/**
 * Reads a URL that a caller or a redirect named; a relative one is taken from `base`. The URL parser writes every spelling
 * of an IPv4 address as four decimal numbers and every IPv6 address in brackets (WHATWG URL, "host parser"): all are
 * refused, for a website that is asked for by its name has no need of one.
 */
export function fetchTarget(text: string, base?: string): FetchTarget | FetchCause {
  const url = text.length > URL_LENGTH_MAX ? null : URL.parse(text, base)
  if (url === null || url.href.length > URL_LENGTH_MAX) return "bad_url"
  const ownPort = PORTS[url.protocol]
  if (ownPort === undefined) return "bad_scheme"
  if (url.username !== "" || url.password !== "") return "has_credentials"
  const port = url.port === "" ? ownPort : Number(url.port)
  if (!ALLOWED.has(port)) return "bad_port"
  const name = url.hostname.replace(/\.$/, "")
  if (name.startsWith("[") || isIPv4(name)) return "ip_host"
  if (!NAME.test(name) || name.length > NAME_LENGTH_MAX) return "bad_host"
  const path = url.pathname + url.search
  if (!/^\/[!-~]*$/.test(path)) return "bad_url"
  url.hash = ""
  return { href: url.href, name, port, isTls: url.protocol === "https:", path }
}
