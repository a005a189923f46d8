import { DAY_MS } from "../../../base/time.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { Problem } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { GUIDE } from "../docs/guide.ts"
import { FAVICON } from "../mark.ts"
import { OPERATION_PAGES } from "../reference/operations.ts"
import type { SiteContext } from "../site-context.ts"

type SiteFilesDeps = Pick<SiteContext, "baseUrl" | "pages" | "securityContacts" | "clock">

const PLAIN = "text/plain; charset=utf-8"

/** The files that browsers, search engines and researchers look for at fixed paths. */
export function siteFileRoutes({ baseUrl, pages, securityContacts, clock }: SiteFilesDeps) {
  const icon = { mediaType: "image/x-icon", bytes: FAVICON, encoding: null } as const
  return handlers({
    favicon: exchange => {
      const response = pages.asset(icon, exchange)
      // The path has no hash of the content.
      response.headers.set("Cache-Control", "public, max-age=86400")
      return response
    },
    robots: exchange => pages.text(robotsTxt(baseUrl()), exchange, PLAIN),
    sitemap: exchange => pages.text(sitemapXml(baseUrl()), exchange, "application/xml; charset=utf-8"),
    securityTxt: exchange => {
      if (securityContacts.length === 0) throw new Problem("not_found", NO_CONTACT)
      return pages.text(securityTxt(baseUrl(), securityContacts, clock()), exchange, PLAIN)
    },
  })
}

const NO_CONTACT =
  "This server names no contact for security reports. Its operator can set one with `MAILKIND_SECURITY_CONTACT`."

/** Paths that search engines leave out: pages of accounts and administrators, the sign-in, and everything for programs. */
const UNLISTED_PATHS: readonly string[] = [
  ...new Set(
    Object.values(ROUTES)
      .filter(({ kind, access, path }) => kind !== "page" || access !== "anybody" || path === ROUTES.signIn.path)
      .map(({ path }) => `/${path.split("/")[1] ?? ""}`)
      .filter(path => path !== "/"),
  ),
].sort()

const robotsTxt = (baseUrl: string): string =>
  [
    "User-agent: *",
    ...UNLISTED_PATHS.map(path => `Disallow: ${path}`),
    "",
    `Sitemap: ${baseUrl}${ROUTES.sitemap.path}`,
    "",
  ].join("\n")

/** The paths of the public pages: the first page, the guide, and the API reference with its operations. */
const LISTED_PATHS: readonly string[] = [
  ROUTES.home.path,
  ROUTES.docsGuide.path,
  ...GUIDE.flatMap(({ pages }) => pages.map(({ route }) => ROUTES[route].path)),
  ...OPERATION_PAGES,
]

/** A sitemap (sitemaps.org) of the public pages. */
const sitemapXml = (baseUrl: string): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ...LISTED_PATHS.map(path => `  <url><loc>${escapeXml(`${baseUrl}${path}`)}</loc></url>`),
    "</urlset>",
    "",
  ].join("\n")

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("'", "&apos;")

/** How long a reader may rely on the file. RFC 9116 §2.5.5 recommends less than a year. */
const SECURITY_TXT_DAYS = 180

/** Contacts for security reports (RFC 9116). */
function securityTxt(baseUrl: string, contacts: readonly string[], nowMs: number): string {
  // A whole day, so that the file stays the same for a day.
  const expiresAtMs = (Math.floor(nowMs / DAY_MS) + SECURITY_TXT_DAYS) * DAY_MS
  return [
    ...contacts.map(contact => `Contact: ${contact}`),
    `Expires: ${new Date(expiresAtMs).toISOString().replace(".000Z", "Z")}`,
    "Preferred-Languages: en",
    `Canonical: ${baseUrl}${ROUTES.securityTxt.path}`,
    `Policy: ${baseUrl}${ROUTES.docsSecurity.path}#report`,
    "",
  ].join("\n")
}
