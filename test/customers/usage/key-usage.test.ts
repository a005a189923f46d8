import { expect } from "bun:test"
import { LIMITS } from "../../../src/contract/limits.ts"
import { SITE_KEY } from "../../../src/customers/usage/measures.ts"
import { readKeyUsages } from "../../../src/customers/usage/usage-report.ts"
import { test } from "../engines.ts"
import { DAY_MS, meteredStore, NOON, PUBLISHABLE, SECRET } from "./metered-store.ts"

type Metered = Awaited<ReturnType<typeof meteredStore>>

const usages = ({ meter, log, accountId }: Metered) => readKeyUsages(meter, log.clock, accountId)

const NOTHING = { used: 0, checks: 0, deepChecks: 0, batchItems: 0, rateLimited: 0 }

test("the usage of each key is counted once, the busiest first, whether it is written, being written or pending", async () => {
  const metered = await meteredStore()
  const { meter, accountId, flushAll } = metered
  meter.record(accountId, SECRET, { kind: "deep_check", category: "business" })
  meter.record(accountId, PUBLISHABLE, { kind: "check", category: "personal" })
  await flushAll()
  meter.record(accountId, SECRET, { kind: "batch", categories: ["invalid", "invalid"] })
  const flushing = meter.flush()
  meter.record(accountId, SITE_KEY, { kind: "check", category: "personal" })
  meter.record(accountId, SITE_KEY, { kind: "rate_limited" })
  const facts = await usages(metered)
  expect(facts).toEqual([
    { ...NOTHING, keyId: SECRET.id, used: LIMITS.deepCheckUnits + 2, deepChecks: 1, batchItems: 2 },
    { ...NOTHING, keyId: PUBLISHABLE.id, used: 1, checks: 1 },
    { ...NOTHING, keyId: SITE_KEY.id, used: 1, checks: 1, rateLimited: 1 },
  ])
  await flushing
  await flushAll()
  expect(await usages(metered)).toEqual(facts)
})

test("the days are those of a report, neither earlier nor later ones", async () => {
  const metered = await meteredStore()
  const { meter, log, accountId, flushAll } = metered
  for (const ago of [LIMITS.usageDays, LIMITS.usageDays - 1, 0, -1]) {
    log.now = NOON - ago * DAY_MS
    meter.record(accountId, SECRET, { kind: "check", category: "business" })
    if (ago > 0) await flushAll()
  }
  log.now = NOON
  expect((await usages(metered)).map(({ used }) => used)).toEqual([2])
})

test("the usage of other accounts is not included", async () => {
  const metered = await meteredStore()
  const other = await metered.account("other@example.com")
  metered.meter.record(other, SECRET, { kind: "check", category: "business" })
  expect(await usages(metered)).toEqual([])
  await metered.flushAll()
  expect(await usages(metered)).toEqual([])
})
