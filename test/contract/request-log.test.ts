import { describe, expect, test } from "bun:test"
import { removeAccount } from "../../src/customers/accounts/accounts.ts"
import type { RequestFilter, StoredRequest } from "../../src/customers/request-log/request-rows.ts"
import { readRequests } from "../../src/customers/request-log/request-rows.ts"
import { ALL } from "../customers/request-log/logged-store.ts"
import { type AppOptions, testApp } from "../support/app.ts"
import { deepProbeStub } from "../support/deep-probe-stub.ts"
import { signedInBrowser } from "../support/html-browser.ts"
import { anotherAccount } from "./another-account.ts"

const SITE = "https://shop.example"

/** A house whose request log can be read. */
async function logging(options: AppOptions = {}) {
  const harness = await testApp(options)
  const { store, clock, customers, accountId } = harness
  return {
    ...harness,
    /** What the log of an account holds, the oldest first. */
    logged: async (filter: Partial<RequestFilter> = {}, of = accountId): Promise<readonly StoredRequest[]> => {
      await customers.requestLog?.flush()
      const query = { filter: { ...ALL, ...filter }, before: null, countMax: 1000 }
      return (await readRequests(store, of, clock(), query)).toReversed()
    },
  }
}

describe("what is logged of a request", () => {
  test("a check: its verdict, cost and registrable domain, by GET and POST", async () => {
    const { ask, keyId, logged } = await logging()
    await ask("POST /v1/check", { body: { email: "jane@eu.mail.mailinator.com" } })
    await ask("GET /v1/check?domain=gmail.com&policy=b2b")
    expect(await logged()).toMatchObject([
      { route: "POST /v1/check", category: "disposable", recommendation: "block", domain: "mailinator.com" },
      { route: "GET /v1/check", category: "personal", domain: "gmail.com" },
    ])
    for (const row of await logged())
      expect(row).toMatchObject({ keyId, status: 200, code: null, units: 1, reason: expect.any(String), tookMs: 0 })
  })

  test("a deep check costs what was charged for it", async () => {
    const { ask, logged, newKey } = await logging({ deep: () => deepProbeStub })
    const { text } = await newKey([SITE])
    const body = { domain: "gmail.com", deep: true }
    await ask("POST /v1/check", { body })
    await ask("POST /v1/check", { body, key: text, headers: { Origin: SITE } })
    expect((await logged()).map(({ units }) => units)).toEqual([5, 1])
  })

  test("an invalid input has no domain, whatever could be taken for one", async () => {
    const { ask, logged } = await logging()
    for (const email of [
      "jane@@acme.com",
      "jane.acme.com",
      "jane@acme",
      "jane doe@acme.com",
      "@acme.com",
      "jane@192.0.2.1",
    ])
      await ask("POST /v1/check", { body: { email } })
    for (const domain of ["jane.doe", "jane@acme.com", "com"]) await ask("POST /v1/check", { body: { domain } })
    expect((await logged()).map(({ domain }) => domain)).toEqual(Array.from({ length: 9 }, () => null))
  })

  test("a batch is one row with its counts by category and recommendation and no domain", async () => {
    const { ask, logged } = await logging()
    const items = ["jane@gmail.com", "gmail.com", "mailinator.com", "a@@b", "business@mailkind.test"]
    await ask("POST /v1/check/batch", { body: { items } })
    const rows = await logged()
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({
      route: "POST /v1/check/batch",
      units: 4,
      domain: null,
      category: null,
      recommendation: null,
    })
    expect(Object.fromEntries(rows[0]?.recommendationCounts ?? [])).toEqual({ allow: 1, review: 2, block: 2 })
    expect(Object.fromEntries(rows[0]?.categoryCounts ?? [])).toEqual({
      personal: 2,
      disposable: 1,
      invalid: 1,
      business: 1,
    })
  })

  test("usage and feedback, which costs a unit", async () => {
    const { ask, logged } = await logging()
    await ask("GET /v1/usage")
    await ask("POST /v1/feedback", { body: { domain: "granite-works.com", expected_category: "personal" } })
    expect(await logged()).toMatchObject([
      { route: "GET /v1/usage", status: 200, units: 0 },
      { route: "POST /v1/feedback", status: 202, units: 1 },
    ])
  })

  test("a test address costs nothing, and the problem that it asks for is its code", async () => {
    const { ask, logged } = await logging()
    await ask("POST /v1/check", { body: { email: "disposable@mailkind.test" } })
    await ask("POST /v1/check", { body: { email: "error-429@mailkind.test" } })
    expect(await logged()).toMatchObject([
      { units: 0, status: 200 },
      { units: 0, status: 429, code: "rate_limited" },
    ])
  })

  test("every refusal of an account's key has its code, of revoked and publishable keys too", async () => {
    const { ask, logged, newKey, revoke, keyId } = await logging({ tier: 0 })
    const { text, id } = await newKey([SITE])
    await ask("POST /v1/check", { body: "{" })
    await ask("POST /v1/check", { body: { domain: "" } })
    await ask("POST /v1/check", { key: text, body: { domain: "gmail.com" } })
    await ask("GET /v1/usage", { key: text })
    await revoke()
    await ask("POST /v1/check", { body: { domain: "gmail.com" } })
    await ask("GET /v1/usage")
    expect((await logged()).map(row => [row.keyId, row.status, row.code, row.units])).toEqual([
      [keyId, 400, "invalid_input", 0],
      [keyId, 400, "invalid_input", 0],
      [id, 403, "forbidden_origin", 0],
      [id, 401, "invalid_key", 0],
      [keyId, 401, "key_revoked", 0],
      [keyId, 401, "key_revoked", 0],
    ])
  })

  test("a key that has expired is logged as the reason for its refusals", async () => {
    const { ask, logged, store, keyId, customers, time } = await logging()
    await store.run("UPDATE keys SET expires_at_ms = $2 WHERE id = $1", [keyId, time.clock()])
    customers.keys.invalidateAll()
    await ask("POST /v1/check", { body: { domain: "gmail.com" } })
    await ask("GET /v1/usage")
    expect((await logged()).map(row => [row.keyId, row.status, row.units])).toEqual([
      [keyId, 401, 0],
      [keyId, 401, 0],
    ])
  })

  test("requests beyond the rate are logged as refused", async () => {
    const { ask, logged } = await logging({ tiers: "0=1/-/-", tier: 0 })
    for (let n = 0; n < 3; n++) await ask("POST /v1/check", { body: { domain: "gmail.com" } })
    expect((await logged({ statusClass: 4 })).map(({ code }) => code)).toEqual(["rate_limited"])
  })

  test("checks and reports on the dashboard, under no key; a problem there has its code", async () => {
    const house = await logging({ tier: 0, tiers: "0=-/-/2" })
    const { post } = await signedInBrowser(house)
    await post("/dashboard/try", { asked: "jane@mailinator.com", policy: "b2b" })
    await post("/dashboard/feedback", { subject: "granite-works.com", expected: "personal" })
    await post("/dashboard/try", { asked: "gmail.com", policy: "b2b" })
    await post("/dashboard/try", { asked: "", policy: "b2b" })
    expect(
      (await house.logged()).map(row => [row.keyId, row.route, row.status, row.code, row.domain, row.units]),
    ).toEqual([
      ["site", "POST /dashboard/try", 200, null, "mailinator.com", 1],
      ["site", "POST /dashboard/feedback", 303, null, null, 1],
      ["site", "POST /dashboard/try", 429, "quota_exceeded", null, 0],
    ])
  })

  test("requests without a key of an account, and pages, are in no log", async () => {
    const house = await logging()
    const { get } = await signedInBrowser(house)
    await get("/dashboard/usage")
    await house.ask("POST /v1/check", { key: null, body: { email: "business@mailkind.test" } })
    await house.ask("POST /v1/check", { key: "svc_live_nothing", body: { domain: "gmail.com" } })
    await house.ask("GET /v1/health")
    await house.customers.requestLog?.flush()
    expect(await house.store.all("SELECT * FROM request_log")).toEqual([])
  })
})

describe("whose it is", () => {
  test("each account has its own requests, which go with it", async () => {
    const { ask, changes, logged, store } = await logging()
    const other = await anotherAccount(changes)
    await ask("POST /v1/check", { body: { domain: "gmail.com" } })
    await ask("POST /v1/check", { key: other.key, body: { domain: "mit.edu" } })
    expect((await logged()).map(({ domain }) => domain)).toEqual(["gmail.com"])
    expect((await logged({}, other.accountId)).map(({ domain }) => domain)).toEqual(["mit.edu"])
    await removeAccount(changes, other.accountId)
    expect(await store.all("SELECT account_id FROM request_log")).toHaveLength(1)
  })
})
