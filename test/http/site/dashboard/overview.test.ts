import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../../../src/contract/limits.ts"
import { ROUTES } from "../../../../src/contract/routes.ts"
import { listKeys } from "../../../../src/customers/keys/keys.ts"
import { anotherAccount } from "../../../contract/another-account.ts"
import { newAccount } from "../../../customers/temp-store.ts"
import { testApp } from "../../../support/app.ts"
import { deepProbeStub } from "../../../support/deep-probe-stub.ts"
import { openSignedIn, signedInBrowser, textOf } from "../../../support/html-browser.ts"
import { attributesIn, HOSTILE } from "../../../support/open-site.ts"

const { path: OVERVIEW } = ROUTES.dashboard
const DAY_MS = 86_400_000
const SITE = "https://shop.example"

/** The cells of a table's rows, as people read them. */
function rowsOf(html: string, caption: string): readonly (readonly string[])[] {
  const table = html.match(new RegExp(`<caption[^>]*>${caption}</caption>.*?<tbody>(.*?)</tbody>`, "s"))?.[1] ?? ""
  return [...table.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    [...row.matchAll(/<t[hd][^>]*?(?:\/>|>(.*?)<\/t[hd]>)/gs)].map(([, cell = ""]) => textOf(cell).trim()),
  )
}

/** The numbers in a column of a table. */
const columnOf = (html: string, caption: string, index: number): readonly number[] =>
  rowsOf(html, caption).map(cells => Number((cells[index] ?? "").replaceAll(",", "")))

/** The checks of each day, as the tooltips of the chart tell them. */
const chartOf = (html: string): readonly number[] =>
  [...html.matchAll(/<title>\d+ [A-Z][a-z]{2} \d{4}: ([^<]*)<\/title>/g)].map(([, parts = ""]) =>
    sumOf((parts.match(/[\d,]+(?= )/g) ?? []).map(count => Number(count.replaceAll(",", "")))),
  )

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, count) => sum + count, 0)

/** The rows of a CSV file without quotes, by the names of its columns. */
function csvRows(text: string): readonly Readonly<Record<string, string>>[] {
  const [head = "", ...lines] = text.trimEnd().split("\r\n")
  const names = head.split(",")
  return lines.map(line => Object.fromEntries(line.split(",").map((cell, index) => [names[index] ?? "", cell])))
}

/** An account that did something of each kind, on two days, with both kinds of keys and on the site. */
async function busy() {
  const browsed = await openSignedIn({ tier: 1, deep: () => deepProbeStub })
  const { harness, post } = browsed
  const { text, id: publishable } = await harness.newKey([SITE])
  for (const domain of ["gmail.com", "mailinator.com", "mit.edu"])
    await harness.ask("POST /v1/check", { body: { domain } })
  await harness.time.tick(DAY_MS)
  await harness.ask("POST /v1/check", { body: { domain: "gmail.com", deep: true } })
  for (let time = 0; time < 2; time++)
    await harness.ask("POST /v1/check", { key: text, body: { domain: "gmail.com" }, headers: { Origin: SITE } })
  await harness.ask("POST /v1/check/batch", { body: { items: ["jane@gmail.com", "a@@b"] } })
  await harness.ask("POST /v1/feedback", { body: { domain: "granite-works.com", expected_category: "business" } })
  await post(ROUTES.tryIt.path, { asked: "gmail.com", policy: "b2b" })
  return { ...browsed, publishable }
}

