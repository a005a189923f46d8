import { expect } from "bun:test"
import { LIMITS } from "../../../src/contract/limits.ts"
import { createAccountPruning } from "../../../src/customers/accounts/account-pruning.ts"
import { addCounts, pruneUsageOf } from "../../../src/customers/usage/usage-rows.ts"
import { trustedAt } from "../../support/clock.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { test } from "../engines.ts"
import { tempStore } from "../temp-store.ts"
import { DAY_MS, meteredStore, SECRET, TODAY } from "./metered-store.ts"

const REFUSAL = { kind: "rate_limited" } as const

/** A metered store in which each of `accountCount` accounts did something on each of these days. */
async function used(accountCount: number, days: readonly number[]) {
  const metered = await meteredStore()
  const { account, meter, log, flushAll } = metered
  const ids = [metered.accountId]
  while (ids.length < accountCount) ids.push(await account(`a${ids.length}@example.com`))
  const { now } = log
  for (const day of days) {
    log.now = day * DAY_MS
    for (const id of ids) meter.record(id, SECRET, REFUSAL)
  }
  await flushAll()
  log.now = now
  const daysLeft = async () => [...new Set((await metered.rows()).map(({ day }) => day))].sort((a, b) => a - b)
  return { ...metered, ids, daysLeft }
}

test("processes that write the same rows do not deadlock, and all counts are added", async () => {
  const { store, path, accountId } = await meteredStore()
  const other = await tempStore(path)
  const counters = Array.from({ length: 50 }, (_, at) => ({
    accountId,
    keyId: `key_${at}`,
    day: TODAY,
    measure: "checks" as const,
    count: 1,
  }))
  const orders = [counters, counters.toReversed()]
  const writes = [store, other].flatMap(one =>
    orders.map(order => () => one.transaction(inner => addCounts(inner, order))),
  )
  for (let round = 0; round < 10; round++) await Promise.all(writes.map(write => write()))
  expect(await store.one<unknown>("SELECT SUM(count) AS sum FROM usage")).toEqual({ sum: 50 * 4 * 10 })
})

test("rows of the days that are displayed and of the one before them are kept, older ones are deleted", async () => {
  const oldest = TODAY - LIMITS.usageDaysKept
  const { store, log, daysLeft } = await used(2, [oldest - 400, oldest - 1, oldest, oldest + 1, TODAY, TODAY + 1])
  const prune = createAccountPruning(store, [pruneUsageOf])
  expect(await prune(trustedAt(log.clock()))).toBe(4)
  expect(await daysLeft()).toEqual([oldest, oldest + 1, TODAY, TODAY + 1])
  log.now += DAY_MS / 2 - 1
  await prune(trustedAt(log.clock()))
  await prune(trustedAt(log.clock()))
  expect(await daysLeft()).toContain(oldest)
  log.now += 1
  await prune(trustedAt(log.clock()))
  await prune(trustedAt(log.clock()))
  expect(await daysLeft()).toEqual([oldest + 1, TODAY, TODAY + 1])
})

test("pruning visits all accounts, a bounded number a call, and starts again at the first", async () => {
  const { store, log, meter, ids, rows, flushAll } = await used(5, [TODAY - 100, TODAY])
  const prune = createAccountPruning(store, [pruneUsageOf], 2)
  const turns = [
    await prune(trustedAt(log.clock())),
    await prune(trustedAt(log.clock())),
    await prune(trustedAt(log.clock())),
    await prune(trustedAt(log.clock())),
  ]
  expect(turns).toEqual([2, 2, 1, 0])
  expect(await rows()).toHaveLength(5)
  log.now -= 100 * DAY_MS
  for (const id of ids) meter.record(id, SECRET, REFUSAL)
  await flushAll()
  log.now += 100 * DAY_MS
  expect([
    await prune(trustedAt(log.clock())),
    await prune(trustedAt(log.clock())),
    await prune(trustedAt(log.clock())),
  ]).toEqual([2, 2, 1])
})

test("pruning that fails starts at the same accounts the next time", async () => {
  const { store, log, rows } = await used(2, [TODAY - 100])
  const prune = createAccountPruning(store, [pruneUsageOf], 1)
  await store.run("ALTER TABLE usage RENAME TO hidden")
  expect(await outcomeOf(prune(trustedAt(log.clock())))).toThrow(/no such table|42P01/)
  await store.run("ALTER TABLE hidden RENAME TO usage")
  expect([await prune(trustedAt(log.clock())), await prune(trustedAt(log.clock()))]).toEqual([1, 1])
  expect(await rows()).toEqual([])
})

test("pruning an empty store deletes nothing", async () => {
  const { store, log, accountId } = await meteredStore()
  await store.run("DELETE FROM accounts WHERE id = $1", [accountId])
  const prune = createAccountPruning(store, [pruneUsageOf])
  expect([await prune(trustedAt(log.clock())), await prune(trustedAt(log.clock()))]).toEqual([0, 0])
})
