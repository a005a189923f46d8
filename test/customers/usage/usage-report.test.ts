import { describe, expect } from "bun:test"
import { FormatRegistry } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import fc from "fast-check"
import { CATEGORY_NAMES } from "../../../src/contract/categories.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import { Usage } from "../../../src/contract/usage-schema.ts"
import type { SqlValue, Store } from "../../../src/customers/store/core/store.ts"
import {
  CATEGORY_MEASURES,
  MEASURES,
  RECOMMENDATION_MEASURES,
  type UsageEvent,
} from "../../../src/customers/usage/measures.ts"
import { USAGE_METER_BOUNDS, UsageMeter } from "../../../src/customers/usage/usage-meter.ts"
import { createUsageReport, type ReportedAccount, type ReportedKey } from "../../../src/customers/usage/usage-report.ts"
import { settled } from "../../support/time.ts"
import { test } from "../engines.ts"
import { DAY_MS, meteredStore, NOON, PUBLISHABLE, SECRET, TODAY, verdict } from "./metered-store.ts"

for (const format of ["date", "date-time"])
  if (!FormatRegistry.Has(format)) FormatRegistry.Set(format, text => new Date(text).toISOString().startsWith(text))

const LIMITED = { requestsPerSecond: 5, inFlight: 5, unitsPerDay: 1000, batchItemsMax: 100, keysMax: 5 }
const ACCOUNT = { tier: 0, limits: LIMITED, keys: [], readRemaining: async () => null }
const UNLIMITED = { requestsPerSecond: null, inFlight: null, unitsPerDay: null, batchItemsMax: null, keysMax: null }

const ZERO = {
  used: 0,
  checks: 0,
  deep_checks: 0,
  batch_items: 0,
  feedback: 0,
  dry_runs: 0,
  rate_limited: 0,
  by_category: Object.fromEntries(CATEGORY_NAMES.map(category => [category, 0])),
  by_recommendation: { allow: 0, review: 0, block: 0 },
}

const CHECK = { kind: "check", verdict: verdict("business") } as const
const DEEP = { kind: "deep_check", verdict: verdict("invalid", "block") } as const
const REFUSAL = { kind: "rate_limited" } as const

const key = (id: string, more: Partial<ReportedKey> = {}): ReportedKey => ({
  id,
  name: `name of ${id}`,
  last4: "abcd",
  lastUsedAtMs: null,
  revokedAtMs: null,
  ...more,
})

/** A metered store and its report, which is validated against the schema each time. */
async function reported() {
  const metered = await meteredStore()
  const report = async (more: Partial<ReportedAccount> = {}) => {
    const { accountId, meter, log } = metered
    const body = await createUsageReport(meter, log.clock, { accountId, ...ACCOUNT, ...more })
    expect([...Value.Errors(Usage, JSON.parse(JSON.stringify(body)))]).toEqual([])
    return body
  }
  return { ...metered, report }
}

test("an account without usage has a report full of zeros", async () => {
  const { report } = await reported()
  const body = await report()
  expect<unknown>(body.today).toEqual({
    date: "2026-03-10",
    remaining: 1000,
    lost: 0,
    publishable: { used: 0, remaining: LIMITS.publishableUnitsPerDay },
    resets_at: "2026-03-11T00:00:00.000Z",
    ...ZERO,
    by_key: [],
  })
  expect(body.daily).toHaveLength(LIMITS.usageDays)
  for (const { date: _, ...day } of body.daily) expect<unknown>(day).toEqual(ZERO)
})

test("the schema refuses other members and negative counts", async () => {
  const body = await (await reported()).report()
  const { today } = body
  const others = [
    { ...body, account: "acc_1" },
    { ...body, limits: { ...body.limits, seats: 1 } },
    { ...body, today: { ...today, email: "jane@example.com" } },
    { ...body, today: { ...today, by_category: { ...today.by_category, charity: 1 } } },
    { ...body, today: { ...today, by_category: { business: 1 } } },
    { ...body, today: { ...today, by_recommendation: { allow: 1 } } },
    { ...body, today: { ...today, used: -1 } },
  ]
  expect(others.filter(other => Value.Check(Usage, other))).toEqual([])
})

