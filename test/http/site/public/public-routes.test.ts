import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { POLICIES, POLICY_NAMES, RECOMMENDATION_FLOORS } from "../../../../src/contract/policies.ts"
import { PROBLEM_CODES, PROBLEMS, REFUSAL_ORDER } from "../../../../src/contract/problems.ts"
import { REASON_NAMES, REASONS } from "../../../../src/contract/reasons.ts"
import { ROUTES } from "../../../../src/contract/routes.ts"
import { TEST_ADDRESSES, TEST_PROBLEMS } from "../../../../src/contract/test-addresses.ts"
import { GUIDE } from "../../../../src/http/site/docs/guide.ts"
import { OPERATION_PAGES } from "../../../../src/http/site/reference/operations.ts"
import { ROOT } from "../../../architecture/source-files.ts"
import { attributesIn, BASE_URL, LISTS_OVERVIEW, openSite, unescapeHtml } from "../../../support/open-site.ts"

const ask = openSite()
const textOf = async (path: string): Promise<string> => (await ask(path)).text()

/** The text of the row of a table, or of a row that opens, that has the id. */
function rowOf(html: string, id: string): string {
  const found =
    html.match(new RegExp(`<tr id="${id}"[^>]*>(.*?)</tr>`, "s")) ??
    html.match(new RegExp(`<(?:details|div) id="${id}"[^>]*>(.*?)</(?:details|div)>`, "s"))
  return unescapeHtml((found?.[1] ?? "").replaceAll(/<[^>]*>/g, " "))
}

const plain = (text: string): string => text.replaceAll("`", " ").replaceAll(/\s+/g, " ").trim()

const PAGES: readonly string[] = [
  ROUTES.home,
  ROUTES.docs,
  ROUTES.docsErrors,
  ROUTES.docsReasons,
  ROUTES.docsTestAddresses,
  ROUTES.docsLists,
  ROUTES.docsGuide,
  ...GUIDE.flatMap(({ pages }) => pages.map(({ route }) => ROUTES[route])).filter(
    ({ path }) => !/^\/docs(?:|\/(?:errors|reasons|test-addresses|lists))$/.test(path),
  ),
]
  .map(({ path }) => String(path))
  .concat(OPERATION_PAGES)

