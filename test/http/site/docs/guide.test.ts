import { describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { loadInventory } from "../../../../src/assemble/licences.ts"
import { SETTINGS } from "../../../../src/config/settings.ts"
import { LIMITS } from "../../../../src/contract/limits.ts"
import { PROBLEM_CODES } from "../../../../src/contract/problems.ts"
import { ROUTES } from "../../../../src/contract/routes.ts"
import { TIERS } from "../../../../src/contract/tiers.ts"
import {
  FORM_DEMO_SCRIPT_PATH,
  SEARCH_SCRIPT_PATH,
  SITE_SCRIPT_PATH,
  THEME_SCRIPT_PATH,
} from "../../../../src/http/site/assets.ts"
import { checkPrograms } from "../../../../src/http/site/docs/examples.ts"
import { GUIDE } from "../../../../src/http/site/docs/guide.ts"
import { verdictFields } from "../../../../src/http/site/docs/inserts/field-inserts.ts"
import { CLIENT_ADVICE } from "../../../../src/http/site/docs/inserts/problem-inserts.tsx"
import { LICENCES, packageId } from "../../../../src/licences/inventory.ts"
import { createSystem } from "../../../../src/system/system.ts"
import { ROOT } from "../../../architecture/source-files.ts"
import { attributesIn, BASE_URL, guideFactsFor, openSite, unescapeHtml } from "../../../support/open-site.ts"
import { RULES_FILE, readAlertRules, runPromtool, testRules } from "../../../support/promtool.ts"
import { sampleIn } from "./sample-in.ts"

const ask = openSite()
const textOf = async (path: string): Promise<string> => (await ask(path)).text()
const plain = (html: string): string => unescapeHtml(html.replaceAll(/<[^>]*>/g, " ")).replaceAll(/\s+/g, " ")
const routes = GUIDE.flatMap(({ pages }) => pages.map(({ route }) => route))

test("the guide lists every page of the documentation once, with its description", async () => {
  const documentation = Object.entries(ROUTES)
    .filter(([id, { path, kind }]) => kind === "page" && /^\/docs(?:\/|$)/.test(path) && id !== "docsGuide")
    .map(([id]) => id)
    .filter(
      id =>
        ![
          "openapi",
          "docsApiOperation",
          "docsAsset",
          "docsMarkdown",
          "docsSearch",
          "pythonClient",
          "pythonWheel",
          "clientPackage",
        ].includes(id),
    )
  expect<string[]>([...routes].sort()).toEqual(documentation.sort())
  const html = await textOf(ROUTES.docsGuide.path)
  for (const route of routes) {
    expect(html).toContain(`<a href="${ROUTES[route].path}">`)
    expect(plain(html)).toContain(ROUTES[route].description)
  }
})

test("beside a page of the guide or of the reference, the group that has the page is open alone, and its sections follow the lead", async () => {
  for (const path of [ROUTES.docsLicences.path, "/docs/api/get-usage"]) {
    const html = await textOf(path)
    const groups = /<nav class="pages".*?<\/nav>/s.exec(html)?.[0].match(/<details.*?<\/details>/gs) ?? []
    const open = groups.filter(group => group.startsWith("<details open>"))
    expect(groups.length).toBeGreaterThan(3)
    expect(open).toEqual(groups.filter(group => group.includes("aria-current")))
    expect(open.length).toBe(1)
  }
  expect(await textOf(ROUTES.docsLicences.path)).toMatch(
    /<p class="lead">[^\n]*?<\/p><\/div><details class="contents-folded">/,
  )
})

test("no page of the guide has a script but those of every page, the search and the live form, or an insert without a value", async () => {
  const siteScripts = [THEME_SCRIPT_PATH, SITE_SCRIPT_PATH, SEARCH_SCRIPT_PATH]
  for (const route of routes.filter(id => id !== "docs")) {
    const html = await textOf(ROUTES[route].path)
    const own = route === "docsFormScript" ? [ROUTES.formScript.path, FORM_DEMO_SCRIPT_PATH] : []
    expect({ route, scripts: attributesIn(html, "src") }).toEqual({ route, scripts: [...siteScripts, ...own] })
    expect({ route, gap: /\{\{|undefined|\bNaN\b|\[object/.exec(plain(html))?.[0] ?? null }).toEqual({
      route,
      gap: null,
    })
  }
})

describe("the quick start", () => {
  test("shows every example as it is run", async () => {
    const html = await textOf(ROUTES.docsStart.path)
    const checkTimeoutMs = SETTINGS.MAILKIND_CHECK_TIMEOUT_MS.defaultValue
    for (const { file, code } of checkPrograms({ baseUrl: BASE_URL, checkTimeoutMs }))
      expect(sampleIn(html, file)).toBe(code)
  })

  test("tells callers to wait longer than a check takes on this server", async () => {
    const patient = openSite({ guide: guideFactsFor({ MAILKIND_CHECK_TIMEOUT_MS: "10500" }) })
    const html = await (await patient(ROUTES.docsStart.path)).text()
    expect(sampleIn(html, "check.py")).toContain("timeout=13)")
    expect(sampleIn(html, "check.sh")).toContain("--max-time 13 ")
    expect(plain(html)).toContain("longer than 13 seconds")
    expect(sampleIn(await textOf(ROUTES.docsStart.path), "check.go")).toContain("5 * time.Second")
  })
})

test("the limits page has the tiers in force, and every size", async () => {
  const usual = plain(await textOf(ROUTES.docsLimits.path))
  expect(usual).toContain(`${TIERS[0].name} 5 5 1,000`)
  expect(usual).toContain(`${TIERS[4].name} unlimited unlimited unlimited`)
  expect(usual).toContain(`${LIMITS.batchItemsMax} items of 2,048 characters, 256 KiB`)
  const other = openSite({ guide: guideFactsFor({ MAILKIND_TIERS: "0=7/-/2000000" }) })
  expect(plain(await (await other(ROUTES.docsLimits.path)).text())).toContain("free 7 unlimited 2,000,000")
})

test("the page about whole lists says in megabytes and hours what the settings of a list are", async () => {
  const page = plain(await textOf(ROUTES.docsWholeLists.path))
  for (const words of ["Size of a list 100 MB.", "All lists and results 1 GB.", "deleted 48 hours after"])
    expect(page).toContain(words)
})

test("the limits page begins with the operator's prices as Markdown, or with whom to ask for more", async () => {
  const limits = async (changes: object) => await (await openSite(changes)(ROUTES.docsLimits.path)).text()
  const priced = await limits({ pricing: "Starter costs **$19** <b>now</b>." })
  expect(priced).toContain("Starter costs <strong>$19</strong> &lt;b&gt;now&lt;/b&gt;.")
  expect(plain(priced)).toMatch(/Starter costs .* free 5 /s)
  const asked = plain(await limits({ securityContacts: ["mailto:ops@example.com"] }))
  expect(asked).toMatch(/Ask the operator of this server: ops@example.com ?\. .* free 5 /s)
  expect(plain(await limits({}))).toContain("Need more? Ask the operator of this server.")
  const securityContacts = ["mailto:first@example.com", "https://example.com/second"]
  const markdown = await (await openSite({ securityContacts })(`${ROUTES.docsLimits.path}.md`)).text()
  expect(markdown).toContain("Ask the operator of this server: [first@example.com](mailto:first@example.com).")
  expect(markdown).not.toContain("example.com/second")
})

test("the quick start begins with a command of one line that needs no key", async () => {
  const start = await textOf(ROUTES.docsStart.path)
  expect(sampleIn(start, "Command")).toMatch(/^curl '\S+\/v1\/check\?email=business@\S+'$/)
  expect(sampleIn(start, "With a key")).toContain("Bearer $MK_API_KEY")
})

test("the page of settings has every setting with its default, and never its value on this server", async () => {
  const own = openSite({
    guide: guideFactsFor({ MAILKIND_SMTP_URL: "smtp://u:pa55word@mail.example", MAILKIND_ADMINS: "a@b.example" }),
  })
  const html = await (await own(ROUTES.docsSettings.path)).text()
  for (const [name, { defaultText }] of Object.entries(SETTINGS)) {
    const row = new RegExp(`<tr id="${name}">(.*?)</tr>`).exec(html)?.[1] ?? ""
    expect(plain(row)).toContain(defaultText.replaceAll("`", " ").replaceAll(/\s+/g, " ").trim())
  }
  expect(html).not.toMatch(/pa55word|a@b\.example/)
})

test("the page about self-hosting has an anchor for each setting, which leads to its row", async () => {
  const html = await textOf(ROUTES.docsSelfHosting.path)
  for (const name of Object.keys(SETTINGS))
    expect(html).toContain(`<li id="${name}"><a href="${ROUTES.docsSettings.path}#${name}">`)
})

test.each([
  ["docsOperation", "mailkind.json"],
  ["docsAlerts", "alerts.yml"],
] as const)("the page %s links to %s, under its name in the sources", async (route, name) => {
  const own = openSite({ asset: name => createSystem().files.bundled(`${name}.asset`) })
  const html = await (await own(ROUTES[route].path)).text()
  const path = new RegExp(`href="([^"]+)" download="${name}"`).exec(html)?.[1] ?? ""
  expect(await (await own(path)).text()).toBe(await Bun.file(join(ROOT, "data/grafana", name)).text())
})

test("the page about alerts shows the rules as they are, and each names a section of the guide", async () => {
  const own = openSite({ asset: name => createSystem().files.bundled(`${name}.asset`) })
  const markdown = await (await own(`${ROUTES.docsAlerts.path}.md`)).text()
  expect(markdown).toContain((await Bun.file(RULES_FILE).text()).trimEnd())
  for (const { alert, annotations } of await readAlertRules()) {
    const [path = "", anchor = ""] = (annotations["guide"] ?? "").split("#")
    expect([alert, anchor, await (await own(path)).text()]).toEqual([
      alert,
      expect.stringMatching(/./),
      expect.stringContaining(`id="${anchor}"`),
    ])
  }
})

testRules("Prometheus takes the configuration that the page about alerts shows", async () => {
  const markdown = await (await openSite()(`${ROUTES.docsAlerts.path}.md`)).text()
  const shown = /^rule_files:[^`]*/m.exec(markdown)?.[0] ?? ""
  const directory = mkdtempSync(join(tmpdir(), "mailkind-prometheus-"))
  await Bun.write(join(directory, "alerts.yml"), Bun.file(RULES_FILE))
  await Bun.write(join(directory, "prometheus.yml"), shown)
  const { code, printed } = await runPromtool(["check", "config", join(directory, "prometheus.yml")])
  rmSync(directory, { recursive: true })
  expect([code, printed]).toEqual([0, expect.stringMatching(/1 rule files found[\s\S]*\d+ rules found/)])
})

test("the page of fields has a row for every member of a verdict, and begins with the four that most programs read", async () => {
  const rows = [...(await textOf(ROUTES.docsFields.path)).matchAll(/<tr id="(\w+)">/g)].map(([, name = ""]) => name)
  expect(rows.slice(0, 4)).toEqual(["recommendation", "category", "confidence", "reasons"])
  const names = verdictFields().flatMap(({ path }) => (path.includes(".") ? [] : [path]))
  expect(names.filter(name => !rows.includes(name))).toEqual([])
})

test("each problem code has one row that says what a client does", () => {
  expect(CLIENT_ADVICE.flatMap(({ codes }) => codes).sort()).toEqual([...PROBLEM_CODES].sort())
})

describe("the licences page", () => {
  test("names every part with its licence, and every licence that is allowed", async () => {
    const inventory = await loadInventory(createSystem())
    const html = await textOf(ROUTES.docsLicences.path)
    for (const part of inventory.packages) expect(plain(html)).toContain(`${packageId(part)} ${part.licence}`)
    for (const { id, licence } of inventory.sources) expect(plain(html)).toContain(`${id} ${licence}`)
    for (const [id, { requires }] of Object.entries(LICENCES)) expect(plain(html)).toContain(`${id} ${requires}`)
  })

  test("shows the origin and the texts of the part in the query, and ignores a part that does not exist", async () => {
    const inventory = await loadInventory(createSystem())
    const preact = inventory.packages.find(({ name }) => name === "preact")
    const input = `${ROUTES.docsLicences.path}?part=${encodeURIComponent(preact === undefined ? "" : packageId(preact))}`
    expect(plain(await textOf(input))).toContain(`From ${preact?.origin}`)
    expect(sampleIn(await textOf(input), "Licence")).toBe(inventory.allTexts[preact?.texts[0] ?? -1] ?? null)
    const unknown = await textOf(`${ROUTES.docsLicences.path}?part=%3Cscript%3E&part=x`)
    expect(unknown).toBe(await textOf(ROUTES.docsLicences.path))
  })
})