test("tier and limits are those of the account, and null is unlimited", async () => {
  const { meter, accountId, report } = await reported()
  meter.record(accountId, SECRET, DEEP)
  expect(await report({ tier: 3 })).toMatchObject({
    tier: 3,
    limits: { requests_per_second: 5, in_flight: 5, daily_units: 1000, batch_items: 100, keys: 5 },
    today: { used: 5, remaining: 995 },
  })
  expect(await report({ tier: 4, limits: UNLIMITED })).toMatchObject({
    tier: 4,
    limits: { requests_per_second: null, in_flight: null, daily_units: null, batch_items: null, keys: null },
    today: { used: 5, remaining: null },
  })
})

test("nothing remains when the whole quota, or more of it than there is now, was used", async () => {
  const { meter, accountId, report } = await reported()
  meter.record(accountId, SECRET, DEEP)
  const remaining = async (unitsPerDay: number) =>
    (await report({ limits: { ...LIMITED, unitsPerDay } })).today.remaining
  expect([await remaining(6), await remaining(5), await remaining(4)]).toEqual([1, 0, 0])
})

describe("what is counted", () => {
  test("all usage of today is in `today` and in the first of the days, written or not", async () => {
    const { meter, accountId, report, flushAll } = await reported()
    const did = async () => {
      meter.record(accountId, SECRET, CHECK)
      meter.record(accountId, SECRET, DEEP)
      meter.record(accountId, SECRET, {
        kind: "batch",
        verdicts: [verdict("business"), verdict("relay", "review"), verdict("relay", "review")],
      })
      meter.record(accountId, SECRET, REFUSAL)
    }
    await did()
    await flushAll()
    await did()
    const twice = {
      used: 18,
      checks: 2,
      deep_checks: 2,
      batch_items: 6,
      feedback: 0,
      dry_runs: 0,
      rate_limited: 2,
      by_category: { ...ZERO.by_category, business: 4, invalid: 2, relay: 4 },
      by_recommendation: { allow: 4, review: 4, block: 2 },
    }
    const body = await report()
    expect<unknown>(body.today).toMatchObject({ ...twice, remaining: 982 })
    expect<unknown>(body.daily[0]).toEqual({ date: "2026-03-10", ...twice })
    await flushAll()
    expect(await report()).toEqual(body)
  })

  test("each category of a check is counted where its name is", async () => {
    const { meter, accountId, report } = await reported()
    for (const [at, category] of CATEGORY_NAMES.entries())
      for (let n = 0; n <= at; n++) meter.record(accountId, SECRET, { kind: "check", verdict: verdict(category) })
    expect<unknown>((await report()).today.by_category).toEqual(
      Object.fromEntries(CATEGORY_NAMES.map((category, at) => [category, at + 1])),
    )
  })

  test("publishable keys add to the counts, but not to the account's units", async () => {
    const { meter, accountId, report, flushAll } = await reported()
    meter.record(accountId, PUBLISHABLE, CHECK)
    await flushAll()
    meter.record(accountId, PUBLISHABLE, CHECK)
    meter.record(accountId, SECRET, CHECK)
    const { today, daily } = await report({ keys: [key("key_p"), key("key_s")] })
    expect(today).toMatchObject({ used: 1, remaining: 999, checks: 3, by_category: { business: 3 } })
    expect(today.by_key.map(({ id, used }) => [id, used])).toEqual([
      ["key_p", 2],
      ["key_s", 1],
    ])
    expect(daily[0]).toMatchObject({ used: 1, checks: 3 })
  })

  test("counts that another process wrote are included, and those of another account are not", async () => {
    const { path, meter, account, accountId, report } = await reported()
    const there = await meteredStore({}, path)
    const other = await account("other@example.com")
    meter.record(other, SECRET, CHECK)
    there.meter.record(accountId, SECRET, CHECK)
    there.meter.record(other, SECRET, CHECK)
    await there.flushAll()
    expect((await report()).today.checks).toBe(1)
  })

  test("a report during flushes has every event once, whichever comes first", async () => {
    const { meter, accountId, report, flushAll } = await reported()
    for (let round = 1; round <= 5; round++) {
      meter.record(accountId, SECRET, CHECK)
      const [before, , after] = await Promise.all([report(), flushAll(), report()])
      expect([before.today.checks, after.today.checks]).toEqual([round, round])
    }
  })

  test("a report during a flush whose commit is acknowledged late has every event once", async () => {
    const { store, log, accountId } = await meteredStore()
    const gate = Promise.withResolvers<void>()
    const transaction: Store["transaction"] = async work => {
      const answer = await store.transaction(work)
      await gate.promise
      return answer
    }
    const meter = new UsageMeter({ ...store, transaction }, log.clock, () => undefined, USAGE_METER_BOUNDS)
    meter.record(accountId, SECRET, CHECK)
    const flushed = meter.flush()
    const report = createUsageReport(meter, log.clock, { accountId, ...ACCOUNT })
    await settled()
    gate.resolve()
    expect(await flushed).toBe(4)
    expect((await report).today.checks).toBe(1)
  })

  test("a report whose rows come late includes events recorded meanwhile, once, although a flush was requested", async () => {
    const { store, log, accountId } = await meteredStore()
    const all: Store["all"] = async <Row>(sql: string, params?: readonly SqlValue[]) => {
      const rows = await store.all<Row>(sql, params)
      meter.record(accountId, SECRET, CHECK)
      void meter.flush()
      await settled()
      return rows
    }
    const meter = new UsageMeter({ ...store, all }, log.clock, () => undefined, USAGE_METER_BOUNDS)
    const report = await createUsageReport(meter, log.clock, { accountId, ...ACCOUNT })
    expect(report.today.checks).toBe(2)
    expect(await meter.flush()).toBe(0)
  })

  test("a report is of the day of its request, however long it waits", async () => {
    const { meter, log, accountId, report } = await reported()
    meter.record(accountId, SECRET, CHECK)
    const requested = report()
    log.now += DAY_MS
    meter.record(accountId, SECRET, CHECK)
    expect((await requested).today).toMatchObject({ date: "2026-03-10", checks: 1 })
    expect((await report()).daily.slice(0, 2).map(({ checks }) => checks)).toEqual([1, 1])
  })

  test("`used` is the sum of what cost units, whatever was done, by keys of either kind", async () => {
    // A kind that is added has to be here, and what it costs in the report.
    const kinds: { readonly [K in UsageEvent["kind"]]: fc.Arbitrary<UsageEvent> } = {
      check: fc.constant(CHECK),
      deep_check: fc.constant(DEEP),
      batch: fc
        .array(fc.constantFrom(...CATEGORY_NAMES), { maxLength: 5 })
        .map(categories => ({ kind: "batch", verdicts: categories.map(name => verdict(name)) })),
      feedback: fc.constant({ kind: "feedback" }),
      dry_run: fc.constant({ kind: "dry_run" }),
      rate_limited: fc.constant(REFUSAL),
    }
    const { meter, accountId, report } = await reported()
    const done = fc.array(fc.tuple(fc.constantFrom(SECRET, PUBLISHABLE), fc.oneof(...Object.values(kinds))), {
      maxLength: 20,
    })
    await fc.assert(
      fc.asyncProperty(done, async events => {
        const before = (await report()).today
        for (const [by, event] of events) meter.record(accountId, by, event)
        const { today, daily } = await report()
        const { used, publishable, checks, deep_checks: deep, batch_items: items, feedback, dry_runs: dryRuns } = today
        expect(used + publishable.used).toBe(checks + LIMITS.deepCheckUnits * deep + items + feedback + dryRuns)
        expect(daily[0]).toMatchObject({ used, feedback, dry_runs: dryRuns })
        const isUnits = events.some(
          ([, event]) => event.kind !== "rate_limited" && !(event.kind === "batch" && event.verdicts.length === 0),
        )
        expect(used + publishable.used > before.used + before.publishable.used).toBe(isUnits)
      }),
      { numRuns: 40 },
    )
  })

  test("a measure that a later version wrote changes nothing", async () => {
    const { store, accountId, report } = await reported()
    const before = await report()
    const known: string[] = [
      ...Object.keys(MEASURES),
      ...Object.values(CATEGORY_MEASURES),
      ...Object.values(RECOMMENDATION_MEASURES),
    ]
    for (const [at, measure] of ["webhooks", "category:charity", "recommendation:ask", "toString"].entries()) {
      expect(known).not.toContain(measure)
      await store.run("INSERT INTO usage VALUES ($1, 'key_s', $2, $3, 7)", [accountId, TODAY - at, measure])
    }
    expect(await report()).toEqual(before)
  })

  test("large counts are exact", async () => {
    const { store, meter, accountId, report } = await reported()
    const add = (day: number, keyId: string) =>
      store.run("INSERT INTO usage VALUES ($1, $2, $3, 'used', $4)", [accountId, keyId, day, 2 ** 51])
    for (const day of [TODAY, TODAY - 1]) for (const keyId of ["key_s", "key_t"]) await add(day, keyId)
    meter.record(accountId, SECRET, CHECK)
    const { today, daily } = await report()
    expect([today.used, today.remaining, daily[1]?.used]).toEqual([2 ** 52 + 1, 0, 2 ** 52])
  })
})

