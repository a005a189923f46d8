import { describe, expect } from "bun:test"
import {
  ACCOUNTS_PER_STEP,
  RequestLogBudget,
  TRIMMED_ACCOUNTS_PER_STEP,
} from "../../../src/customers/request-log/request-log-budget.ts"
import { createRequestLogPruning, PRUNED_REQUESTS_MAX } from "../../../src/customers/request-log/request-log-pruning.ts"
import { type RowBytes, readSizes } from "../../../src/customers/request-log/request-log-sizes.ts"
import { switchRequestLogOff } from "../../../src/customers/request-log/request-log-switch.ts"
import { insertRequests, type LoggedRequest } from "../../../src/customers/request-log/request-rows.ts"
import { SERVER_ACTOR } from "../../../src/customers/store/change-log/actor.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { trustedTime } from "../../support/clock.ts"
import { test } from "../engines.ts"
import { CHECK, loggedStore, NOON } from "./logged-store.ts"

/** Every row takes 1,000 bytes, whatever its texts. */
const THOUSAND: RowBytes = { perRow: 1000, perCharacter: 0 }

/** The logs of some accounts, of which each writes one request a millisecond. */
async function logs(...names: string[]) {
  const logged = await loggedStore()
  const ids = new Map<string, string>()
  for (const name of names) ids.set(name, await logged.account(`${name}@example.com`))
  let nowMs = NOON
  const idOf = (name: string): string => ids.get(name) ?? ""
  return {
    ...logged,
    idOf,
    write: async (name: string, count: number, more: Partial<LoggedRequest> = {}): Promise<void> => {
      const rows = Array.from({ length: count }, () => ({
        request: { accountId: idOf(name), ...CHECK, ...more },
        atMs: ++nowMs,
        seq: nowMs,
        skippedCount: 0,
      }))
      await logged.store.transaction(inner => insertRequests(inner, rows))
    },
    countOf: async (name: string): Promise<number> => {
      const sql = "SELECT COUNT(*) AS count FROM request_log WHERE account_id = $1"
      return (await logged.store.one<{ count: number }>(sql, [idOf(name)]))?.count ?? 0
    },
    budget: (bytesMax: number, rowBytes = THOUSAND) =>
      new RequestLogBudget({ store: logged.store, stopwatch: () => 0, rowBytes, bytesMax }),
  }
}

/** Steps as many times as a budget needs to find out that it is exceeded, and to trim everybody. */
async function settle(budget: RequestLogBudget): Promise<void> {
  await budget.step()
  while ((await budget.step()) > 0);
}

/** The sizes of the logs of accounts, in the order of their names. */
async function sizesOf(store: Store, ids: readonly string[]): Promise<readonly unknown[]> {
  const sizes = await readSizes(store, "", 100)
  return ids.map(id => {
    const size = sizes.find(one => one.id === id)
    return size === undefined ? null : [size.rowCount, size.textLength]
  })
}