describe.each(PAGES)("the page %s", path => {
  test("is HTML with a language, a title, and one stylesheet or two", async () => {
    const response = await ask(path)
    const html = await response.text()
    expect(response.status).toBe(200)
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8")
    expect(html).toStartWith("<!doctype html>")
    expect(html).toMatch(/<html lang="en">/)
    expect(html).toMatch(/<title>[^<]+<\/title>/)
    expect(html.match(/<link rel="stylesheet"/g)).toHaveLength(path.startsWith(ROUTES.docs.path) ? 2 : 1)
  })

  test("loads and links nothing of another host", async () => {
    const html = await textOf(path)
    const targets = [...attributesIn(html, "href"), ...attributesIn(html, "src")]
    expect(targets.length).toBeGreaterThan(5)
    for (const target of targets) expect(target).toMatch(/^(\/(?!\/)|[#?])/)
    expect(html).not.toMatch(/\sstyle=|\son[a-z]+=|@import|url\(/)
  })

  test("links to nothing but routes, own files and anchors that exist", async () => {
    const html = await textOf(path)
    const paths: readonly string[] = Object.values(ROUTES).map(route => route.path)
    for (const target of [...attributesIn(html, "href"), ...attributesIn(html, "src")]) {
      const [file = "", anchor] = target.split("#")
      const [bare = ""] = file.split("?")
      if (/^\/docs\/assets\/|\.md$/.test(bare)) expect((await ask(bare)).status).toBe(200)
      else if (bare !== "" && !OPERATION_PAGES.includes(bare)) expect(paths).toContain(bare)
      if (anchor === undefined) continue
      expect(attributesIn(bare === "" ? html : await textOf(bare), "id")).toContain(anchor)
    }
  })

  test("has no id twice", async () => {
    const ids = attributesIn(await textOf(path), "id")
    expect(ids).toEqual([...new Set(ids)])
  })

  test("is safe: strict policy, no sniffing, no referrer elsewhere, HTTPS only, not kept, with a request id", async () => {
    const { headers } = await ask(path, { "x-request-id": "my.own-1" })
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/)
    for (const directive of ["frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'", "connect-src 'self'"])
      expect(headers.get("content-security-policy")).toContain(directive)
    expect(headers.get("content-security-policy")).not.toMatch(/script-src[^;]*unsafe|https?:|\*/)
    expect(headers.get("x-content-type-options")).toBe("nosniff")
    expect(headers.get("referrer-policy")).toBe("same-origin")
    expect(headers.get("strict-transport-security")).toBe("max-age=31536000")
    expect(headers.get("cache-control")).toBe("no-store")
    expect(headers.get("x-request-id")).toBe("my.own-1")
  })
})

/** The links of the bar at the top of a page: where each leads, and how it is marked. */
const navigation = (html: string) =>
  [...(/<nav aria-label="Site">(.*?)<\/nav>/s.exec(html)?.[1] ?? "").matchAll(/<a href="([^"]*)"([^>]*)>/g)].map(
    ([, path = "", rest = ""]) => ({ path, current: /aria-current="(\w+)"/.exec(rest)?.[1] ?? null }),
  )

test("the bar at the top has three links, and marks the page, or the part that the page is in", async () => {
  const marked = async (path: string) => navigation(await textOf(path)).map(({ current }) => current)
  expect(navigation(await textOf(ROUTES.home.path)).map(({ path }) => path)).toEqual([
    ...[ROUTES.docsGuide.path, ROUTES.docs.path, ROUTES.docsLists.path],
  ])
  expect(await marked(ROUTES.home.path)).toEqual([null, null, null])
  expect(await marked(ROUTES.docsGuide.path)).toEqual(["page", null, null])
  expect(await marked(ROUTES.docs.path)).toEqual([null, "page", null])
  expect(await marked(ROUTES.docsLists.path)).toEqual([null, null, "page"])
  for (const { pages } of GUIDE)
    for (const { route } of pages.filter(page => page.route !== "docs" && page.route !== "docsLists"))
      expect(await marked(ROUTES[route].path)).toEqual(["true", null, null])
})

test("every page of the guide but the API reference links to every other, and marks itself", async () => {
  const all = GUIDE.flatMap(({ pages }) => pages.map(({ route }) => ROUTES[route].path))
  for (const path of all.filter(each => each !== ROUTES.docs.path)) {
    const list = /<nav class="pages" id="all-pages"[^>]*>(.*?)<\/nav>/s.exec(await textOf(path))?.[1] ?? ""
    expect(attributesIn(list, "href")).toEqual(all)
    expect(/<a href="([^"]*)" aria-current="page"/.exec(list)?.[1]).toBe(path)
  }
})

test("every page is under 60 KB on its first load, as browsers get it", async () => {
  for (const path of PAGES) {
    const html = await textOf(path)
    const files = [...attributesIn(html, "href"), ...attributesIn(html, "src")].filter(to =>
      to.startsWith("/docs/assets/"),
    )
    const answers = await Promise.all([...new Set(files)].map(to => ask(to, { "accept-encoding": "gzip" })))
    const sizes = await Promise.all(answers.map(async answer => (await answer.bytes()).length))
    const page = await (await ask(path, { "accept-encoding": "gzip" })).bytes()
    const bytes = page.length + sizes.reduce((sum, size) => sum + size, 0)
    expect({ path, isLight: bytes < 60_000 || bytes }).toEqual({ path, isLight: true })
  }
})

test("no page allows inline styles", async () => {
  const policies = await Promise.all(PAGES.map(async path => (await ask(path)).headers.get("content-security-policy")))
  expect(policies.filter(policy => policy?.includes("unsafe"))).toEqual([])
})

test("over plain HTTP no browser is told to stay on HTTPS", async () => {
  const response = await openSite({ isHttps: false })(ROUTES.home.path)
  expect(response.headers.get("strict-transport-security")).toBeNull()
})

test("the home page has a first call in each language, with the server's own address and test domain", async () => {
  const page = await (await openSite({ testDomain: "try.example" })(ROUTES.home.path)).text()
  const html = page.replaceAll(/<[^>]*>/g, "")
  expect(unescapeHtml(html)).toContain(`curl -s '${BASE_URL}/v1/check'`)
  expect(unescapeHtml(html)).toContain(`-d '{ "email": "business@try.example" }'`)
  expect(html.match(/business@try\.example/g)).toHaveLength(5)
})

test("the errors page has every code under its anchor with status, cause and what to do", async () => {
  const html = await textOf(ROUTES.docsErrors.path)
  for (const code of PROBLEM_CODES) {
    const { status, cause, action } = PROBLEMS[code]
    const row = plain(rowOf(html, code))
    expect(row).toStartWith(`${status} ${code} `)
    for (const sentence of `${cause} ${action}`.split(/(?<=\.) /)) expect(row).toContain(plain(sentence))
  }
})

test("the errors page has the order of refusals", async () => {
  const [, list = ""] = /<ol>(.*?)<\/ol>/s.exec(await textOf(ROUTES.docsErrors.path)) ?? []
  const steps = [...list.matchAll(/<li>(.*?)<\/li>/gs)].map(([, step = ""]) => plain(step))
  expect(steps).toEqual(REFUSAL_ORDER.map(({ step }) => step))
})

test("the reasons page has every code under its anchor with sentence, example, category and confidence", async () => {
  const html = await textOf(ROUTES.docsReasons.path)
  for (const reason of REASON_NAMES) {
    const { description, example, decides, confidence } = REASONS[reason]
    const row = plain(rowOf(html, reason))
    for (const part of [reason, description, example]) expect(row).toContain(plain(part))
    if (decides !== null && reason !== "test_address") expect(row).toContain(` ${decides} ${confidence.toFixed(2)} `)
  }
})

test("the reasons page ranks the reasons that decide in order of precedence", async () => {
  const html = await textOf(ROUTES.docsReasons.path)
  const ranks = REASON_NAMES.map(reason =>
    Number(new RegExp(`<tr id="${reason}"(?:(?!</tr>).)*data-label="Rank">(\\d+)<`, "s").exec(html)?.[1]),
  ).filter(rank => rank > 0)
  expect(ranks).toEqual(ranks.map((_, at) => at + 1))
  expect(ranks.length).toBe(REASON_NAMES.filter(reason => REASONS[reason].decides !== null).length + 2)
})

test("only a reason with a rank decides: it comes first in every golden verdict, after a typing error that somebody can be asked about", async () => {
  const html = await textOf(ROUTES.docsReasons.path)
  const isRanked = (reason: string): boolean => Number(plain(rowOf(html, reason)).split(" ").at(-1)) > 0
  const lines = (await Bun.file(join(ROOT, "test/golden/verdicts.jsonl")).text()).trim().split("\n")
  const verdicts: readonly { readonly reasons: readonly string[] }[] = lines.map(line => JSON.parse(line))
  const deciding = verdicts.map(({ reasons }) => reasons[reasons[0] === "likely_typo" ? 1 : 0] ?? "")
  expect(deciding.filter(reason => !isRanked(reason))).toEqual([])
  expect(deciding.length).toBeGreaterThan(100)
})

test("the page of policies has every policy and everything that raises a recommendation", async () => {
  const html = await textOf(ROUTES.docsPolicies.path)
  for (const policy of POLICY_NAMES) expect(html).toContain(POLICIES[policy].description)
  for (const [raise, row] of Object.entries(RECOMMENDATION_FLOORS)) {
    const expected = POLICY_NAMES.map(policy => row[policy]).filter(each => each !== "allow")
    expect(plain(rowOf(html, `raise-${raise}`))).toBe([plain(row.description), ...expected].join(" "))
  }
})

test("the test address page has every address under its anchor, with what each policy recommends", async () => {
  const html = await textOf(ROUTES.docsTestAddresses.path)
  for (const [localPart, { description, category }] of Object.entries(TEST_ADDRESSES)) {
    const row = plain(rowOf(html, localPart))
    expect(row).toStartWith(`${localPart}@mailkind.test ${plain(description)} ${category}`)
  }
  for (const [localPart, { code }] of Object.entries(TEST_PROBLEMS)) {
    expect(plain(rowOf(html, localPart))).toEndWith(`${PROBLEMS[code].status} ${PROBLEMS[code].title} ${code}`)
  }
  const advice = (localPart: string) => plain(rowOf(html, localPart)).split(" ").slice(-3)
  expect(POLICY_NAMES).toEqual(["b2b", "strict", "lenient"])
  expect(advice("personal")).toEqual(["review", "block", "allow"])
  expect(advice("role")).toEqual(["allow", "review", "allow"])
  expect(advice("lookalike")).toEqual(["review", "block", "review"])
  expect(advice("new-domain")).toEqual(["review", "block", "allow"])
  expect(advice("blocked")).toEqual(["block", "block", "block"])
  expect(advice("degraded")).toEqual(["review", "review", "allow"])
})

test("the lists page tells version, counts and sources, and what a source says is text", async () => {
  const html = await textOf(ROUTES.docsLists.path)
  expect(html).toContain("v-17")
  expect(html).toContain('datetime="2026-11-20T06:00:00.000Z"')
  expect(plain(rowOf(html, "set-relay"))).toBe("relay Domains of privacy relays. 1,234,567")
  expect(html).not.toContain("<script>")
  expect(html).toContain("&lt;script>alert(&quot;x&quot;)&lt;/script> &amp; https://elsewhere.example/")
  expect(plain(rowOf(html, "source-by-hand"))).toStartWith(
    "by-hand relay 12 20 Nov 2026 Refreshed never, it is built in",
  )
})

test("lists that were swapped show at the next page", async () => {
  let version = "before"
  const askAgain = openSite({ lists: () => ({ ...LISTS_OVERVIEW, version }) })
  expect(await (await askAgain(ROUTES.docsLists.path)).text()).toContain("before")
  version = "after"
  expect(await (await askAgain(ROUTES.docsLists.path)).text()).toContain("after")
})
