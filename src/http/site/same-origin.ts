import { isIP } from "node:net"
import { ForeignForm, Problem } from "../response/problem.ts"

/**
 * Throws `forbidden_origin` for a form that was not sent from a page of this server (cross-site request forgery). Browsers send
 * `Origin` with every POST request (RFC 6454 §7.3).
 */
export function assertSameOrigin(request: Request, baseUrl: string): void {
  const header = request.headers.get("origin")
  const origin = header === null ? null : URL.parse(header)
  if (origin === null || !isAllowedOrigin(origin, request.headers.get("host"), new URL(baseUrl)))
    throw new ForeignForm(origin?.origin ?? null)
}

/**
 * Allowed are the origin of the public address, and an IP address or `localhost` under which the browser reached this server. No
 * other host name is allowed, whatever the public address is, because its owner could point it here (DNS rebinding), and neither
 * is the public name without HTTPS, which anybody on the network path could answer for.
 */
const isAllowedOrigin = (origin: URL, host: string | null, base: URL): boolean =>
  origin.origin === base.origin || (origin.host === host && isAddressOrLocalhost(origin.hostname))

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