describe("the figures of the overview", () => {
  test.each(["", "?days=7", "?days=90"])(
    "add up: chart, keys, categories, days and file have the same sums (%s)",
    async query => {
      const { get } = await busy()
      const { html, text: words } = await get(`${OVERVIEW}${query}`)
      const checks = 3 + 1 + 2 + 2 + 1
      const units = 3 + LIMITS.deepCheckUnits + 2 + 2 + 1 + 1
      expect(sumOf(chartOf(html))).toBe(checks)
      for (const [caption, column] of [
        ["Checks by category", 1],
        ["Keys", 4],
      ] as const)
        expect({ caption, checks: sumOf(columnOf(html, caption, column)) }).toEqual({ caption, checks })
      expect(words).toContain(`Checks ${checks} `)
      const days = rowsOf(html, "Checks by day")
      const sums = [1, 2, 3, 4, 5].map(column => sumOf(columnOf(html, "Checks by day", column)))
      expect([days.length, ...sums]).toEqual([Number(/\d+/.exec(query)?.[0] ?? 30), checks, 1, 6, 2, units])
      const rows = csvRows((await get(`${ROUTES.usageFile.path}${query}`)).html)
      expect(sumOf(rows.map(row => Number(row["units"])))).toBe(units)
      for (const columns of [
        ["checks", "deep_checks", "batch_items"],
        ["allow", "review", "block"],
      ])
        expect(sumOf(rows.flatMap(row => columns.map(name => Number(row[name]))))).toBe(checks)
    },
  )

  test("tell what is left today, what form keys used, and what limits there are", async () => {
    const { get } = await busy()
    const { text: words } = await get(OVERVIEW)
    expect(words).toContain("Left today 9,991 of 10,000 · resets at 00:00 UTC")
    expect(words).toContain("Publishable keys: 2 of 1,000 today")
    expect(words).toContain("Units per day 10,000 Requests per second 20 Requests at once 20")
  })

  test("are those of one key when it is chosen, in the chart, the tables and the file", async () => {
    const { get, publishable } = await busy()
    const { html } = await get(`${OVERVIEW}?key=${publishable}`)
    expect(sumOf(chartOf(html))).toBe(2)
    expect(columnOf(html, "Keys", 4)).toEqual([2])
    expect(html).toMatch(
      new RegExp(`<option[^>]*value="${publishable}"[^>]* selected|<option[^>]* selected[^>]*value="${publishable}"`),
    )
    const rows = csvRows((await get(`${ROUTES.usageFile.path}?key=${publishable}&days=90`)).html)
    expect(rows.map(row => [row["key_id"], row["units"]])).toEqual([[publishable, "2"]])
    expect(sumOf(chartOf((await get(`${OVERVIEW}?key=site`)).html))).toBe(1)
  })

  test("reach as far back as usage is stored, also of revoked keys", async () => {
    const harness = await testApp()
    await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
    await harness.customers.usage.flush()
    await harness.time.tick((LIMITS.usageDaysKept - 1) * DAY_MS)
    await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
    await harness.revoke()
    // A session ends earlier than the usage.
    const rows = async (query: string) =>
      rowsOf((await (await signedInBrowser(harness)).get(`${OVERVIEW}${query}`)).html, "Keys")[0]?.slice(1)
    expect(await rows("?days=90")).toEqual(["Secret, revoked", expect.any(String), "", "2"])
    expect((await rows("?days=7"))?.at(-1)).toBe("1")
    await harness.time.tick(DAY_MS)
    expect((await rows("?days=90"))?.at(-1)).toBe("1")
  })

  test("name the change against the period before, where it is stored", async () => {
    const { harness, get } = await openSignedIn()
    const check = (count: number) =>
      Promise.all(Array.from({ length: count }, () => harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })))
    const told = async (query: string) =>
      /Checks [\d,]+ (.*?) Blocked/.exec((await get(`${OVERVIEW}${query}`)).text)?.[1]
    await check(2)
    expect(await told("?days=7")).toBe("none in the previous 7 days")
    await harness.time.tick(7 * DAY_MS)
    await check(3)
    expect(await told("?days=7")).toBe("▲ up 50% vs the previous 7 days")
    expect(await told("?days=90")).toBe("in 90 days")
  })

  test("of days that a version before counted are plain bars, and the legend says until when", async () => {
    const { harness, get } = await openSignedIn()
    await harness.ask("POST /v1/check", { body: { domain: "mailinator.com" } })
    await harness.customers.usage.flush()
    await harness.store.run("DELETE FROM usage WHERE measure LIKE 'recommendation:%'")
    const plain = await get(OVERVIEW)
    expect(chartOf(plain.html).at(-1)).toBe(1)
    expect(plain.text).toContain("Blocked – nothing to count yet")
    await harness.time.tick(DAY_MS)
    await harness.ask("POST /v1/check", { body: { domain: "mailinator.com" } })
    const { html, text: words } = await get(OVERVIEW)
    expect(chartOf(html).slice(-2)).toEqual([1, 1])
    expect(words).toContain("Blocked 100% 1 of 1 check")
    expect(words).toContain("Block 100% Until 1 Jan: not counted by recommendation")
  })
})

