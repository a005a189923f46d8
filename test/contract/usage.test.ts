import { describe, expect, test } from "bun:test"
import { Value } from "@sinclair/typebox/value"
import { CATEGORY_NAMES, type Category } from "../../src/contract/categories.ts"
import { LIMITS } from "../../src/contract/limits.ts"
import { TIERS } from "../../src/contract/tiers.ts"
import { Usage } from "../../src/contract/usage-schema.ts"
import { revokeKey } from "../../src/customers/keys/keys.ts"
import { testApp } from "../support/app.ts"
import { deepProbeStub } from "../support/deep-probe-stub.ts"
import { anotherAccount } from "./another-account.ts"

type Harness = Awaited<ReturnType<typeof testApp>>

const DAY_MS = 86_400_000
const PAGE = "https://shop.example"

async function usageOf({ ask }: Harness, key?: string): Promise<Usage> {
  const { status, body } = await ask("GET /v1/usage", key === undefined ? {} : { key })
  expect(status).toBe(200)
  expect([...Value.Errors(Usage, body)]).toEqual([])
  return body as Usage // checked in the line before
}

const check = ({ ask }: Harness, input: object, more: object = {}) => ask("POST /v1/check", { body: input, ...more })

const categories = (counts: { readonly [C in Category]?: number } = {}) => ({
  ...Object.fromEntries(CATEGORY_NAMES.map(category => [category, 0])),
  ...counts,
})

const NOTHING = {
  used: 0,
  checks: 0,
  deep_checks: 0,
  batch_items: 0,
  feedback: 0,
  dry_runs: 0,
  rate_limited: 0,
  by_category: categories(),
  by_recommendation: { allow: 0, review: 0, block: 0 },
}

describe("200", () => {
  test("`remaining` is what a check finds, in each pool of units, and units that a process took with it are `lost`", async () => {
    const harness = await testApp({ tier: 1, tiers: "1=-/-/20" })
    const { accountId, keyId, store } = harness
    await store.run("UPDATE keys SET units_per_day = 18 WHERE id = $1", [keyId])
    harness.customers.keys.invalidateAll()
    const day = Date.parse("2026-01-01") / DAY_MS
    // Leases of a process that was killed.
    for (const [subject, leased] of [
      [accountId, 15],
      [keyId, 14],
      [`${accountId}/publishable`, 990],
    ] as const)
      await store.run("INSERT INTO units (subject, day, leased) VALUES ($1, $2, $3)", [subject, day, leased])
    const told = async () => {
      const { used, remaining, lost, publishable, by_key: byKey } = (await usageOf(harness)).today
      return { used, remaining, lost, publishable, ofKey: byKey[0]?.remaining }
    }
    const publishable = { used: 0, remaining: LIMITS.publishableUnitsPerDay - 990 }
    expect(await told()).toEqual({ used: 0, remaining: 5, lost: 15, publishable, ofKey: 4 })
    const statuses: number[] = []
    for (let at = 0; at < 5; at++) statuses.push((await check(harness, { domain: "gmail.com" })).status)
    expect(statuses).toEqual([200, 200, 200, 200, 429])
    expect(await told()).toEqual({ used: 4, remaining: 1, lost: 15, publishable, ofKey: 0 })
  })

  test("an account that did nothing has a report of nothings", async () => {
    const harness = await testApp({ tier: 1 })
    const { body, headers } = await harness.ask("GET /v1/usage")
    expect(body).toEqual({
      tier: 1,
      limits: { requests_per_second: 20, in_flight: 20, daily_units: 10_000, batch_items: 100, keys: 5 },
      today: {
        date: "2026-01-01",
        remaining: 10_000,
        lost: 0,
        publishable: { used: 0, remaining: LIMITS.publishableUnitsPerDay },
        resets_at: "2026-01-02T00:00:00.000Z",
        ...NOTHING,
        by_key: [
          {
            id: harness.keyId,
            name: expect.any(String),
            last4: harness.key.slice(-4),
            used: 0,
            last_used_at: "2026-01-01T00:00:00.000Z",
          },
        ],
      },
      daily: Array.from({ length: 30 }, (_, ago) => ({
        date: new Date(Date.UTC(2026, 0, 1 - ago)).toISOString().slice(0, 10),
        ...NOTHING,
      })),
    })
    expect(headers.get("content-type")).toBe("application/json")
    expect(headers.get("cache-control")).toBe("no-store")
    expect(headers.get("ratelimit")).toBe('"second";r=20;t=1, "day";r=10000;t=86400')
  })

  test.each(TIERS.map((limits, tier) => [tier, limits] as const))("tier %d has its limits", async (tier, limits) => {
    const { today, ...usage } = await usageOf(await testApp({ tier }))
    expect(usage.tier).toBe(tier)
    expect(usage.limits).toEqual({
      requests_per_second: limits.requestsPerSecond,
      in_flight: limits.inFlight,
      daily_units: limits.unitsPerDay,
      batch_items: LIMITS.batchItemsMax,
      keys: LIMITS.keysPerAccountMax,
    })
    expect(today.remaining).toBe(limits.unitsPerDay)
  })

  test("limits that the operator set are told", async () => {
    const harness = await testApp({ tier: 2, tiers: "2=7/-/9" })
    await check(harness, { domain: "stripe.com" })
    const { limits, today } = await usageOf(harness)
    expect(limits).toMatchObject({ requests_per_second: 7, in_flight: null, daily_units: 9 })
    expect(today.remaining).toBe(8)
  })
})

