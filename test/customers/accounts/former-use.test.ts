import { expect, test } from "bun:test"
import { createAccount, insertAccount, removeAccount } from "../../../src/customers/accounts/accounts.ts"
import { pruneFormerUse } from "../../../src/customers/accounts/former-use.ts"
import { UNIT_POOLS, type UnitPool, unitSubject } from "../../../src/customers/accounts/unit-subjects.ts"
import { UNIT_QUOTA_BOUNDS, UnitQuota } from "../../../src/customers/quota/units/unit-quota.ts"
import { USAGE_METER_BOUNDS, UsageMeter } from "../../../src/customers/usage/usage-meter.ts"
import { trustedAt } from "../../support/clock.ts"
import { newAccount, random, tempLog, tempStore } from "../temp-store.ts"

const DAY_MS = 86_400_000
const NOON = 20_000 * DAY_MS + DAY_MS / 2
const EMAIL = "jane@example.com"

/** A store with an account that used units of each pool; the counts of what is left for it and for others. */
async function used(counts: Readonly<Record<UnitPool, number>>) {
  const store = await tempStore()
  const log = tempLog(store)
  log.now = NOON
  const accountId = await newAccount(log, EMAIL)
  const units = new UnitQuota(store, log.clock, UNIT_QUOTA_BOUNDS, error => {
    throw error
  })
  for (const pool of UNIT_POOLS)
    if (counts[pool] > 0) await units.take(unitSubject(accountId, pool), counts[pool], 1000)
  const leftOf = async (id: string) => {
    const left: Record<string, number | null> = {}
    for (const pool of UNIT_POOLS) left[pool] = await units.readRemaining(unitSubject(id, pool), 1000)
    return left
  }
  const remove = async (id: string) => {
    await units.releaseAll()
    await removeAccount(log, id)
  }
  return { store, log, accountId, units, leftOf, remove }
}

test("whoever deletes an account and creates it anew on the same day goes on with what it used, however often", async () => {
  const { log, accountId, units, leftOf, remove } = await used({ account: 700, publishable: 30, reports: 4 })
  let id = accountId
  for (let time = 1; time <= 3; time++) {
    await remove(id)
    id = await newAccount(log, ["JANE@example.com", "jane@EXAMPLE.com", EMAIL][time % 3])
    expect(await leftOf(id)).toEqual({ account: 300 - (time - 1) * 10, publishable: 970, reports: 996 })
    expect((await units.take(id, 301 - (time - 1) * 10, 1000)).isTaken).toBe(false)
    expect((await units.take(id, 10, 1000)).isTaken).toBe(true)
  }
  const usage = new UsageMeter(log.store, log.clock, () => undefined, USAGE_METER_BOUNDS)
  const told = await usage.counts(id, 20_000, 20_000)
  const sumOf = (measure: string) =>
    told.filter(count => count.measure === measure).reduce((sum, { count }) => sum + count, 0)
  expect([sumOf("used"), sumOf("publishable_used")]).toEqual([720, 30])
})

test("what an account without limits used is kept by its usage", async () => {
  const { log, accountId, leftOf, remove, store } = await used({ account: 0, publishable: 0, reports: 0 })
  const meter = new UsageMeter(store, log.clock, () => undefined, USAGE_METER_BOUNDS)
  for (const key of ["a", "b"])
    for (let at = 0; at < 20; at++)
      meter.record(
        accountId,
        { id: key, kind: "secret" },
        { kind: "deep_check", verdict: { category: "unknown", recommendation: "review" } },
      )
  while ((await meter.flush()) > 0);
  await remove(accountId)
  expect(await leftOf(await newAccount(log, EMAIL))).toEqual({ account: 800, publishable: 1000, reports: 1000 })
})

test("others and the next day have all of their units, and nothing of the day before is kept", async () => {
  const { store, log, accountId, leftOf, remove } = await used({ account: 700, publishable: 30, reports: 4 })
  await remove(accountId)
  const whole = { account: 1000, publishable: 1000, reports: 1000 }
  for (const email of ["jane+x@example.com", "john@example.com", "jane@example.org"])
    expect(await leftOf(await newAccount(log, email))).toEqual(whole)
  expect(await pruneFormerUse(store, trustedAt(log.now))).toBe(0)
  const kept = async () =>
    await store.all<{ subject: string }>("SELECT subject FROM units WHERE subject LIKE 'former%'")
  expect(await kept()).toHaveLength(3)
  expect(JSON.stringify(await store.all("SELECT * FROM units"))).not.toContain("jane")
  log.now = 20_001 * DAY_MS
  expect(await pruneFormerUse(store, trustedAt(log.now))).toBe(3)
  expect(await kept()).toEqual([])
  expect(await leftOf(await newAccount(log, EMAIL))).toEqual(whole)
})

test("without a clearing of the day before, an account on the next day has all of its units too", async () => {
  const { log, accountId, leftOf, remove } = await used({ account: 700, publishable: 30, reports: 4 })
  await remove(accountId)
  log.now += DAY_MS
  expect(await leftOf(await newAccount(log, EMAIL))).toEqual({ account: 1000, publishable: 1000, reports: 1000 })
})

test("it is given with the creation of the account, or not at all", async () => {
  const { store, log, accountId, leftOf, remove } = await used({ account: 700, publishable: 0, reports: 0 })
  await remove(accountId)
  const failing = store.transaction(async inner => {
    await insertAccount(inner, "acc_lost", log.now, { email: EMAIL, tier: 0, termsVersion: null })
    throw new Error("not created")
  })
  expect(await failing.catch((error: unknown) => String(error))).toContain("not created")
  const creation = await createAccount(log, random, { email: EMAIL, tier: 0, termsVersion: null })
  if (creation.kind !== "created") throw new Error(creation.kind)
  expect(await leftOf(creation.account.id)).toMatchObject({ account: 300 })
})
