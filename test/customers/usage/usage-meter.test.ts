import { describe, expect } from "bun:test"
import { CATEGORY_NAMES } from "../../../src/contract/categories.ts"
import { removeAccount } from "../../../src/customers/accounts/accounts.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { test } from "../engines.ts"
import { DAY_MS, meteredStore, PUBLISHABLE, SECRET, TODAY, type UsageTableRow, verdict } from "./metered-store.ts"

const CHECK = { kind: "check", verdict: verdict("business") } as const
const DEEP = { kind: "deep_check", verdict: verdict("personal") } as const
const REFUSAL = { kind: "rate_limited" } as const

/** The counts by measure, of all rows. */
const counted = (rows: readonly UsageTableRow[]) => {
  const sums: Record<string, number> = {}
  for (const { measure, count } of rows) sums[measure] = (sums[measure] ?? 0) + count
  return sums
}

describe("what is counted", () => {
  test("a check is one unit and a deep check five, each in its category", async () => {
    const { meter, accountId, rows, flushAll } = await meteredStore()
    meter.record(accountId, SECRET, CHECK)
    meter.record(accountId, SECRET, CHECK)
    meter.record(accountId, SECRET, DEEP)
    await flushAll()
    expect(counted(await rows())).toEqual({
      checks: 2,
      deep_checks: 1,
      used: 7,
      "category:business": 2,
      "category:personal": 1,
      "recommendation:allow": 3,
    })
  })

  test("a batch counts each item once, in its own category", async () => {
    const { meter, accountId, rows, flushAll } = await meteredStore()
    meter.record(accountId, SECRET, {
      kind: "batch",
      verdicts: [...CATEGORY_NAMES.map(name => verdict(name, "block")), verdict("relay")],
    })
    await flushAll()
    expect(counted(await rows())).toEqual({
      batch_items: CATEGORY_NAMES.length + 1,
      used: CATEGORY_NAMES.length + 1,
      ...Object.fromEntries(CATEGORY_NAMES.map(category => [`category:${category}`, category === "relay" ? 2 : 1])),
      "recommendation:block": CATEGORY_NAMES.length,
      "recommendation:allow": 1,
    })
  })

  test("a batch without items that cost units writes nothing", async () => {
    const { meter, accountId, rows } = await meteredStore()
    meter.record(accountId, SECRET, { kind: "batch", verdicts: [] })
    expect(await meter.flush()).toBe(0)
    expect(await rows()).toEqual([])
  })

  test("a refusal is counted and costs nothing", async () => {
    const { meter, accountId, rows, flushAll } = await meteredStore()
    meter.record(accountId, SECRET, REFUSAL)
    await flushAll()
    expect(counted(await rows())).toEqual({ rate_limited: 1 })
  })

  test("units of a publishable key are counted apart from the account's", async () => {
    const { meter, accountId, rows, flushAll } = await meteredStore()
    meter.record(accountId, PUBLISHABLE, CHECK)
    meter.record(accountId, SECRET, CHECK)
    await flushAll()
    expect(await rows()).toMatchObject([
      { key_id: "key_p", measure: "category:business", count: 1 },
      { key_id: "key_p", measure: "checks", count: 1 },
      { key_id: "key_p", measure: "publishable_used", count: 1 },
      { key_id: "key_p", measure: "recommendation:allow", count: 1 },
      { key_id: "key_s", measure: "category:business", count: 1 },
      { key_id: "key_s", measure: "checks", count: 1 },
      { key_id: "key_s", measure: "recommendation:allow", count: 1 },
      { key_id: "key_s", measure: "used", count: 1 },
    ])
  })

  test("accounts and keys are counted each by itself", async () => {
    const { meter, account, accountId, rows, flushAll } = await meteredStore()
    const other = await account("other@example.com")
    meter.record(accountId, SECRET, REFUSAL)
    meter.record(accountId, PUBLISHABLE, REFUSAL)
    meter.record(other, SECRET, REFUSAL)
    meter.record(other, SECRET, REFUSAL)
    await flushAll()
    expect(await rows()).toEqual(
      [
        { account_id: accountId, key_id: "key_p", day: TODAY, measure: "rate_limited", count: 1 },
        { account_id: accountId, key_id: "key_s", day: TODAY, measure: "rate_limited", count: 1 },
        { account_id: other, key_id: "key_s", day: TODAY, measure: "rate_limited", count: 2 },
      ].sort((a, b) => (a.account_id < b.account_id ? -1 : 1)),
    )
  })
})