describe("what counts", () => {
  test("checks by their category, plain ones a unit and deep ones five", async () => {
    const harness = await testApp({ tier: 1, deep: () => deepProbeStub })
    await check(harness, { domain: "stripe.com" })
    await harness.ask("GET /v1/check?email=jane%40gmail.com")
    await check(harness, { email: "jane@gmail.com", deep: true })
    await check(harness, { url: "https://mailinator.com/", policy: "strict" })
    await harness.ask("GET /v1/check?domain=mit.edu&deep=1")
    await check(harness, { email: "jane@@acme" })
    const done = {
      used: 14,
      checks: 4,
      deep_checks: 2,
      batch_items: 0,
      feedback: 0,
      dry_runs: 0,
      rate_limited: 0,
      by_category: categories({ business: 1, personal: 2, disposable: 1, education: 1, invalid: 1 }),
      by_recommendation: { allow: 1, review: 3, block: 2 },
    }
    const { today, daily } = await usageOf(harness)
    expect(today).toMatchObject({ ...done, remaining: 10_000 - 14 })
    expect<unknown>(daily[0]).toEqual({ date: "2026-01-01", ...done })
    expect(today.by_key.map(({ id, used }) => [id, used])).toEqual([[harness.keyId, 14]])
  })

  test("the same before it is written and after, and each once", async () => {
    const harness = await testApp()
    for (let count = 0; count < 3; count++) await check(harness, { domain: "stripe.com" })
    const before = await usageOf(harness)
    await harness.customers.usage.flush()
    expect(await usageOf(harness)).toEqual(before)
    await check(harness, { domain: "stripe.com" })
    expect((await usageOf(harness)).today.checks).toBe(4)
  })

  test("no refusal but those for speed, no test address, no look at usage", async () => {
    const harness = await testApp({ tier: 0, tiers: "0=20/5/50" })
    await harness.ask("POST /v1/check", { body: {} })
    await harness.ask("POST /v1/check", { body: "x".repeat(LIMITS.bodyBytesMax + 1) })
    await harness.ask("PUT /v1/check")
    await harness.ask("GET /v1/check?domain=stripe.com", { key: null })
    for (const local of ["business", "error-429", "error-quota", "error-500"])
      await harness.ask(`GET /v1/check?email=${local}@mailkind.test&deep=true`)
    await harness.ask("POST /v1/feedback", { body: { domain: "stripe.com" } })
    await usageOf(harness)
    expect((await usageOf(harness)).today).toMatchObject({ ...NOTHING, remaining: 50 })
  })

  test("a report as one unit, in a count of its own", async () => {
    const harness = await testApp({ tier: 0, tiers: "0=20/5/50" })
    await harness.ask("POST /v1/feedback", { body: { domain: "stripe.com", expected_category: "personal" } })
    const { today } = await usageOf(harness)
    expect(today).toMatchObject({ ...NOTHING, used: 1, feedback: 1, remaining: 49 })
    expect(today.by_key).toMatchObject([{ id: harness.keyId, used: 1 }])
  })

  test("requests that came too fast, each once, on whatever route", async () => {
    const harness = await testApp({ tier: 0, tiers: "0=2/5/50" })
    for (let count = 0; count < 4; count++) await harness.ask("GET /v1/usage")
    for (const line of [
      "GET /v1/usage",
      "GET /v1/check?domain=stripe.com",
      "GET /v1/check?email=business@mailkind.test",
    ])
      expect((await harness.ask(line)).status).toBe(429)
    await harness.ask("POST /v1/feedback", { body: {} })
    await harness.time.tick(1000)
    expect((await usageOf(harness)).today).toMatchObject({ ...NOTHING, rate_limited: 4 })
  })

  test("nothing of what was refused for want of units, and what is left is never less than nothing", async () => {
    const harness = await testApp({ tier: 0, tiers: "0=100/5/7", deep: () => deepProbeStub })
    await check(harness, { domain: "stripe.com", deep: true })
    await check(harness, { domain: "stripe.com" })
    // A deep check costs more than is left; a plain one does not.
    expect((await check(harness, { domain: "stripe.com", deep: true })).body["code"]).toBe("quota_exceeded")
    expect((await usageOf(harness)).today).toMatchObject({ used: 6, remaining: 1, deep_checks: 1, checks: 1 })
    expect((await check(harness, { domain: "stripe.com" })).status).toBe(200)
    expect((await check(harness, { domain: "stripe.com" })).body["code"]).toBe("quota_exceeded")
    const { today } = await usageOf(harness)
    expect(today).toMatchObject({ used: 7, remaining: 0, deep_checks: 1, checks: 2, rate_limited: 0 })
  })

  test("what our own failure cost is given back", async () => {
    const harness = await testApp({ tier: 0, tiers: "0=100/5/7", deep: () => deepProbeStub })
    await check(harness, { domain: "stripe.com" })
    await harness.store.run("ALTER TABLE own_list_entries RENAME TO elsewhere")
    harness.customers.ownLists.invalidateAll()
    for (let count = 0; count < 10; count++)
      expect((await check(harness, { domain: "stripe.com" })).body["code"]).toBe("internal_error")
    await harness.store.run("ALTER TABLE elsewhere RENAME TO own_list_entries")
    expect((await usageOf(harness)).today).toMatchObject({ used: 1, remaining: 6 })
    for (let count = 0; count < 6; count++) expect((await check(harness, { domain: "stripe.com" })).status).toBe(200)
    expect((await check(harness, { domain: "stripe.com" })).body["code"]).toBe("quota_exceeded")
  })
})