describe("the budget of all request logs", () => {
  test("holds while all write: they are never more than it, and no less than four fifths of it afterwards", async () => {
    const { write, rowCount, budget } = await logs("a", "b", "c")
    const one = budget(100_000)
    const counts: number[] = []
    for (let second = 0; second < 30; second++) {
      for (const name of ["a", "b", "c"]) await write(name, second % 3)
      await one.step()
      counts.push(await rowCount())
    }
    expect(Math.max(...counts)).toBeLessThanOrEqual(100)
    expect(Math.min(...counts.slice(counts.findIndex(count => count > 95)))).toBeGreaterThanOrEqual(80)
  })

  test("is kept by those with the longest logs, who keep their latest requests; who has less than the share loses nothing", async () => {
    const { write, countOf, budget, read, idOf } = await logs("flood", "large", "small")
    await write("small", 5)
    await write("large", 60)
    await write("flood", 100)
    const latest = await read({}, idOf("flood"), 40)
    await settle(budget(100_000))
    // A share of 42.5 and 5 are 90 in all, and shares are 2 % apart.
    expect([await countOf("small"), await countOf("large"), await countOf("flood")]).toEqual([5, 42, 42])
    expect(await read({}, idOf("flood"), 40)).toEqual(latest)
  })

  test("deletes nothing while the logs are within it", async () => {
    const { write, rowCount, budget } = await logs("a")
    await write("a", 95)
    await settle(budget(100_000))
    expect(await rowCount()).toBe(95)
    await write("a", 1)
    await settle(budget(100_000))
    expect(await rowCount()).toBeLessThan(91)
  })

  test("counts the bytes of long texts too", async () => {
    const { write, countOf, budget } = await logs("long", "short")
    const texts = { keyId: "", route: "", category: null, recommendation: null, reason: null }
    await write("long", 40, { ...texts, domain: "d".repeat(200) })
    await write("short", 40, { ...texts, domain: "d" })
    await settle(budget(4040, { perRow: 0, perCharacter: 1 }))
    expect([await countOf("long"), await countOf("short")]).toEqual([17, 40])
  })

  test("is kept by processes that do the same at the same time as by one", async () => {
    const { write, rowCount, budget } = await logs("a", "b")
    await write("a", 300)
    await write("b", 20)
    const processes = [budget(100_000), budget(100_000), budget(100_000)]
    for (let step = 0; step < 4; step++) await Promise.all(processes.map(one => one.step()))
    expect(await rowCount()).toBeGreaterThanOrEqual(85)
    expect(await rowCount()).toBeLessThanOrEqual(90)
  })

  test("is looked after in steps: so many accounts, trimmed accounts and deleted rows at a time", async () => {
    const { store, write, budget, idOf } = await logs("a")
    await write("a", PRUNED_REQUESTS_MAX + 600)
    const one = budget(1_000_000)
    expect([await one.step(), await one.step(), await one.step()]).toEqual([0, 1707, 0])
    await write("a", 2000)
    const tight = budget(100_000)
    expect([await tight.step(), await tight.step(), await tight.step()]).toEqual([0, PRUNED_REQUESTS_MAX, 804])
    const many = Array.from({ length: ACCOUNTS_PER_STEP }, (_, n) => `id_${n}`)
    for (const id of many) {
      await store.run("INSERT INTO accounts (id, email, tier, created_at_ms) VALUES ($1, $1, 0, 0)", [id])
      await store.run("INSERT INTO request_log_sizes (account_id, row_count, text_length) VALUES ($1, 1, 1)", [id])
    }
    const wide = budget(10_000_000)
    await wide.step()
    expect(wide.total()).toBeNull()
    await wide.step()
    expect(wide.total()).toEqual({ rowCount: 589, bytes: 589_000 })
    const none = budget(1000)
    await none.step()
    await none.step()
    // The sizes of these accounts are wrong, and are corrected when they are trimmed.
    expect(await none.step()).toBe(89)
    const left = await store.one<{ count: number }>(
      "SELECT COUNT(*) AS count FROM request_log_sizes WHERE row_count > 0",
    )
    expect(left?.count).toBe(501 - TRIMMED_ACCOUNTS_PER_STEP)
    // With each hundred accounts that write, one step more.
    const writers = (count: number) => new Map(Array.from({ length: count }, (_, n) => [`${idOf("a")}${n}`, 1]))
    const [few, more, idle] = [budget(10_000_000), budget(10_000_000), budget(10_000_000)]
    await Promise.all([few.stepAfter(writers(100)), more.stepAfter(writers(101)), idle.stepAfter(writers(0))])
    expect([few, more, idle].map(one => one.total()?.rowCount)).toEqual([undefined, 401, undefined])
  })

  test("is told by its metrics as long as this process looks after it", async () => {
    const { store, write } = await logs("a")
    await write("a", 3)
    let nowMs = 0
    const one = new RequestLogBudget({ store, stopwatch: () => nowMs, rowBytes: THOUSAND, bytesMax: 7000 })
    await one.step()
    const told = (): readonly unknown[] => one.samples().map(([, value]) => value)
    expect(told()).toEqual([3, 3000, 7000])
    nowMs = 60_001
    expect(told()).toEqual([0, 0, 7000])
  })
})

describe("the sizes of logs", () => {
  test("are those of the rows, when they are written, trimmed, switched off and deleted with their account", async () => {
    const { store, log, write, idOf } = await logs("a", "b", "c")
    await write("a", 3, { domain: "1234" })
    await write("b", 2, { domain: "1234" })
    await write("a", 1, { domain: "1234" })
    const textLength = "key_1POST /v1/checkbusinessallowbusiness_mail1234".length
    const ids = ["a", "b"].map(idOf)
    expect(await sizesOf(store, ids)).toEqual([
      [4, 4 * textLength],
      [2, 2 * textLength],
    ])
    await switchRequestLogOff({ store, clock: log.clock, actor: SERVER_ACTOR }, idOf("b"))
    await write("b", 2)
    expect(await sizesOf(store, ids)).toEqual([[4, 4 * textLength], null])
    await store.run("DELETE FROM accounts WHERE id = $1", [idOf("a")])
    expect(await sizesOf(store, ids)).toEqual([null, null])
  })

  test("that are wrong are corrected by the next visit: of rows that nobody counted, that were counted twice, or are gone", async () => {
    const { store, log, write, idOf } = await logs("a", "b", "c")
    for (const name of ["a", "b", "c"]) await write(name, 4)
    await store.run("DELETE FROM request_log_sizes WHERE account_id = $1", [idOf("a")])
    await store.run("UPDATE request_log_sizes SET row_count = 8, text_length = 800 WHERE account_id = $1", [idOf("b")])
    await store.run("DELETE FROM request_log WHERE account_id = $1", [idOf("c")])
    await createRequestLogPruning(store, trustedTime(log.clock), true).visitNext()
    expect(await sizesOf(store, ["a", "b", "c"].map(idOf))).toEqual([
      [4, 4 * 78],
      [4, 400],
      [0, 0],
    ])
  })
})
