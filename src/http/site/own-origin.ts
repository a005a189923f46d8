import { Problem } from "../problem.ts"

/**
 * Refuses a form that no page of ours has sent, as `forbidden_origin`: browsers name the origin of whatever changes
 * anything (RFC 6454 §7.3). Ours is that of the public address, and the one under which the browser asked: behind a proxy,
 * or under a second name of this machine, the two differ.
 */
export function refuseForeign(request: Request, baseUrl: string): void {
  const sent = request.headers.get("origin")
  const origin = sent === null ? null : URL.parse(sent)
  const isOwn =
    origin !== null && (origin.origin === new URL(baseUrl).origin || origin.host === request.headers.get("host"))
  if (!isOwn) throw new Problem("forbidden_origin", "The form was not sent from a page of this server.")
}

/**
 * Refuses what a page of another site asked for, as `forbidden_origin`: browsers tell of it (Fetch Metadata, `Sec-Fetch-Site`).
 * Else any page could have its visitors do wrong things here, and have their networks banned.
 */
export function refuseForeignRead(request: Request): void {
  const site = request.headers.get("sec-fetch-site")
  if (site === "cross-site" || site === "same-site")
    throw new Problem("forbidden_origin", "This is for the pages of this server alone.")
}
