import { describe, expect, test } from "bun:test"
import { EXPORTED_LISTS, EXPORTED_MEMBERS } from "../../../../src/customers/accounts/account-export.ts"
import { removeAccount, setTier } from "../../../../src/customers/accounts/accounts.ts"
import { UNIT_POOLS, unitSubject } from "../../../../src/customers/accounts/unit-subjects.ts"
import { decideFeedback } from "../../../../src/customers/feedback/decision.ts"
import { listFeedbackOf } from "../../../../src/customers/feedback/feedback.ts"
import { changeKey } from "../../../../src/customers/keys/key-changes.ts"
import { NOTICE_KINDS, NOTICES } from "../../../../src/customers/notices/notices.ts"
import type { SqlValue, Store } from "../../../../src/customers/store/core/store.ts"
import { publishTerms } from "../../../../src/customers/terms/terms.ts"
import { anotherAccount } from "../../../contract/another-account.ts"
import { testApp } from "../../../support/app.ts"
import { repeatedIds, signedInBrowser } from "../../../support/html-browser.ts"

const PATH = "/dashboard/account"
const EXPORT = `${PATH}/export`
const DELETE = `${PATH}/delete`

/** Two accounts, with rows in every table that knows accounts; `jane` is signed in. */
async function peopled() {
  const harness = await testApp({ admins: ["jane@example.com"] })
  const people = { jane: "", john: "" }
  const keys = { jane: "", john: "" }
  for (const name of ["jane", "john"] as const) {
    const { accountId, key } = await anotherAccount(harness.changes, `${name}@example.com`)
    const actor = { kind: "admin", id: harness.accountId, source: "admin_pages", keyId: null } as const
    await setTier({ ...harness.changes, actor }, accountId, 0)
    ;[people[name], keys[name]] = [accountId, key]
    const { post, get } = await signedInBrowser(harness, accountId)
    await post("/dashboard/list-entries", {
      list: "block",
      list_action: "add",
      entries: `${name}.com\nmary@${name}.org`,
    })
    await post("/dashboard/feedback", {
      subject: `mary@granite-${name}.com`,
      expected: "business",
      comment: `of ${name}`,
    })
    // A publishable key has a quota of its own.
    await harness.store.run("INSERT INTO units SELECT id, 20454, 7 FROM keys WHERE account_id = $1", [accountId])
    await harness.ask("POST /v1/check", { key, body: { email: `mary@checked-by-${name}.com` } })
    await post("/dashboard/account/emails", { mail: "units_80" })
    await get(PATH)
  }
  await harness.customers.usage.flush()
  await harness.customers.keyNetworks.flush()
  await publishTerms(harness.changes, { version: "2", url: "https://mailkind.example/2", isMaterial: true })
  return { ...harness, ...people, keys, browser: await signedInBrowser(harness, people.jane) }
}

/** Every row of every table, as JSON by table. */
async function allRows(store: Store): Promise<Map<string, readonly string[]>> {
  const tables = await store.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
  const rows = new Map<string, readonly string[]>()
  for (const { name } of tables)
    rows.set(
      name,
      (await store.all<Record<string, SqlValue>>(`SELECT * FROM ${name}`)).map(row => JSON.stringify(row)),
    )
  return rows
}

const tablesWith = (rows: ReadonlyMap<string, readonly string[]>, text: string): string[] =>
  [...rows].filter(([, lines]) => lines.some(line => line.includes(text))).map(([table]) => table)

describe("the page", () => {
  test("says who it is, since when, and what the tier allows", async () => {
    const { browser, changes, jane } = await peopled()
    const { html, text } = await browser.get(PATH)
    expect(html).toContain("jane@example.com")
    expect(html).toContain("1 Jan 2026, 00:00 UTC")
    expect(text).toContain(
      "Limits Free tier · See pricing Units per day 1,000 Requests per second 5 Requests at once 5 Active keys 5",
    )
    expect(repeatedIds(html)).toEqual([])
    await setTier(changes, jane, 4)
    expect((await browser.get(PATH)).text).toContain(
      "Unlimited tier · See pricing Units per day unlimited Requests per second unlimited Requests at once unlimited",
    )
  })

  test("says how long a list stays, and that a check stores no address", async () => {
    const { text } = await (await peopled()).browser.get(PATH)
    expect(text).toContain(
      "A check stores no address. We keep a list that you upload, encrypted, for 48 hours after its check",
    )
    expect(text).not.toContain("never store")
  })
})