describe("days", () => {
  test("the thirty days are the last ones, newest first, today included, each with its own counts", async () => {
    const { meter, log, accountId, report, flushAll } = await reported()
    for (let ago = LIMITS.usageDays + 1; ago >= -1; ago--) {
      log.now = NOON - ago * DAY_MS
      for (let n = 0; n < ago + 2; n++) meter.record(accountId, ago % 2 === 0 ? SECRET : PUBLISHABLE, CHECK)
      // Every third day is left in memory.
      if (ago % 3 !== 0) await flushAll()
    }
    log.now = NOON
    const { today, daily } = await report()
    expect(today).toMatchObject({ date: "2026-03-10", used: 2, checks: 2 })
    expect(daily.map(({ date, used, checks }) => ({ date, used, checks }))).toEqual(
      Array.from({ length: 30 }, (_, ago) => ({
        date: new Date(NOON - ago * DAY_MS).toISOString().slice(0, 10),
        used: ago % 2 === 0 ? ago + 2 : 0,
        checks: ago + 2,
      })),
    )
  })

  test("at midnight UTC today is empty, yesterday is the second of the days, and the next reset is a day away", async () => {
    const { meter, log, accountId, report } = await reported()
    log.now = (TODAY + 1) * DAY_MS - 1
    meter.record(accountId, SECRET, DEEP)
    const before = await report()
    expect(before.today).toMatchObject({ date: "2026-03-10", used: 5, resets_at: "2026-03-11T00:00:00.000Z" })
    log.now++
    const after = await report({ keys: [key("key_s"), key("key_r", { revokedAtMs: NOON })] })
    expect(after.today).toMatchObject({
      date: "2026-03-11",
      used: 0,
      remaining: 1000,
      resets_at: "2026-03-12T00:00:00.000Z",
      by_key: [{ id: "key_s", used: 0 }],
    })
    expect<unknown>(after.daily[1]).toEqual(before.daily[0])
  })

  test("a clock that was set back over midnight shows the old day again, and then the new one as it was", async () => {
    const { meter, log, accountId, report } = await reported()
    meter.record(accountId, SECRET, CHECK)
    log.now += DAY_MS
    meter.record(accountId, SECRET, CHECK)
    meter.record(accountId, SECRET, CHECK)
    log.now -= DAY_MS
    meter.record(accountId, SECRET, CHECK)
    expect((await report()).today.checks).toBe(2)
    log.now += DAY_MS
    expect((await report()).daily.slice(0, 2).map(({ checks }) => checks)).toEqual([2, 2])
  })
})

