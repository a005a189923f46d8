import { describe, expect, test } from "bun:test"
import { parse } from "csv-parse/sync"
import { LIMITS } from "../../../../src/contract/limits.ts"
import { changeKey } from "../../../../src/customers/keys/key-changes.ts"
import { createKey } from "../../../../src/customers/keys/keys.ts"
import { anotherAccount } from "../../../contract/another-account.ts"
import { CHECK, recordIn } from "../../../customers/request-log/logged-store.ts"
import { random } from "../../../customers/temp-store.ts"
import { testApp } from "../../../support/app.ts"
import { linksIn, openSignedIn, repeatedIds, signedInBrowser } from "../../../support/html-browser.ts"
import { HOSTILE } from "../../../support/open-site.ts"

const PATH = "/dashboard/requests"

const idsIn = (html: string): readonly string[] =>
  [...html.matchAll(/data-request="([^"]+)"/g)].map(([, id = ""]) => id)

const domainsIn = (html: string): readonly string[] =>
  [...html.matchAll(/<th scope="row"[^>]*><a href="[^"]*">([^< ]+)<\/a><\/th>/g)].map(([, domain = ""]) => domain)

/** Someone signed in who has sent a request about each of these domains, one a second. */
async function withRequests(...domains: readonly string[]) {
  const opened = await openSignedIn()
  const { ask, time } = opened.harness
  for (const domain of domains) {
    await ask("POST /v1/check", { body: { domain } })
    await time.tick(1000)
  }
  return opened
}

describe("the list", () => {
  test("shows what was just sent, the newest first, with a page for each request", async () => {
    const { get } = await withRequests("gmail.com", "mailinator.com")
    const page = await get(PATH)
    expect(page.status).toBe(200)
    expect(domainsIn(page.html)).toEqual(["mailinator.com", "gmail.com"])
    expect(repeatedIds(page.html)).toEqual([])
    const [id = ""] = idsIn(page.html)
    expect(linksIn(page)).toContain(`${PATH}/${id}`)
    const { status, text } = await get(`${PATH}/${id}`)
    expect(status).toBe(200)
    for (const words of [
      "POST /v1/check Disposable block",
      "POST /v1/check",
      "1 unit",
      "Check it again",
      "Which lists name it",
      "Report a wrong verdict",
    ])
      expect(text).toContain(words)
  })

  test("an empty log says how to fill it, and one that a filter empties says so", async () => {
    const { get } = await openSignedIn()
    expect((await get(PATH)).text).toContain("No requests yet.")
    expect((await get(`${PATH}?status=5xx`)).text).toContain("No request matches this filter.")
  })

  test("a refused request is shown with its code, its cause and what to do", async () => {
    const { harness, get } = await openSignedIn()
    await harness.ask("POST /v1/check", { body: "{" })
    const { html, text } = await get(PATH)
    expect(text).toContain("POST /v1/check Invalid input Refused")
    const { text: words } = await get(`${PATH}/${idsIn(html)[0]}`)
    for (const part of ["Invalid input", "A field is missing", "Correct the field", "0 units"])
      expect(words).toContain(part)
  })

  test("pages follow each other by a cursor, keep the filter, and pass every request once", async () => {
    const { harness, get } = await openSignedIn()
    for (let n = 0; n < 120; n++)
      recordIn(harness.customers.requestLog, { accountId: harness.accountId, ...CHECK, domain: `d${n}.com` })
    const seen: string[] = []
    let path: string | undefined = `${PATH}?status=2xx&category=business`
    while (path !== undefined) {
      const page = await get(path)
      seen.push(...domainsIn(page.html))
      path = linksIn(page).find(link => link.includes("after="))
      if (path !== undefined) expect(path).toStartWith(`${PATH}?status=2xx&category=business&after=`)
    }
    expect(seen).toEqual(Array.from({ length: 120 }, (_, n) => `d${119 - n}.com`))
    expect((await get(`${PATH}?after=1-1`)).text).toContain("There are no older requests.")
  })

  test("a full page stays within 60 KB", async () => {
    const { harness, get } = await openSignedIn()
    const long = { domain: `${"d".repeat(63)}.${"e".repeat(63)}.com`, reason: "known_organisation" }
    for (let n = 0; n < 60; n++)
      recordIn(harness.customers.requestLog, { accountId: harness.accountId, ...CHECK, ...long })
    expect(Buffer.byteLength((await get(PATH)).html)).toBeLessThan(60 * 1024)
  })

  test("a batch has its verdicts first, then its categories", async () => {
    const { harness, get } = await openSignedIn()
    await harness.ask("POST /v1/check/batch", { body: { items: ["jane@mailinator.com", "joe@gmail.com"] } })
    const { text } = await get(`${PATH}/${idsIn((await get(PATH)).html)[0]}`)
    expect(text).toMatch(/allow 0 0% review 1 50% block 1 50% .*Items by category/)
  })

  test("requests that were not logged are told of", async () => {
    const { harness, get } = await openSignedIn()
    for (let n = 0; n < 503; n++) recordIn(harness.customers.requestLog, { accountId: harness.accountId, ...CHECK })
    const { text, html } = await get(PATH)
    expect(text).toContain("3 later requests not logged")
    expect((await get(`${PATH}/${idsIn(html)[0]}`)).text).toContain(
      "3 later requests of your account could not be logged.",
    )
  })
})

describe("the filter", () => {
  test.each([
    ["status=2xx", ["mailinator.com", "gmail.com"]],
    ["status=4xx", []],
    ["category=personal", ["gmail.com"]],
    ["recommendation=block", ["mailinator.com"]],
    ["recommendation=allow", []],
    ["domain=INATOR", ["mailinator.com"]],
    ["domain=jane%40mailinator.com", ["mailinator.com"]],
    ["key=site", []],
    ["route=POST+%2Fv1%2Fcheck", ["mailinator.com", "gmail.com"]],
    ["route=PUT+%2Fv1%2Frules", []],
    ["from=2026-01-01T00:00&to=2026-01-01T00:01", ["mailinator.com", "gmail.com"]],
    ["to=2026-01-01", []],
    ["status=9xx&category=nothing&route=x", ["mailinator.com", "gmail.com"]],
  ])("%s", async (query, domains) => {
    const { get } = await withRequests("gmail.com", "mailinator.com")
    const page = await get(`${PATH}?${query}`)
    expect(page.status).toBe(200)
    expect(domainsIn(page.html)).toEqual([...domains])
  })

  test("by category says how a row meets it, and a typo names what was meant", async () => {
    const { harness, get } = await withRequests("gmial.com")
    await harness.ask("POST /v1/check/batch", { body: { items: ["jane@mailinator.com", "joe@gmail.com"] } })
    expect((await get(`${PATH}?category=disposable`)).text).toContain("1 disposable of 2")
    const [, typo = ""] = idsIn((await get(PATH)).html)
    const { text } = await get(`${PATH}/${typo}`)
    expect(text).toContain("Typo of gmail.com")
    expect(text).toContain("As typed, it is a disposable address.")
  })

  test("is kept in the form and in the links to the file and to the page itself", async () => {
    const { get } = await withRequests("gmail.com")
    const page = await get(`${PATH}?status=2xx&domain=gmail&from=2026-01-01T00%3A00`)
    expect(page.html).toMatch(/<option value="2xx" selected/)
    expect(page.html).toContain('value="gmail"')
    expect(page.html).toContain('value="2026-01-01T00:00"')
    const query = "?status=2xx&domain=gmail&from=2026-01-01T00%3A00"
    expect(linksIn(page)).toContain(`${PATH}${query}`)
    expect(linksIn(page)).toContain(`${PATH}/export${query}`)
  })

  test("of an address that is searched for only the domain comes back", async () => {
    const { get } = await withRequests("gmail.com")
    expect((await get(`${PATH}?domain=secretlocal%40gmail.com`)).html).not.toContain("secretlocal")
  })

  test("a name in other letters is found by them, and shown in them", async () => {
    const { harness, get } = await openSignedIn()
    const domain = "xn--mnchen-3ya.de"
    recordIn(harness.customers.requestLog, { accountId: harness.accountId, ...CHECK, domain })
    expect(domainsIn((await get(`${PATH}?domain=${encodeURIComponent("München.de")}`)).html)).toEqual(["münchen.de"])
  })

  test.each([
    ["from=yesterday", "from"],
    ["to=2026-02-30T00:00", "to"],
    ["from=2026-01-02T00:00&to=2026-01-01T00:00", "to"],
  ])("%s is refused beside its field, and everything stays as typed", async (query, field) => {
    const { get } = await withRequests("gmail.com")
    const page = await get(`${PATH}?${query}&domain=gmail`)
    expect(page.status).toBe(400)
    expect(page.html).toContain(`id="${field}-fault"`)
    for (const value of new URLSearchParams(query).values()) expect(page.html).toContain(`value="${value}"`)
    expect(page.html).toContain('value="gmail"')
    expect((await get(`${PATH}/export?${query}`)).status).toBe(400)
  })

  test("hostile names and parameters are shown as text", async () => {
    const { harness, get } = await openSignedIn()
    await changeKey(harness.changes, harness.keyId, { name: "<b>&\"'" })
    await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
    for (const name of ["key", "domain", "from", "to", "after", "status"]) {
      const { html, status } = await get(`${PATH}?${name}=${encodeURIComponent(HOSTILE)}`)
      expect(status).toBeLessThan(500)
      expect(html).not.toContain("<b>")
      expect(html).not.toContain("<script>")
    }
  })
})

describe("the file", () => {
  test("has every request that matches, as a CSV file without formulas", async () => {
    const { harness, get } = await withRequests("gmail.com", "mailinator.com")
    await changeKey(harness.changes, harness.keyId, { name: '=1+1, "x"' })
    await harness.ask("POST /v1/check/batch", { body: { items: ["gmail.com", "a@@b"] } })
    const { html, headers } = await get(`${PATH}/export`)
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8")
    expect(headers.get("content-disposition")).toBe('attachment; filename="mailkind-requests.csv"')
    const rows: Record<string, string>[] = parse(html, { columns: true })
    expect(rows.map(({ domain, route, units, status }) => [domain, route, units, status])).toEqual([
      ["", "POST /v1/check/batch", "2", "200"],
      ["mailinator.com", "POST /v1/check", "1", "200"],
      ["gmail.com", "POST /v1/check", "1", "200"],
    ])
    expect(rows[0]?.["batch_items"]?.split(" ").toSorted()).toEqual(["invalid:1", "personal:1"])
    expect(rows[0]?.["key_name"]).toStartWith("'=1+1")
    expect(rows[2]?.["time"]).toBe("2026-01-01T00:00:00.000Z")
    const filtered: Record<string, string>[] = parse((await get(`${PATH}/export?category=disposable`)).html, {
      columns: true,
    })
    expect(filtered.map(({ domain }) => domain)).toEqual(["mailinator.com"])
  })

  test("is read in parts, and holds all of a full log", async () => {
    const { harness, get } = await openSignedIn()
    const { customers, accountId } = harness
    for (let round = 0; round < 22; round++) {
      for (let n = 0; n < 500; n++) recordIn(customers.requestLog, { accountId, ...CHECK })
      await customers.requestLog?.flush()
    }
    const { html } = await get(`${PATH}/export`)
    expect(html.trimEnd().split("\r\n")).toHaveLength(1 + LIMITS.requestLogRowsMax)
  })
})

describe("the switch", () => {
  test("off deletes the log at once and says so; on logs from then on", async () => {
    const { harness, get, post, submitAndFollow } = await withRequests("gmail.com")
    const [id] = idsIn((await get(PATH)).html)
    const off = await submitAndFollow(PATH, { log: "off" })
    expect(off.text).toContain("The request log is off. Every logged request is deleted.")
    expect(await harness.store.all("SELECT * FROM request_log")).toEqual([])
    expect([(await get(`${PATH}/${id}`)).status, (await get(`${PATH}/export`)).status]).toEqual([404, 404])
    await harness.ask("POST /v1/check", { body: { domain: "mit.edu" } })
    expect(idsIn((await get(PATH)).html)).toEqual([])
    expect(await harness.store.all("SELECT * FROM request_log")).toEqual([])
    await harness.time.tick(1)
    const on = await submitAndFollow(PATH, { log: "on" })
    expect(on.text).toContain("The request log is on.")
    await harness.ask("POST /v1/check", { body: { domain: "mit.edu" } })
    expect(domainsIn((await get(PATH)).html)).toEqual(["mit.edu"])
    expect((await post(PATH, { log: "perhaps" })).status).toBe(400)
  })

  test("an operator who keeps no logs has none kept, and the page says so", async () => {
    const { harness, get, post } = await openSignedIn({ requestLog: "off" })
    await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
    const { text, html } = await get(PATH)
    expect(text).toContain("The operator of this server keeps no request logs.")
    expect(html).not.toContain("Switch")
    expect([(await get(`${PATH}/export`)).status, (await get(`${PATH}/1-1`)).status]).toEqual([404, 404])
    expect((await post(PATH, { log: "on" })).status).toBe(303)
    expect(await harness.store.all("SELECT * FROM request_log")).toEqual([])
  })
})

describe("other accounts", () => {
  test("see nothing of it: no row, no request by its id, no key of theirs, nothing in the file", async () => {
    const harness = await testApp()
    await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
    const [id] = idsIn((await (await signedInBrowser(harness)).get(PATH)).html)
    const { accountId } = await anotherAccount(harness.changes)
    const other = await signedInBrowser(harness, accountId)
    expect((await other.get(PATH)).text).toContain("No requests yet.")
    expect((await other.get(`${PATH}/${id}`)).status).toBe(404)
    expect(idsIn((await other.get(`${PATH}?key=${harness.keyId}`)).html)).toEqual([])
    expect((await other.get(`${PATH}/export?key=${harness.keyId}`)).html.trimEnd().split("\r\n")).toHaveLength(1)
    await other.post(PATH, { log: "off" })
    expect(await harness.store.all("SELECT * FROM request_log")).toHaveLength(1)
  })

  test.each(["1-1", "0-0", "x", "1", "-", `${"9".repeat(15)}-${"9".repeat(16)}`, "1-1%00", "%ff", "1-1/2"])(
    "there is no request %s",
    async id => {
      const { get } = await openSignedIn()
      expect((await get(`${PATH}/${id}`)).status).toBe(404)
    },
  )
})

test("the names of many keys are told, and a key that is not among them by its id", async () => {
  const { harness, get } = await openSignedIn()
  const { changes, accountId, ask } = harness
  const made = await createKey(changes, random, { accountId, kind: "secret", name: "Sign-up", origins: [] })
  if (made.kind !== "created") throw new Error(made.kind)
  await ask("POST /v1/check", { key: made.text, body: { domain: "gmail.com" } })
  const { text, html } = await get(`${PATH}?key=${made.key.id}`)
  expect(text).toContain(`Sign-up …${made.key.last4}`)
  expect(idsIn(html)).toHaveLength(1)
  expect((await get(`${PATH}?key=key_old`)).html).toMatch(/<option value="key_old" selected/)
})