describe("the export", () => {
  test("has the members that the page documents, and what was kept", async () => {
    const { browser, jane, store } = await peopled()
    for (const pool of UNIT_POOLS) await store.run("INSERT INTO units VALUES ($1, 20455, 8)", [unitSubject(jane, pool)])
    await store.run(
      "INSERT INTO jobs (id, account_id, key_id, state, format, has_header, policy, includes_tenant, created_at_ms) VALUES ('job_1', $1, 'k', 'done', 'csv', 1, 'b2b', 1, 1)",
      [jane],
    )
    await store.run("INSERT INTO callback_secrets (account_id, secret, made_at_ms) VALUES ($1, 's', 1)", [jane])
    await store.run(
      "INSERT INTO callbacks (id, account_id, job_id, event, body, happened_at_ms, due_at_ms) VALUES ('msg_1', $1, 'job_1', 'job.done', '{}', 1, 1)",
      [jane],
    )
    const { html, headers, status } = await browser.get(EXPORT)
    expect([status, headers.get("content-type")]).toEqual([200, "application/json"])
    expect(headers.get("content-disposition")).toBe('attachment; filename="mailkind-account.json"')
    expect([headers.get("cache-control"), headers.get("x-content-type-options")]).toEqual(["no-store", "nosniff"])
    const file = JSON.parse(html)
    const members = [...Object.keys(EXPORTED_MEMBERS), ...Object.keys(EXPORTED_LISTS)]
    expect(Object.keys(file)).toEqual(members)
    const page = (await browser.get(PATH)).html
    for (const member of members) expect(page).toContain(`<code>${member}</code>`)
    expect(file.account).toMatchObject({
      id: jane,
      email: "jane@example.com",
      tier: 0,
      created_at: "2026-01-01T00:00:00.000Z",
    })
    for (const member of Object.keys(EXPORTED_LISTS)) expect(file[member]).not.toEqual([])
    expect(file.feedback[0]).toMatchObject({ domain: "granite-jane.com", comment: "of jane", decided_at: null })
    expect(file.units).toContainEqual({ subject: file.keys[0].id, date: "2026-01-01", leased: 7 })
    for (const pool of UNIT_POOLS)
      expect(file.units).toContainEqual({ subject: unitSubject(jane, pool), date: "2026-01-02", leased: 8 })
    expect(file.usage).toContainEqual({ date: "2026-01-01", key_id: file.keys[0].id, measure: "checks", count: 1 })
    expect(file.list_entries.map((entry: { readonly list: string }) => entry.list)).toEqual(["block", "block"])
    expect(file.mails.map((mail: { readonly notice: string }) => mail.notice).toSorted()).toEqual([
      "key_created",
      "terms_change",
    ])
    expect(file.mails[0].particulars.last4).toBe(file.keys[0].last4)
  })

  test("holds no hash of a key or a session, no key, no address that was checked, and nothing of others", async () => {
    const { browser, store, john, keys } = await peopled()
    const { html } = await browser.get(EXPORT)
    const hashes = [
      ...(await store.all<{ hash: string }>("SELECT hash FROM keys")),
      ...(await store.all<{ hash: string }>("SELECT hash FROM sessions")),
    ]
    for (const { hash } of hashes) expect(html).not.toContain(hash)
    for (const text of [
      keys.jane,
      keys.john,
      john,
      "john",
      "owner@localhost",
      "mary",
      browser.cookie.split("=")[1] ?? "",
    ])
      expect(html).not.toContain(text)
  })

  test("has every column that is about an account, but for secrets and the workings of the outbox, of repeated requests and of the log's budget", async () => {
    const { store } = await testApp()
    const left = new Set([
      "hash",
      "account_id",
      "admin_id",
      "owner",
      "due_at_ms",
      "refusal_count",
      "first_tried_at_ms",
      "claim",
      "renewal_count",
      ...["secret", "former_secret"],
      ...[
        "file_key",
        "lease",
        "holder",
        "beat",
        "input_offset",
        "input_skipped",
        "parts",
        "stalled_claims",
        "suspect_row",
        "upload_key",
        "body_mac",
      ],
    ])
    const columnsOf = (table: string) => store.all<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`)
    for (const { name } of await store.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")) {
      const columns = (await columnsOf(name)).map(column => column.name)
      const list = Object.values(EXPORTED_LISTS).find(({ table }) => table === name)
      if (!columns.includes("account_id") || ["idempotent_requests", "request_log_sizes"].includes(name)) continue
      expect([name, columns.filter(column => !left.has(column)).toSorted()]).toEqual([
        name,
        [...(list?.columns ?? [])].toSorted(),
      ])
    }
  })

  test("is whole however many rows there are, and an empty one is JSON too", async () => {
    const { browser, store, jane, john } = await peopled()
    for (let at = 0; at < 1200; at++)
      await store.run("INSERT INTO own_list_entries VALUES ($1, $1, 'allow', $2, 1)", [jane, `n${at}.example`])
    for (let at = 0; at < 999; at++)
      await store.run("INSERT INTO usage VALUES ($1, 'key_x', $2, $3, 1)", [jane, Math.floor(at / 7), `m${at % 7}`])
    const file = JSON.parse((await browser.get(EXPORT)).html)
    expect(new Set(file.list_entries.map((entry: { readonly entry: string }) => entry.entry)).size).toBe(1202)
    expect(file.usage.length).toBeGreaterThan(999)
    await store.run("DELETE FROM own_list_entries WHERE owner = $1", [john])
  })

  test("that breaks off is told to the log, and its reader sees no end", async () => {
    const { app, store, browser, logged } = await peopled()
    const answer = await app(new Request(`http://localhost${EXPORT}`, { headers: { Cookie: browser.cookie } }))
    await store.run("DROP TABLE own_list_entries")
    const whole = answer.text().then(
      () => true,
      () => false,
    )
    expect(await whole).toBe(false)
    expect(logged).toContainEqual({
      level: "error",
      message: "account export failed",
      fields: { request_id: expect.any(String), error: "SQLiteError", fault: expect.any(String) },
    })
  })
})