describe("the part that is displayed", () => {
  test.each(["?days=8", "?days=-1", "?days=1e9", "?days=<b>", "?days=7&days=90", "?key="])(
    "%s is shown without harm",
    async query => {
      const { get } = await openSignedIn()
      const { status, html } = await get(`${OVERVIEW}${query}`)
      expect([status, html.includes("<b>")]).toEqual([200, false])
    },
  )

  test("is never that of a key of another account, and no key that is none", async () => {
    const { harness, get } = await openSignedIn()
    const other = await anotherAccount(harness.changes)
    const theirs = (await listKeys(harness.store, other.accountId, 1))[0]?.id ?? ""
    expect(theirs).toStartWith("key_")
    for (const path of [OVERVIEW, ROUTES.usageFile.path])
      for (const key of [theirs, "key_none", "__proto__", HOSTILE])
        expect((await get(`${path}?key=${encodeURIComponent(key)}`)).status).toBe(404)
  })

  test("names hostile keys as text, on the page and in the file, which holds no formula", async () => {
    const { harness, get, post } = await openSignedIn()
    const name = `=1+1${HOSTILE.slice(0, 40)}`
    await post(`/dashboard/keys/${harness.keyId}/settings`, { name })
    await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
    const { html, text: words } = await get(OVERVIEW)
    expect(words).toContain(name)
    expect(html).not.toContain("<script>")
    expect(html).not.toMatch(/\sstyle=/)
    const file = await get(ROUTES.usageFile.path)
    expect(file.html).not.toMatch(/(^|,)"?=/m)
    expect(file.headers.get("content-disposition")).toBe('attachment; filename="mailkind-usage.csv"')
    expect(file.headers.get("content-type")).toBe("text/csv; charset=utf-8")
    for (const path of attributesIn(html, "src")) expect((await get(path)).status).toBe(200)
  })
})

test("the path that the usage had before leads to it, for people who are signed in", async () => {
  const { harness, get } = await openSignedIn()
  const { status, redirectPath } = await get(ROUTES.usage.path)
  expect([status, redirectPath]).toEqual([303, OVERVIEW])
  const { headers } = await harness.app(new Request(`http://localhost${ROUTES.usageFile.path}?days=7`))
  expect(headers.get("location")).toBe(`/sign-in?next=${encodeURIComponent(`${ROUTES.usageFile.path}?days=7`)}`)
})

test("an account without limits reads so", async () => {
  const { harness, get } = await openSignedIn({ tier: 4 })
  await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
  const { text: words } = await get(OVERVIEW)
  expect(words).toContain("Left today No limit 1 unit used today")
  expect(words).toContain("Units per day unlimited")
})

describe("the start of a new account", () => {
  /** The step that the page explains; empty: it has no steps. */
  const stepOf = (html: string): string => /aria-current="step"[^>]*><strong>([^<]*)/.exec(html)?.[1] ?? ""

  test("goes from the key to the first request to the form, and disappears when all is done", async () => {
    const { harness, get } = await openSignedIn({ tier: 0 })
    const { html: first } = await get(OVERVIEW)
    expect([stepOf(first), first.includes('class="tiles"'), first.includes('<figure class="chart')]).toEqual([
      ...["Send a request", false, false],
    ])
    await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
    const { html: second } = await get(OVERVIEW)
    expect([stepOf(second), second.includes('class="tiles"')]).toEqual(["Protect a form", true])
    const { text } = await harness.newKey([SITE])
    expect((await get(OVERVIEW)).text).toContain("You have a publishable key.")
    await harness.ask("POST /v1/check", { key: text, body: { domain: "gmail.com" }, headers: { Origin: SITE } })
    const { html } = await get(OVERVIEW)
    expect([stepOf(html), html.includes("overview-")]).toEqual(["", false])
  })

  test("begins with a key where there is none, and does not take a try on the site for a request", async () => {
    const { harness } = await openSignedIn()
    const { get, post } = await signedInBrowser(harness, await newAccount(harness.changes, "new@example.com"))
    expect(stepOf((await get(OVERVIEW)).html)).toBe("Make a key")
    await post(ROUTES.tryIt.path, { asked: "gmail.com", policy: "b2b" })
    expect(stepOf((await get(OVERVIEW)).html)).toBe("Make a key")
  })

  test("is over for an account whose server has checked on three days", async () => {
    const { harness, get } = await openSignedIn()
    for (let day = 0; day < 3; day++) {
      expect(stepOf((await get(OVERVIEW)).html)).not.toBe("")
      await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
      if (day < 2) await harness.time.tick(DAY_MS)
    }
    expect(stepOf((await get(OVERVIEW)).html)).toBe("")
  })
})

test("the overview of ninety busy days stays under 60 KB, and under 12 KB as it is sent", async () => {
  const { harness, get } = await openSignedIn({ tier: 1 })
  for (let day = 0; day < 20; day++) {
    for (const domain of ["gmail.com", "mailinator.com", "mit.edu", "duck.com"])
      await harness.ask("POST /v1/check", { body: { domain } })
    await harness.time.tick(DAY_MS)
  }
  const { html } = await get(`${OVERVIEW}?days=90`)
  expect(html.length).toBeLessThan(60_000)
  expect(Bun.gzipSync(html).length).toBeLessThan(12_000)
})

describe("the latest requests", () => {
  const latestOf = (html: string): readonly string[] =>
    [...(/<ul class="latest">(.*?)<\/ul>/s.exec(html)?.[1] ?? "").matchAll(/<li>(.*?)<\/li>/gs)].map(([, row = ""]) =>
      textOf(row.replaceAll("</span>", "</span> ").replaceAll("</a>", "</a> ")).trim(),
    )

  test("are eight checks of the log, the newest first, and lead to their pages", async () => {
    const { harness, get } = await openSignedIn()
    for (const domain of ["mit.edu", ...Array.from({ length: 6 }, () => "gmail.com"), "mailinator.com"])
      await harness.ask("POST /v1/check", { body: { domain } })
    await harness.ask("POST /v1/check/batch", { body: { items: ["jane@gmail.com", "a@@b"] } })
    await harness.ask("GET /v1/usage")
    const { html } = await get(OVERVIEW)
    expect(latestOf(html)).toEqual([
      ...["Batch of 2 Personal: 1 Invalid: 1", "mailinator.com Disposable block"],
      ...Array.from({ length: 6 }, () => "gmail.com Personal review"),
    ])
    const [path = ""] = attributesIn(html, "href").filter(href => href.startsWith(`${ROUTES.requests.path}/`))
    expect((await get(path)).status).toBe(200)
  })

  test("are left out when checks were made before the log was on, without a way to an empty log", async () => {
    const { harness, get, post } = await openSignedIn()
    await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
    await get(OVERVIEW)
    await post(ROUTES.postRequestLog.path, { log: "off" })
    await harness.time.tick(1000)
    await post(ROUTES.postRequestLog.path, { log: "on" })
    const { html, text: words } = await get(OVERVIEW)
    expect(words).not.toContain("Latest")
    expect(html).not.toContain("See those requests")
    expect(html).not.toContain("All requests")
  })

  test("are a sentence when the log is off", async () => {
    const { harness, get, post } = await openSignedIn()
    await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
    await post(ROUTES.postRequestLog.path, { log: "off" })
    const { html, text: words } = await get(OVERVIEW)
    expect(latestOf(html)).toEqual([])
    expect(words).toContain("The request log is off.")
  })
})
