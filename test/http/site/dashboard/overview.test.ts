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
  const table = html.match(new RegExp(`<caption>${caption}</caption>.*?<tbody>(.*?)</tbody>`, "s"))?.[1] ?? ""
  return [...table.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    [...row.matchAll(/<t[hd][^>]*?(?:\/>|>(.*?)<\/t[hd]>)/gs)].map(([, cell = ""]) => textOf(cell).trim()),
  )
}

/** The numbers in a column of a table, and the one in its row of sums. */
function columnOf(html: string, caption: string, index: number): { readonly sum: number; readonly added: number } {
  const numbers = rowsOf(html, caption).map(cells => Number((cells[index] ?? "").replaceAll(",", "")))
  return { sum: numbers.at(-1) ?? -1, added: numbers.slice(0, -1).reduce((all, one) => all + one, 0) }
}

/** The checks of each day, as the chart tells them. */
const chartOf = (html: string): readonly number[] =>
  [...html.matchAll(/<title>\d{4}-\d\d-\d\d: ([\d,]+) checks?<\/title>/g)].map(([, count = ""]) => Number(count))

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
    "add up: chart, keys, categories, units and file have the same sums (%s)",
    async query => {
      const { get } = await busy()
      const { html, text: words } = await get(`${OVERVIEW}${query}`)
      const checks = 3 + 1 + 2 + 2 + 1
      const units = 3 + LIMITS.deepCheckUnits + 2 + 2 + 1 + 1
      expect(sumOf(chartOf(html))).toBe(checks)
      for (const caption of ["Checks by category", "Usage by key"])
        expect({ caption, ...columnOf(html, caption, caption === "Usage by key" ? 2 : 1) }).toEqual({
          caption,
          sum: checks,
          added: checks,
        })
      for (const caption of ["Usage by key", "How the units add up"])
        expect({ caption, ...columnOf(html, caption, 3) }).toEqual({ caption, sum: units, added: units })
      expect(words).toContain(`${checks} checks in the last ${/\d+/.exec(query)?.[0] ?? 30} days, for ${units} units.`)
      expect(words).toContain(`${units - 2} of them are units of your account. 2 are units of publishable keys.`)
      const days = rowsOf(html, "Usage by day")
      expect([
        days.length,
        sumOf(days.map(([, count]) => Number(count))),
        sumOf(days.map(([, , used]) => Number(used))),
      ]).toEqual([Number(/\d+/.exec(query)?.[0] ?? 30), checks, units])
      const rows = csvRows((await get(`${ROUTES.usageFile.path}${query}`)).html)
      expect(sumOf(rows.map(row => Number(row["units"])))).toBe(units)
      expect(sumOf(rows.flatMap(row => [row["checks"], row["deep_checks"], row["batch_items"]].map(Number)))).toBe(
        checks,
      )
    },
  )

  test("tell what deep checks, batches, reports and publishable keys cost, beside the sum", async () => {
    const { get } = await busy()
    const { html, text: words } = await get(OVERVIEW)
    expect(rowsOf(html, "How the units add up")).toEqual([
      ["Checks", "6", "1", "6"],
      ["Deep checks", "1", String(LIMITS.deepCheckUnits), String(LIMITS.deepCheckUnits)],
      ["Batch items", "2", "1", "2"],
      ["Reports of mistakes", "1", "1", "1"],
      ["All", "", "", "14"],
    ])
    expect(words).toContain("9,991 of 10,000 units left. You used 9.")
    expect(html).toMatch(/<meter [^>]*max="10000"[^>]*value="9"|<meter [^>]*value="9"[^>]*max="10000"/)
    expect(words).toContain("Publishable keys have their own units: 2 of 1,000 used.")
    expect(words).toContain("Per day 10,000 units Per second 20 requests Concurrent 20 requests")
  })

  test("are those of one key when it is chosen, in the chart, the tables and the file", async () => {
    const { get, publishable } = await busy()
    const { html } = await get(`${OVERVIEW}?key=${publishable}`)
    expect(sumOf(chartOf(html))).toBe(2)
    expect(rowsOf(html, "Usage by key")).toHaveLength(2)
    expect(columnOf(html, "Usage by key", 2)).toEqual({ sum: 2, added: 2 })
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
      rowsOf((await (await signedInBrowser(harness)).get(`${OVERVIEW}${query}`)).html, "Usage by key")
    const [key = "", , ...figures] = (await rows("?days=90"))[0] ?? []
    expect([key, figures]).toEqual([expect.stringMatching(/ revoked$/), ["2", "2", "0"]])
    expect((await rows("?days=7"))[0]?.slice(2)).toEqual(["1", "1", "0"])
    await harness.time.tick(DAY_MS)
    expect((await rows("?days=90"))[0]?.slice(2)).toEqual(["1", "1", "0"])
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
    await post(`/dashboard/keys/${harness.keyId}/name`, { name })
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
  expect([status, redirectPath]).toEqual([303, `${OVERVIEW}#usage`])
  const { headers } = await harness.app(new Request(`http://localhost${ROUTES.usageFile.path}?days=7`))
  expect(headers.get("location")).toBe(`/sign-in?next=${encodeURIComponent(`${ROUTES.usageFile.path}?days=7`)}`)
})

test("an account without limits has no bar, and reads so", async () => {
  const { harness, get } = await openSignedIn({ tier: 4 })
  await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
  const { html, text: words } = await get(OVERVIEW)
  expect(html).not.toContain("<meter")
  expect(words).toContain("1 unit used. You have no daily limit.")
  expect(words).toContain("Per second no limit")
})

describe("the start of a new account", () => {
  /** The step that the page explains; empty: it has no steps. */
  const stepOf = (html: string): string => /aria-current="step"[^>]*>([^<]*)/.exec(html)?.[1] ?? ""

  test("goes from the key to the first request to the form, and disappears when all is done", async () => {
    const { harness, get } = await openSignedIn({ tier: 0 })
    expect(stepOf((await get(OVERVIEW)).html)).toBe("Send your first request")
    await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
    expect(stepOf((await get(OVERVIEW)).html)).toBe("Protect a form")
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

test("the overview of ninety busy days stays under 60 KB", async () => {
  const { harness, get } = await openSignedIn({ tier: 1 })
  for (let day = 0; day < 20; day++) {
    for (const domain of ["gmail.com", "mailinator.com", "mit.edu", "duck.com"])
      await harness.ask("POST /v1/check", { body: { domain } })
    await harness.time.tick(DAY_MS)
  }
  const { html } = await get(`${OVERVIEW}?days=90`)
  expect(html.length).toBeLessThan(60_000)
})