describe("the choice of emails", () => {
  const EMAILS = `${PATH}/emails`
  const CHECKED = /<input type="checkbox" name="mail" value="(\w+)" checked/g
  const checkedIn = (html: string) => [...html.matchAll(CHECKED)].map(([, kind = ""]) => kind)
  const OPTIONAL = NOTICE_KINDS.filter(kind => NOTICES[kind].isOptional)

  test("is all of them at first, and then what was saved; mails about keys, terms and sign-ins are no choice", async () => {
    const harness = await testApp()
    const { accountId } = await anotherAccount(harness.changes, "mary@example.com")
    const browser = await signedInBrowser(harness, accountId)
    expect(checkedIn((await browser.get(PATH)).html)).toEqual([...OPTIONAL])
    const saved = await browser.post(EMAILS, { mail: "units_100", other: "x" })
    expect(saved.redirectPath).toBe(`${PATH}?done=emails-saved`)
    expect(checkedIn((await browser.get(PATH)).html)).toEqual(["units_100"])
    await browser.post(EMAILS, { mail: "<script>" })
    expect(checkedIn((await browser.get(PATH)).html)).toEqual([])
    const rows = await harness.store.all<{ notice: string }>("SELECT notice FROM muted_notices")
    expect(rows.map(({ notice }) => notice).toSorted()).toEqual([...OPTIONAL].toSorted())
    expect(OPTIONAL).not.toContain("key_leaked")
  })

  test("is the account's own", async () => {
    const { browser, john, store } = await peopled()
    await store.run("DELETE FROM muted_notices")
    await browser.post(EMAILS, { account: john })
    expect(await store.all("SELECT 1 FROM muted_notices WHERE account_id = $1", [john])).toEqual([])
  })
})

