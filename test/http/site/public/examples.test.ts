import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { MEASURED_FILE, measuredIn } from "../../../../bench/report/measured.ts"
import { RESULTS_FILE } from "../../../../bench/report/results.ts"
import { addEntries, OPERATOR } from "../../../../src/customers/own-lists/own-lists.ts"
import { ROOT } from "../../../architecture/source-files.ts"
import { entry } from "../../../contract/own-list-entry.ts"
import { visit } from "../../../contract/visit.ts"
import { testApp } from "../../../support/app.ts"
import { fakeNetwork } from "../../../support/fake-network.ts"
import { unescapeHtml } from "../../../support/open-site.ts"
import { until } from "../../../support/until.ts"

type Harness = Awaited<ReturnType<typeof testApp>>

/** The rows of the home page's feed, as a reader sees them. */
async function feed({ app }: Pick<Harness, "app">): Promise<readonly string[]> {
  const html = await (await app(new Request("http://localhost/"))).text()
  const [, list = ""] = /<(?:form|section) class="feed"[^>]*>(.*?)<\/(?:form|section)>/s.exec(html) ?? []
  return [...list.matchAll(/<(?:button|div)[^>]*>(.*?)<\/(?:button|div)>/gs)].map(([, row = ""]) =>
    unescapeHtml(row.replaceAll(/<[^>]*>/g, " "))
      .replaceAll(/\s+/g, " ")
      .trim(),
  )
}

describe("the feed of the home page", () => {
  test("has six verdicts, begins with one to allow, and shows each recommendation", async () => {
    const rows = await feed(await testApp())
    expect(rows).toHaveLength(6)
    expect(rows[0]).toMatch(/ allow (?:Business|Government)/)
    expect(rows.filter(row => / review /.test(row)).length).toBeGreaterThan(0)
    expect(rows.filter(row => / block /.test(row)).length).toBeGreaterThan(0)
  })

  test("tells what a check of the same address tells, for each of them, and that check is free", async () => {
    const harness = await testApp({ freeChecksPerDay: "1" })
    await feed(harness)
    await harness.time.tick(60_000)
    for (const row of await feed(harness)) {
      const [input = "", recommendation = ""] = row.split(" ")
      const body = new URLSearchParams({ example: input }).toString()
      const page = await visit(harness, { body })
      const html = unescapeHtml(await page.text())
      expect([page.status, row, html.toLowerCase().includes(`<title>${recommendation} – `)]).toEqual([200, row, true])
      await harness.time.tick(1000)
    }
    expect((await visit(harness)).status).toBe(200)
  })

  test("is made by the check, so that the operator's allow list counts", async () => {
    const harness = await testApp()
    expect((await feed(harness))[2]).toContain("block Disposable")
    await addEntries(harness.changes, OPERATOR, "allow", [entry("mailinator.com")])
    harness.customers.ownLists.invalidateAll()
    expect((await feed(harness))[2]).not.toContain("Disposable")
  })

  test("costs what is typed by hand, even if it is an example", async () => {
    const harness = await testApp({ freeChecksPerDay: "1" })
    const typed = { input: "sam@gmail.com" }
    expect([(await visit(harness, typed)).status, (await visit(harness, typed)).status]).toEqual([200, 503])
    const body = new URLSearchParams({ input: "x@gmail.com", example: "made-up@gmail.com" }).toString()
    expect((await visit(harness, { body })).status).toBe(503)
  })

  test("begins with an address that the lists allow until DNS has answered, and never waits for it", async () => {
    const listed = "jane@nasa.gov allow Government · reserved ending"
    expect((await feed(await testApp()))[0]).toBe(listed)
    const harness = await testApp({ outside: fakeNetwork().outside })
    expect((await feed(harness))[0]).toBe(listed)
    await until(
      async () => (await feed(harness))[0] !== listed,
      () => "DNS has answered",
    )
    expect((await feed(harness))[0]).toBe("jane@stripe.com allow Business · own mail server")
  })

  test("is read and not pressed where the operator offers no checks", async () => {
    const harness = await testApp({ settings: { MAILKIND_PUBLIC_CHECKER: "off" } })
    expect(await feed(harness)).toHaveLength(6)
    expect(await (await harness.app(new Request("http://localhost/"))).text()).not.toContain('name="example"')
  })
})

test("the home page compares itself by verdicts that its checks give", async () => {
  const harness = await testApp()
  const home = await (await harness.app(new Request("http://localhost/"))).text()
  const rows = [...home.matchAll(/<th scope="row"[^>]*>(\S+@[\w.]+) .*?<span class="pill (\w+)">/gs)]
  expect(rows.map(([, input]) => input)).toEqual(["mia@mozmail.com", "info@ethz.ch"])
  for (const [, input = "", recommendation = ""] of rows) {
    await harness.time.tick(1000)
    const html = (await (await visit(harness, { input })).text()).toLowerCase()
    expect([input, html.includes(`<title>${recommendation} – `)]).toEqual([input, true])
  }
})

test("the measured figures of the home page are those of the results", async () => {
  const [measured, results] = await Promise.all(
    [MEASURED_FILE, RESULTS_FILE].map(path => Bun.file(join(ROOT, path)).text()),
  )
  expect(JSON.parse(measured ?? "")).toEqual(measuredIn(results ?? ""))
})