describe("days", () => {
  test("the last millisecond of a day and the next one are counted on their own days", async () => {
    const { meter, log, accountId, rows, flushAll } = await meteredStore()
    log.now = (TODAY + 1) * DAY_MS - 1
    meter.record(accountId, SECRET, REFUSAL)
    log.now++
    meter.record(accountId, SECRET, REFUSAL)
    await flushAll()
    expect((await rows()).map(({ day, count }) => [day, count])).toEqual([
      [TODAY, 1],
      [TODAY + 1, 1],
    ])
  })

  test("with a clock that is set back over midnight, events count on the day that it shows", async () => {
    const { meter, log, accountId, rows, flushAll } = await meteredStore()
    for (const day of [TODAY, TODAY + 1, TODAY, TODAY - 1, TODAY + 1]) {
      log.now = day * DAY_MS
      meter.record(accountId, SECRET, REFUSAL)
    }
    await flushAll()
    expect((await rows()).map(({ day, count }) => [day, count])).toEqual([
      [TODAY - 1, 1],
      [TODAY, 2],
      [TODAY + 1, 2],
    ])
  })

  test("events recorded before midnight and written after it stay on their day", async () => {
    const { meter, log, accountId, rows, flushAll } = await meteredStore()
    meter.record(accountId, SECRET, REFUSAL)
    log.now += DAY_MS
    await flushAll()
    expect(await rows()).toMatchObject([{ day: TODAY, count: 1 }])
  })
})

describe("flushes", () => {
  test("nothing is written before a flush, which writes everything once", async () => {
    const { meter, accountId, rows } = await meteredStore()
    meter.record(accountId, SECRET, CHECK)
    expect(await rows()).toEqual([])
    expect(await meter.flush()).toBe(4)
    expect(await meter.flush()).toBe(0)
    expect(await rows()).toHaveLength(4)
  })

  test("later counts are added to the stored ones", async () => {
    const { meter, accountId, rows, flushAll } = await meteredStore()
    for (let n = 0; n < 3; n++) {
      meter.record(accountId, SECRET, DEEP)
      await flushAll()
    }
    expect(counted(await rows())).toEqual({
      deep_checks: 3,
      used: 15,
      "category:personal": 3,
      "recommendation:allow": 3,
    })
  })

  test("a flush writes a bounded batch, and the next ones the rest", async () => {
    const { meter, accountId, rows } = await meteredStore({ rowsMax: 3 })
    for (let n = 0; n < 7; n++) meter.record(accountId, { id: `key_${n}`, kind: "secret" }, REFUSAL)
    const written = [await meter.flush(), await meter.flush(), await meter.flush(), await meter.flush()]
    expect(written).toEqual([3, 3, 1, 0])
    expect(counted(await rows())).toEqual({ rate_limited: 7 })
  })

  test("a busy key does not keep the counts of others from being written", async () => {
    const { meter, accountId, account, rows } = await meteredStore({ rowsMax: 1 })
    const quiet = await account("quiet@example.com")
    meter.record(accountId, SECRET, REFUSAL)
    meter.record(quiet, SECRET, REFUSAL)
    for (let n = 0; n < 2; n++) {
      await meter.flush()
      meter.record(accountId, SECRET, REFUSAL)
    }
    expect((await rows()).filter(row => row.account_id === quiet)).toMatchObject([{ count: 1 }])
  })

  test("concurrent flushes, and events during them, count everything once", async () => {
    const { meter, accountId, rows, flushAll } = await meteredStore({ rowsMax: 2 })
    const flushing = Array.from({ length: 5 }, () => {
      meter.record(accountId, SECRET, CHECK)
      return meter.flush()
    })
    meter.record(accountId, SECRET, CHECK)
    await Promise.all(flushing)
    await flushAll()
    expect(counted(await rows())).toEqual({
      checks: 6,
      used: 6,
      "category:business": 6,
      "recommendation:allow": 6,
    })
  })

  test("two meters on one store add up", async () => {
    const here = await meteredStore()
    const there = await meteredStore({}, here.path)
    for (let n = 0; n < 3; n++) {
      here.meter.record(here.accountId, SECRET, CHECK)
      there.meter.record(here.accountId, SECRET, DEEP)
      await Promise.all([here.flushAll(), there.flushAll()])
    }
    expect(counted(await here.rows())).toEqual({
      checks: 3,
      deep_checks: 3,
      used: 18,
      "category:business": 3,
      "category:personal": 3,
      "recommendation:allow": 6,
    })
  })

  test("counts beyond 32 bits stay exact", async () => {
    const { store, meter, accountId, rows, flushAll } = await meteredStore()
    meter.record(accountId, SECRET, REFUSAL)
    await flushAll()
    await store.run("UPDATE usage SET count = $1", [2 ** 52])
    meter.record(accountId, SECRET, REFUSAL)
    await flushAll()
    expect(counted(await rows())).toEqual({ rate_limited: 2 ** 52 + 1 })
    expect(await store.one<unknown>("SELECT COUNT(*) AS exact FROM usage WHERE count = $1", [2 ** 52 + 1])).toEqual({
      exact: 1,
    })
  })
})