test("a deep check that nobody outside has answered costs, and counts as, a plain one", async () => {
  const harness = await testApp({ tier: 0, tiers: "0=100/5/7" })
  const { body } = await check(harness, { domain: "stripe.com", deep: true })
  expect(body["reasons"]).toContain("deep_unavailable")
  expect((await usageOf(harness)).today).toMatchObject({ used: 1, remaining: 6, deep_checks: 0, checks: 1 })
})

describe("by key", () => {
  test("a rotation is seen: traffic moves to the new key, and the old one is told until its day is over", async () => {
    const harness = await testApp({ deep: () => deepProbeStub })
    const { text: next, id: nextId } = await harness.newKey()
    const used = async (key: string) =>
      Object.fromEntries((await usageOf(harness, key)).today.by_key.map(({ id, used }) => [id, used]))
    await check(harness, { domain: "stripe.com" })
    expect(await used(harness.key)).toEqual({ [harness.keyId]: 1, [nextId]: 0 })
    await check(harness, { domain: "stripe.com" }, { key: next })
    await check(harness, { domain: "stripe.com", deep: true }, { key: next })
    expect(await used(harness.key)).toEqual({ [harness.keyId]: 1, [nextId]: 6 })
    await revokeKey(harness.changes, harness.keyId, "owner")
    expect((await harness.ask("GET /v1/usage")).body["code"]).toBe("key_revoked")
    expect(await used(next)).toEqual({ [harness.keyId]: 1, [nextId]: 6 })
    const { today } = await usageOf(harness, next)
    expect(today).toMatchObject({ used: 7, checks: 2, deep_checks: 1 })
    await harness.time.tick(DAY_MS)
    expect(await used(next)).toEqual({ [nextId]: 0 })
    expect((await usageOf(harness, next)).daily[1]).toMatchObject({ used: 7, checks: 2, deep_checks: 1 })
  })

  test("a key that was revoked before it did anything is not told, and one that was never used has no time", async () => {
    const harness = await testApp()
    const unused = await harness.newKey()
    const gone = await harness.newKey()
    await revokeKey(harness.changes, gone.id, "owner")
    const { by_key } = (await usageOf(harness)).today
    expect(by_key.map(({ id, last_used_at }) => [id, last_used_at]).toSorted()).toEqual(
      [
        [harness.keyId, "2026-01-01T00:00:00.000Z"],
        [unused.id, null],
      ].toSorted(),
    )
  })

  test("a page's key has units of its own, and its checks are the account's", async () => {
    const harness = await testApp({ tier: 0 })
    const page = await harness.newKey([PAGE])
    const sent = { key: page.text, headers: { Origin: PAGE } }
    await check(harness, { email: "jane@gmail.com" }, sent)
    // A page gets no deep check, and pays for none.
    await check(harness, { email: "jane@gmail.com", deep: true }, sent)
    const { today } = await usageOf(harness)
    expect(today).toMatchObject({
      used: 0,
      remaining: 1000,
      checks: 2,
      deep_checks: 0,
      by_category: categories({ personal: 2 }),
    })
    expect(today.by_key.find(({ id }) => id === page.id)?.used).toBe(2)
  })

  test("nothing of a key is told but its id, its name and its last four characters", async () => {
    const harness = await testApp()
    const text = JSON.stringify(await usageOf(harness))
    expect(text).toContain(harness.key.slice(-4))
    expect(text).not.toContain(harness.key.slice(-5))
    expect(text).not.toContain("svc_live_")
  })
})

