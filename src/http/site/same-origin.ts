import { isIP } from "node:net"
import { Problem } from "../response/problem.ts"

/**
 * Refuses a form that no page of ours has sent, as `forbidden_origin`: browsers name the origin of whatever changes
 * anything (RFC 6454 §7.3).
 */
export function assertSameOrigin(request: Request, baseUrl: string): void {
  const sent = request.headers.get("origin")
  const origin = sent === null ? null : URL.parse(sent)
  if (origin === null || !isAllowedOrigin(origin, request.headers.get("host"), new URL(baseUrl)))
    throw new Problem("forbidden_origin", "The form was not sent from a page of this server.")
}

/**
 * Ours is the origin of the public address, and the one under which the browser asked: under a second address of this
 * machine the two differ. But where the public address has a name, no other name is believed, for whoever owns one can have
 * it lead here (DNS rebinding), nor that name without HTTPS, which anybody on the way can speak for.
 */
function isAllowedOrigin(origin: URL, host: string | null, base: URL): boolean {
  if (origin.origin === base.origin) return true
  return origin.host === host && (isAddressOrLocalhost(origin.hostname) || isAddressOrLocalhost(base.hostname))
}

/** Whether a URL's host is an address, or the name that each machine has for itself: nobody can have it lead elsewhere. */
const isAddressOrLocalhost = (hostname: string): boolean =>
  hostname === "localhost" || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0

/**
 * Refuses what a page of another site asked for, as `forbidden_origin`: browsers tell of it (Fetch Metadata, `Sec-Fetch-Site`).
 * Else any page could have its visitors do wrong things here, and have their networks banned.
 */
export function assertSameOriginFetch(request: Request): void {
  const site = request.headers.get("sec-fetch-site")
  if (site === "cross-site" || site === "same-site")
    throw new Problem("forbidden_origin", "This is for the pages of this server alone.")
}
