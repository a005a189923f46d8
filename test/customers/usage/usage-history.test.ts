import { expect } from "bun:test"
import { CATEGORY_NAMES } from "../../../src/contract/categories.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import { RECOMMENDATIONS } from "../../../src/contract/policies.ts"
import { SITE_KEY } from "../../../src/customers/usage/measures.ts"
import { checkedCount, readUsageHistory, sumFigures, unitCount } from "../../../src/customers/usage/usage-history.ts"
import { test } from "../engines.ts"
import { DAY_MS, meteredStore, NOON, PUBLISHABLE, SECRET, TODAY, verdict } from "./metered-store.ts"

type Metered = Awaited<ReturnType<typeof meteredStore>>

const DAYS = LIMITS.usageDaysKept

const historyOf = ({ meter, log, accountId }: Metered, days: number = DAYS) =>
  readUsageHistory(meter, log.clock, accountId, days)

const NOTHING = sumFigures([])

test("what each key did on each day is counted once, whether it is written, being written or pending", async () => {
  const metered = await meteredStore()
  const { meter, log, accountId, flushAll } = metered
  log.now = NOON - DAY_MS
  meter.record(accountId, SECRET, { kind: "check", verdict: verdict("relay") })
  log.now = NOON
  meter.record(accountId, SECRET, { kind: "deep_check", verdict: verdict("business") })
  meter.record(accountId, PUBLISHABLE, { kind: "check", verdict: verdict("personal") })
  await flushAll()
  meter.record(accountId, SECRET, {
    kind: "batch",
    verdicts: [verdict("invalid", "block"), verdict("invalid", "block")],
  })
  const flushing = meter.flush()
  meter.record(accountId, SITE_KEY, { kind: "check", verdict: verdict("personal") })
  meter.record(accountId, SITE_KEY, { kind: "rate_limited" })
  const facts = await historyOf(metered)
  const by = (counts: object, recommendations: object = { allow: 1 }) => ({
    byCategory: { ...NOTHING.byCategory, ...counts },
    byRecommendation: { ...NOTHING.byRecommendation, ...recommendations },
  })
  expect(facts).toEqual([
    { ...NOTHING, day: TODAY - 1, keyId: SECRET.id, accountUnits: 1, checks: 1, ...by({ relay: 1 }) },
    { ...NOTHING, day: TODAY, keyId: PUBLISHABLE.id, publishableUnits: 1, checks: 1, ...by({ personal: 1 }) },
    {
      ...NOTHING,
      day: TODAY,
      keyId: SECRET.id,
      accountUnits: LIMITS.deepCheckUnits + 2,
      deepChecks: 1,
      batchItems: 2,
      ...by({ business: 1, invalid: 2 }, { allow: 1, block: 2 }),
    },
    {
      ...NOTHING,
      day: TODAY,
      keyId: SITE_KEY.id,
      accountUnits: 1,
      checks: 1,
      rateLimited: 1,
      ...by({ personal: 1 }),
    },
  ])
  await flushing
  await flushAll()
  expect(await historyOf(metered)).toEqual(facts)
})

test("sums by day, by key, by category and by recommendation are equal, whatever was done", async () => {
  const metered = await meteredStore()
  const { meter, log, accountId } = metered
  const keys = [SECRET, PUBLISHABLE, SITE_KEY, { id: "key_b", kind: "secret" } as const]
  for (let turn = 0; turn < 200; turn++) {
    log.now = NOON - (turn % 13) * DAY_MS
    const found = verdict(CATEGORY_NAMES[turn % CATEGORY_NAMES.length] ?? "unknown", RECOMMENDATIONS[turn % 3])
    const key = keys[turn % keys.length] ?? SECRET
    const kinds = [
      { kind: "check", verdict: found },
      { kind: "deep_check", verdict: found },
      { kind: "batch", verdicts: [found, verdict("business")] },
      { kind: "feedback" },
      { kind: "rate_limited" },
    ] as const
    meter.record(accountId, key, kinds[turn % kinds.length] ?? { kind: "feedback" })
  }
  log.now = NOON
  const history = await historyOf(metered)
  const all = sumFigures(history)
  for (const groups of [Map.groupBy(history, ({ day }) => String(day)), Map.groupBy(history, ({ keyId }) => keyId)])
    expect(sumFigures([...groups.values()].map(sumFigures))).toEqual(all)
  expect(CATEGORY_NAMES.reduce((sum, name) => sum + all.byCategory[name], 0)).toBe(checkedCount(all))
  expect(RECOMMENDATIONS.reduce((sum, name) => sum + all.byRecommendation[name], 0)).toBe(checkedCount(all))
  expect(unitCount(all)).toBe(all.accountUnits + all.publishableUnits)
  expect(unitCount(all)).toBeGreaterThan(checkedCount(all))
})

test("the days are those that are asked for, neither earlier nor later ones", async () => {
  const metered = await meteredStore()
  const { meter, log, accountId, flushAll } = metered
  for (const ago of [DAYS, DAYS - 1, 7, 6, 0, -1]) {
    log.now = NOON - ago * DAY_MS
    meter.record(accountId, SECRET, { kind: "check", verdict: verdict("business") })
    if (ago > 0) await flushAll()
  }
  log.now = NOON
  expect((await historyOf(metered)).map(({ day }) => TODAY - day)).toEqual([DAYS - 1, 7, 6, 0])
  expect((await historyOf(metered, 7)).map(({ day }) => TODAY - day)).toEqual([6, 0])
})

test("the usage of other accounts is not included", async () => {
  const metered = await meteredStore()
  const other = await metered.account("other@example.com")
  metered.meter.record(other, SECRET, { kind: "check", verdict: verdict("business") })
  expect(await historyOf(metered)).toEqual([])
  await metered.flushAll()
  expect(await historyOf(metered)).toEqual([])
})