describe("by day", () => {
  test("a day is a UTC day, to the millisecond", async () => {
    const harness = await testApp()
    await harness.time.tick(DAY_MS - 1)
    await check(harness, { domain: "stripe.com" })
    expect((await usageOf(harness)).today).toMatchObject({
      date: "2026-01-01",
      used: 1,
      resets_at: "2026-01-02T00:00:00.000Z",
    })
    await harness.time.tick(1)
    const { today, daily } = await usageOf(harness)
    expect(today).toMatchObject({ date: "2026-01-02", ...NOTHING, resets_at: "2026-01-03T00:00:00.000Z" })
    expect(daily.slice(0, 2).map(({ date, used }) => [date, used])).toEqual([
      ["2026-01-02", 0],
      ["2026-01-01", 1],
    ])
  })

  test("thirty days are told, the newest first, and the thirty-first is not", async () => {
    const harness = await testApp()
    for (let day = 0; day < LIMITS.usageDays; day++) {
      for (let count = 0; count <= day; count++) await check(harness, { domain: "stripe.com" })
      await harness.customers.usage.flush()
      if (day < LIMITS.usageDays - 1) await harness.time.tick(DAY_MS)
    }
    const used = async () => (await usageOf(harness)).daily.map(day => day.used)
    expect(await used()).toEqual(Array.from({ length: 30 }, (_, ago) => 30 - ago))
    await harness.time.tick(DAY_MS)
    expect(await used()).toEqual([0, ...Array.from({ length: 29 }, (_, ago) => 30 - ago)])
    await harness.time.tick(365 * DAY_MS)
    expect(new Set(await used())).toEqual(new Set([0]))
  })
})

test("two accounts do not see each other's usage", async () => {
  const harness = await testApp()
  const { key } = await anotherAccount(harness.changes)
  await check(harness, { domain: "stripe.com" })
  await check(harness, { domain: "gmail.com" }, { key })
  await check(harness, { domain: "gmail.com" }, { key })
  expect((await usageOf(harness)).today).toMatchObject({ used: 1, by_category: categories({ business: 1 }) })
  expect((await usageOf(harness, key)).today).toMatchObject({ used: 2, by_category: categories({ personal: 2 }) })
  expect((await usageOf(harness, key)).today.by_key).toHaveLength(1)
})

test("HEAD has the headers of GET and no body", async () => {
  const { app, key } = await testApp({ tier: 0 })
  const headers = { Authorization: `Bearer ${key}` }
  const got = await app(new Request("http://localhost/v1/usage", { method: "HEAD", headers }))
  expect([got.status, got.headers.get("content-type"), await got.text()]).toEqual([200, "application/json", ""])
  expect(got.headers.has("ratelimit")).toBe(true)
})

test("a query and a body are ignored", async () => {
  const { ask } = await testApp()
  expect((await ask("GET /v1/usage?tier=4&tier=5&days=999")).status).toBe(200)
})

describe("401", () => {
  test("without a key, and with one in the query", async () => {
    const { ask, key } = await testApp()
    for (const line of ["GET /v1/usage", `GET /v1/usage?api_key=${key}`]) {
      const { status, body } = await ask(line, { key: null })
      expect([status, body["code"]]).toEqual([401, "unauthorized"])
    }
  })

  test("with a publishable key, whose refusal says which kind is needed", async () => {
    const { ask, newKey } = await testApp()
    const { text: key } = await newKey([PAGE])
    const { status, body } = await ask("GET /v1/usage", { key, headers: { Origin: PAGE } })
    expect([status, body["code"]]).toEqual([401, "invalid_key"])
    expect(body["detail"]).toContain("secret key")
  })
})