describe("failures", () => {
  test.each(["statement", "commit"] as const)(
    "when the store fails at a %s, nothing is written and everything is kept, once",
    async at => {
      const { meter, accountId, rows, refuse, accept, flushAll } = await meteredStore()
      meter.record(accountId, SECRET, CHECK)
      await meter.flush()
      const before = await rows()
      meter.record(accountId, SECRET, CHECK)
      await refuse("used", at)
      expect(await outcomeOf(meter.flush())).toThrow()
      expect(await outcomeOf(meter.flush())).toThrow()
      expect(await rows()).toEqual(before)
      meter.record(accountId, SECRET, CHECK)
      await accept()
      await flushAll()
      expect(counted(await rows())).toEqual({
        checks: 3,
        used: 3,
        "category:business": 3,
        "recommendation:allow": 3,
      })
    },
  )

  test("a deleted account blocks no other in its batch, and its counts are dropped", async () => {
    const { log, store, meter, accountId, account, rows, flushAll } = await meteredStore()
    const removed = await account("removed@example.com")
    meter.record(removed, SECRET, CHECK)
    meter.record(accountId, SECRET, REFUSAL)
    meter.record("acc_of_nobody", SECRET, CHECK)
    await removeAccount({ ...log, store }, removed)
    await flushAll()
    expect(await rows()).toMatchObject([{ account_id: accountId, measure: "rate_limited", count: 1 }])
    expect(await meter.counts(removed, TODAY, TODAY)).toEqual([])
  })
})

describe("the bound of memory", () => {
  test("a flush is requested when the bound is reached, and once until there is room again", async () => {
    const { meter, accountId, askedCount, flushAll, rows } = await meteredStore({ countersMax: 4 })
    const note = (n: number) => meter.record(accountId, { id: `key_${n}`, kind: "secret" }, REFUSAL)
    for (let n = 0; n < 3; n++) note(n)
    note(0)
    expect(askedCount()).toBe(0)
    note(3)
    expect(askedCount()).toBe(1)
    for (let n = 4; n < 20; n++) note(n)
    expect(askedCount()).toBe(1)
    await flushAll()
    for (let n = 0; n < 4; n++) note(n)
    expect(askedCount()).toBe(2)
    await flushAll()
    expect(counted(await rows())).toEqual({ rate_limited: 25 })
  })

  test("a flush that fails, or leaves too much, is not requested again and again", async () => {
    const { meter, accountId, askedCount, refuse, accept, flushAll } = await meteredStore({
      countersMax: 3,
      rowsMax: 1,
    })
    const note = (n: number) => meter.record(accountId, { id: `key_${n}`, kind: "secret" }, REFUSAL)
    for (let n = 0; n < 5; n++) note(n)
    await refuse("rate_limited")
    expect(await outcomeOf(meter.flush())).toThrow()
    note(6)
    await accept()
    await meter.flush()
    note(7)
    expect(askedCount()).toBe(1)
    await flushAll()
    for (let n = 0; n < 3; n++) note(n)
    expect(askedCount()).toBe(2)
  })
})