describe("keys", () => {
  test("active keys are listed used or not, revoked ones only when used today, in the given order", async () => {
    const { meter, log, accountId, report, flushAll } = await reported()
    const use = (id: string) => meter.record(accountId, { id, kind: "secret" }, CHECK)
    log.now -= DAY_MS
    use("key_gone")
    log.now += DAY_MS
    use("key_old")
    use("key_used")
    await flushAll()
    use("key_used")
    const { today } = await report({
      keys: [
        key("key_idle"),
        key("key_used", { lastUsedAtMs: NOON }),
        key("key_old", { revokedAtMs: NOON, lastUsedAtMs: NOON - 1 }),
        key("key_gone", { revokedAtMs: NOON - DAY_MS, lastUsedAtMs: NOON - DAY_MS }),
      ],
    })
    const facts = (id: string) => ({ id, name: `name of ${id}`, last4: "abcd" })
    expect(today.by_key).toEqual([
      { ...facts("key_idle"), used: 0, last_used_at: null },
      { ...facts("key_used"), used: 2, last_used_at: "2026-03-10T12:00:00.000Z" },
      { ...facts("key_old"), used: 1, last_used_at: "2026-03-10T11:59:59.999Z" },
    ])
  })

  test("a revoked key whose usage of today is not written yet is listed", async () => {
    const { meter, accountId, report } = await reported()
    meter.record(accountId, SECRET, CHECK)
    const { today } = await report({ keys: [key("key_s", { revokedAtMs: NOON })] })
    expect(today.by_key).toMatchObject([{ id: "key_s", used: 1 }])
  })
})
