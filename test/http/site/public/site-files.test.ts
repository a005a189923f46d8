import { expect, test } from "bun:test"
import { ROUTES } from "../../../../src/contract/routes.ts"
import { GUIDE } from "../../../../src/http/site/docs/guide.ts"
import { OPERATION_PAGES } from "../../../../src/http/site/reference/operations.ts"
import { attributesIn, BASE_URL, CLOCK_MS, openSite } from "../../../support/open-site.ts"

const ask = openSite()
const textOf = async (path: string): Promise<string> => (await ask(path)).text()

/** The contents of the tags by which other sites describe a link to the page. */
const openGraph = (html: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...html.matchAll(/<meta property="og:([a-z_:]+)" content="([^"]*)"/g)].map(([, name = "", content = ""]) => [
      name,
      content,
    ]),
  )

test("the favicon is an image that caches keep for a day", async () => {
  const { status, headers } = await ask(ROUTES.favicon.path)
  expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
    200,
    "image/x-icon",
    "public, max-age=86400",
  ])
})

test("search engines leave out everything of accounts, of administrators and of the sign-in, and find the sitemap", async () => {
  const robots = await textOf(ROUTES.robots.path)
  const disallowed = [...robots.matchAll(/^Disallow: (.*)$/gm)].map(([, path = ""]) => path)
  const isLeftOut = (path: string) => disallowed.some(prefix => path.startsWith(prefix))
  for (const { path, access, kind } of Object.values(ROUTES))
    if (access === "account" || access === "admin" || kind === "api" || path.startsWith("/sign-in"))
      expect({ path, isLeftOut: isLeftOut(path) }).toEqual({ path, isLeftOut: true })
  for (const path of ["/", "/docs", "/docs/sign-up-forms", "/docs/errors"]) expect(isLeftOut(path)).toBe(false)
  expect(robots).not.toContain("/metrics")
  expect(robots).toContain(`\nSitemap: ${BASE_URL}/sitemap.xml\n`)
})

test("the sitemap has every public page with the public address, once, and each is there", async () => {
  const response = await ask(ROUTES.sitemap.path)
  expect(response.headers.get("content-type")).toStartWith("application/xml")
  const pages = [...(await response.text()).matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, url = ""]) => url)
  const guide = GUIDE.flatMap(({ pages: entries }) => entries.map(({ route }) => ROUTES[route].path))
  expect(pages.sort()).toEqual(
    ["/", ROUTES.docsGuide.path, ...guide, ...OPERATION_PAGES].map(path => `${BASE_URL}${path}`).sort(),
  )
  for (const url of pages) expect((await ask(url.slice(BASE_URL.length))).status).toBe(200)
})

test("security.txt names the operator's contacts, expires within a year and tells its own address", async () => {
  const named = openSite({ securityContacts: ["mailto:security@example.com", "https://example.com/report"] })
  const response = await named(ROUTES.securityTxt.path)
  expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8")
  const text = await response.text()
  const fields = text.trimEnd().split("\n")
  expect(fields.filter(line => line.startsWith("Contact: "))).toEqual([
    "Contact: mailto:security@example.com",
    "Contact: https://example.com/report",
  ])
  expect(fields).toContain(`Canonical: ${BASE_URL}/.well-known/security.txt`)
  for (const line of fields) expect(line).toMatch(/^[A-Z][A-Za-z-]+: \S+$/)
  const expiry = fields.filter(line => line.startsWith("Expires: "))
  expect(expiry).toHaveLength(1)
  const leftMs = Date.parse(expiry[0]?.slice("Expires: ".length) ?? "") - CLOCK_MS
  expect(leftMs).toBeGreaterThan(0)
  expect(leftMs).toBeLessThan(365 * 86_400_000)
})

test("the page about security links security.txt only where there is one", async () => {
  const linksOf = async (securityContacts: readonly string[]) =>
    attributesIn(await (await openSite({ securityContacts })(ROUTES.docsSecurity.path)).text(), "href")
  expect(await linksOf(["mailto:security@example.com"])).toContain(ROUTES.securityTxt.path)
  expect(await linksOf([])).not.toContain(ROUTES.securityTxt.path)
})

test("without a contact there is no security.txt, and the answer names the setting that gives one", async () => {
  const response = await ask(ROUTES.securityTxt.path)
  expect(response.status).toBe(404)
  expect(await response.text()).toContain("MAILKIND_SECURITY_CONTACT")
})

test("every public page tells other sites its title, its description and a picture by complete addresses", async () => {
  for (const route of ["home", "docsGuide", "docsErrors"] as const) {
    const { path, description } = ROUTES[route]
    const tags = openGraph(await textOf(path))
    expect(tags).toMatchObject({ description, url: `${BASE_URL}${path}`, site_name: "mailkind" })
    expect(tags["title"]?.length).toBeGreaterThan(0)
    expect(tags["image"]).toStartWith(`${BASE_URL}/docs/assets/social-image-`)
  }
})

test("the picture is a PNG of 1200 × 630 pixels and at most 30 KB, at a path with its hash", async () => {
  const { image = "" } = openGraph(await textOf(ROUTES.home.path))
  const response = await ask(image.slice(BASE_URL.length))
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"])
  const bytes = Buffer.from(await response.arrayBuffer())
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1200, 630])
  expect(bytes.length).toBeLessThanOrEqual(30_000)
  expect(attributesIn(await textOf(ROUTES.home.path), "src")).not.toContain(image)
})
