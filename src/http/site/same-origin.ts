import { isIP } from "node:net"
import { Problem } from "../response/problem.ts"

/**
 * Throws `forbidden_origin` for a form that was not sent from a page of this server (cross-site request forgery). Browsers send
 * `Origin` with every POST request (RFC 6454 §7.3).
 */
export function assertSameOrigin(request: Request, baseUrl: string): void {
  const header = request.headers.get("origin")
  const origin = header === null ? null : URL.parse(header)
  if (origin === null || !isAllowedOrigin(origin, request.headers.get("host"), new URL(baseUrl)))
    throw new Problem("forbidden_origin", "The form was not sent from a page of this server.")
}

/**
 * Allowed are the origin of the public address and the origin under which the browser reached this server, which differ when it
 * used a second address of this machine. If the public address has a host name, no other host name is allowed, because its
 * owner could point it here (DNS rebinding), and neither is the same name without HTTPS, which anybody on the network path
 * could answer for.
 */
function isAllowedOrigin(origin: URL, host: string | null, base: URL): boolean {
  if (origin.origin === base.origin) return true
  return origin.host === host && (isAddressOrLocalhost(origin.hostname) || isAddressOrLocalhost(base.hostname))
}

/** Whether a URL's host is an IP address or `localhost`, which DNS cannot rebind. */
const isAddressOrLocalhost = (hostname: string): boolean =>
  hostname === "localhost" || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0

/**
 * Throws `forbidden_origin` for a request that a page of another site makes (Fetch Metadata, `Sec-Fetch-Site`). Otherwise any
 * page could make its visitors' browsers misbehave here until their networks are banned.
 */
export function assertSameOriginFetch(request: Request): void {
  const site = request.headers.get("sec-fetch-site")
  if (site === "cross-site" || site === "same-site")
    throw new Problem("forbidden_origin", "Only pages of this server can request this.")
}
