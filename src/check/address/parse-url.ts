import { LIMITS } from "../../contract/limits.ts"
import { type Host, INVALID_HOST, parseHost } from "./parse-host.ts"

const TOO_LONG_URL: Host = { name: null, fault: "too_long" }

const WEB_SCHEME = /^https?$/i
const NEVER_IN_URL = /[ \\]/
/** Scheme, if any; host, or IPv6 address in brackets; port, if any, which may be empty. User info never matches as a host. */
const PLACE = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\[[^\]@/?#]*\]|[^:@/?#]*)(?::(\d*))?(?:[/?#]|$)/i
const PORT_MAX = 65_535

/**
 * Parses a website address and gives its host, without one leading `www.` where what is left has a dot. The scheme is
 * `http`, `https` or left out. A port is checked and forgotten; it may be empty after a scheme only (RFC 3986 §3.2.3), so
 * that neither `http:/acme.com` nor `http://jane@acme.com` has a host `http`. User info, spaces and backslashes are
 * refused; what follows the host is free. The host is never percent-decoded.
 */
export function parseUrl(text: string): Host {
  if (text.length > LIMITS.urlLengthMax) return TOO_LONG_URL
  if (NEVER_IN_URL.test(text) || !text.isWellFormed()) return INVALID_HOST
  const [, scheme, hostText = "", port] = PLACE.exec(text) ?? []
  const isWeb = scheme === undefined ? port !== "" : WEB_SCHEME.test(scheme)
  if (!isWeb || Number(port ?? 0) > PORT_MAX) return INVALID_HOST
  return withoutWww(parseHost(hostText, true))
}

function withoutWww(host: Host): Host {
  if (host.name === null || !host.name.startsWith("www.")) return host
  const rest = host.name.slice(4)
  return rest.includes(".") ? { name: rest, fault: null } : host
}
