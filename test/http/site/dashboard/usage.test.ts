import { expect, test } from "bun:test"
import { CATEGORY_NAMES } from "../../../../src/contract/categories.ts"
import { LIMITS } from "../../../../src/contract/limits.ts"
import { ROUTES } from "../../../../src/contract/routes.ts"
import type { Usage } from "../../../../src/contract/usage-schema.ts"
import { testApp } from "../../../support/app.ts"
import { deepProbeStub } from "../../../support/deep-probe-stub.ts"
import { openSignedIn, signedInBrowser, textOf } from "../../../support/html-browser.ts"
import { attributesIn, HOSTILE } from "../../../support/open-site.ts"

const { path: USAGE } = ROUTES.usage
const DAY_MS = 86_400_000
const SITE = "https://shop.example"

/** The cells of a table's rows, as people read them. */
function rowsOf(html: string, caption: string): readonly (readonly string[])[] {
  const table = html.match(new RegExp(`<caption>${caption}</caption>.*?<tbody>(.*?)</tbody>`, "s"))?.[1] ?? ""
  return [...table.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = ""]) => textOf(cell).trim()),
  )
}

test("every number of the page is one of GET /v1/usage", async () => {
  const { harness, get } = await openSignedIn({ tier: 1, deep: () => deepProbeStub })
  const { text } = await harness.newKey([SITE])
  for (const domain of ["gmail.com", "mailinator.com", "mit.edu"])
    await harness.ask("POST /v1/check", { body: { domain } })
  await harness.time.tick(DAY_MS)
  await harness.ask("POST /v1/check", { body: { domain: "gmail.com", deep: true } })
  await harness.ask("POST /v1/check", { key: text, body: { domain: "gmail.com" }, headers: { Origin: SITE } })
  await harness.ask("POST /v1/check/batch", { body: { items: ["jane@gmail.com", "a@@b"] } })
  const facts = (await harness.ask("GET /v1/usage")).body as Usage // its schema has a test of its own
  const { html, text: words } = await get(USAGE)
  expect(words).toContain(`${facts.today.used} of 10,000 units used, 9,993 left.`)
  expect(html).toMatch(/<meter [^>]*max="10000"[^>]*value="7"|<meter [^>]*value="7"[^>]*max="10000"/)
  expect(words).toContain("2026-01-03 00:00 UTC")
  expect(rowsOf(html, "Checks of each day by category")).toEqual(
    facts.daily.map(day => [
      day.date,
      ...[day.used, ...CATEGORY_NAMES.map(name => day.by_category[name]), day.rate_limited].map(String),
    ]),
  )
  expect(rowsOf(html, "Checks by category")).toEqual([
    ["personal", "4", "57 %"],
    ["disposable", "1", "14 %"],
    ["education", "1", "14 %"],
    ["invalid", "1", "14 %"],
    ["All", "7", "100 %"],
  ])
  expect(rowsOf(html, "Use by key").map(([, ...figures]) => figures)).toEqual([
    ["10", "3", "1", "2", "0"],
    ["1", "1", "0", "0", "0"],
  ])
})

test("what a key did is told for as many days as a report has, written or not, and for revoked keys too", async () => {
  const harness = await testApp()
  await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
  await harness.customers.usage.flush()
  await harness.time.tick((LIMITS.usageDays - 1) * DAY_MS)
  await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
  await harness.revoke()
  // A session ends as soon as a report.
  const used = async () =>
    rowsOf((await (await signedInBrowser(harness)).get(USAGE)).html, "Use by key").map(([key, units]) => [key, units])
  expect(await used()).toEqual([[expect.stringMatching(/^Secret key .* revoked$/), "2"]])
  await harness.time.tick(DAY_MS)
  expect(await used()).toEqual([[expect.anything(), "1"]])
})

test("an account that did nothing is told how to begin, and loads no chart", async () => {
  const { get } = await openSignedIn({ tier: 0 })
  const { html, text: words } = await get(USAGE)
  expect(words).toContain("Nothing was checked yet")
  expect(html).not.toMatch(/usage-chart|uplot/)
  expect(words).toContain("Your account is of tier 0, “free”")
  expect(words).toContain("A day 1,000 units")
})

test("an account without limits has no bar, and is told so", async () => {
  const { harness, get } = await openSignedIn({ tier: 4 })
  await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
  const { html, text: words } = await get(USAGE)
  expect(html).not.toContain("<meter")
  expect(words).toContain("1 unit used. Nothing limits your units.")
  expect(words).toContain("A second no limit")
})

test("the chart's files are this server's, and names of keys are text", async () => {
  const { harness, get, post } = await openSignedIn()
  await post(`/dashboard/keys/${harness.keyId}/name`, { name: HOSTILE.slice(0, 50) })
  await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
  const { html, text: words } = await get(USAGE)
  expect(words).toContain(HOSTILE.slice(0, 50))
  expect(html).not.toContain("<script>")
  expect(html).not.toMatch(/\sstyle=/)
  const files = [
    ...attributesIn(html, "src"),
    ...[...html.matchAll(/data-(?:script|styles)="([^"]*)"/g)].map(([, path = ""]) => path),
  ]
  expect(files).toHaveLength(5)
  for (const path of files) expect((await get(path)).status).toBe(200)
})