describe("the deletion", () => {
  test("leaves no row of the account in any table but ids in the logs of changes and of acts, and every row of others", async () => {
    const { browser, store, jane, john, changes } = await peopled()
    const [report] = await listFeedbackOf(store, jane, null, 1)
    await decideFeedback(changes, report?.id ?? "", "accepted")
    const before = await allRows(store)
    const keyIds = await store.all<{ id: string }>("SELECT id FROM keys WHERE account_id = $1", [jane])
    expect(tablesWith(before, jane).length).toBeGreaterThan(8)
    const { status, html, headers } = await browser.post(DELETE, { email: " Jane@EXAMPLE.com " })
    expect([status, html.includes("Your account is deleted")]).toEqual([200, true])
    expect(headers.get("set-cookie")).toStartWith("mailkind_session=; Max-Age=0;")
    const after = await allRows(store)
    expect(tablesWith(after, jane)).toEqual(["changes", "admin_acts"])
    for (const { id } of keyIds) expect(["admin_acts"]).toEqual(expect.arrayContaining(tablesWith(after, id)))
    // The correction that came of her report is of a domain, and so is its change.
    expect(tablesWith(after, "jane")).toEqual(["changes", "corrections"])
    for (const [table, rows] of before)
      expect([table, rows.filter(row => row.includes(john))]).toEqual([
        table,
        (after.get(table) ?? []).filter(row => row.includes(john)),
      ])
  })

  test("ends keys and all browsers at once; the email is free for a new account", async () => {
    const { browser, ask, keys, app } = await peopled()
    const check = async (key: string) => (await ask("GET /v1/check?domain=stripe.com", { key })).status
    expect(await check(keys.jane)).toBe(200)
    await browser.post(DELETE, { email: "jane@example.com" })
    expect([await check(keys.jane), await check(keys.john)]).toEqual([401, 200])
    for (const path of [PATH, EXPORT, "/dashboard/lists"]) {
      const { status, headers } = await app(
        new Request(`http://localhost${path}`, { headers: { Cookie: browser.cookie } }),
      )
      expect([status, headers.get("location")]).toEqual([303, `/sign-in?next=${encodeURIComponent(path)}`])
    }
    expect((await browser.post(DELETE, { email: "jane@example.com" })).redirectPath).toStartWith("/sign-in")
  })

  test.each(["", "jane@example.org", "john@example.com", "jane", '"><script>', "jane@example.com, john@example.com"])(
    "is not done for %j: the email of the account confirms it",
    async email => {
      const { browser, store } = await peopled()
      const { status, html } = await browser.post(DELETE, { email })
      expect([status, html.includes("Nothing was deleted.")]).toEqual([400, true])
      expect(html).not.toContain("<script>")
      expect(await store.one("SELECT COUNT(*) AS count FROM accounts")).toEqual({ count: 3 })
    },
  )

  test("renews no units: a new account with the email goes on with the day, to the unit", async () => {
    const harness = await peopled()
    const { browser, changes, ask, keys, time } = harness
    await ask("POST /v1/check/batch", {
      key: keys.jane,
      body: { items: Array.from({ length: 97 }, (_, at) => `a${at}.com`) },
    })
    // One report on the dashboard, one check, and the batch.
    await browser.post(DELETE, { email: "jane@example.com" })
    const anew = await anotherAccount(changes, "Jane@example.com")
    await setTier(changes, anew.accountId, 0)
    const { body, headers } = await ask("GET /v1/usage", { key: anew.key })
    expect(body["today"]).toMatchObject({ used: 99, remaining: 901, checks: 0, by_key: [{ used: 0 }] })
    expect(headers.get("ratelimit")).toContain('"day";r=901;')
    const { text } = await (await signedInBrowser(harness, anew.accountId)).get("/dashboard")
    expect(text).toContain("Your deleted account, earlier that day")
    await time.tick(86_400_000)
    expect((await ask("GET /v1/usage", { key: anew.key })).body["today"]).toMatchObject({ used: 0, remaining: 1000 })
  })

  test("comes from no other origin", async () => {
    const { browser, store } = await peopled()
    const { status } = await browser.post(DELETE, { email: "jane@example.com" }, { Origin: "https://evil.example" })
    expect(status).toBe(403)
    expect(await store.one("SELECT COUNT(*) AS count FROM accounts")).toEqual({ count: 3 })
  })

  test("says what it means for an administrator, and for the account of the first start", async () => {
    const { browser, accountId, ...harness } = await peopled()
    const [admin, first] = ["You are an administrator", "the first start of the server made"]
    const description = async ({ get }: Awaited<ReturnType<typeof signedInBrowser>>) => {
      const { html } = await get(PATH)
      return [admin, first].map(text => html.includes(text))
    }
    expect(await description(browser)).toEqual([true, false])
    expect(await description(await signedInBrowser(harness, accountId))).toEqual([false, true])
    expect(await description(await signedInBrowser(harness, harness.john))).toEqual([false, false])
  })

  test("in another tab meanwhile, or on the command line, leaves forms that lead to the sign-in", async () => {
    const { browser, changes, jane } = await peopled()
    await removeAccount(changes, jane)
    for (const path of [DELETE, `${PATH}/terms`, `${PATH}/sessions`])
      expect((await browser.post(path, { email: "jane@example.com", version: "2" })).redirectPath).toStartWith(
        "/sign-in",
      )
  })
})

test("names of keys and emails are shown as text, in the file as JSON", async () => {
  const { browser, changes, store, jane } = await peopled()
  const [key] = await store.all<{ id: string }>("SELECT id FROM keys WHERE account_id = $1", [jane])
  await changeKey(changes, key?.id ?? "", { name: '</script>"<b>' })
  expect(JSON.parse((await browser.get(EXPORT)).html).keys[0].name).toBe('</script>"<b>')
  await store.run("UPDATE accounts SET email = $1 WHERE id = $2", ['"<b>@example.com', jane])
  expect((await browser.get(PATH)).html).not.toContain("<b>")
})
