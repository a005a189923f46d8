import { describe, expect } from "bun:test"
import { LIMITS } from "../../../src/contract/limits.ts"
import { createRequestLogPruning, PRUNED_REQUESTS_MAX } from "../../../src/customers/request-log/request-log-pruning.ts"
import { switchRequestLogOff } from "../../../src/customers/request-log/request-log-switch.ts"
import {
  findRequest,
  insertRequests,
  READ_REQUESTS,
  readRequests,
} from "../../../src/customers/request-log/request-rows.ts"
import { SERVER_ACTOR } from "../../../src/customers/store/change-log/actor.ts"
import { trustedTime } from "../../support/clock.ts"
import { engineNow, test } from "../engines.ts"
import { ALL, CHECK, loggedStore, NOON } from "./logged-store.ts"

const DAY_MS = 86_400_000

type Logged = Awaited<ReturnType<typeof loggedStore>>

/** Writes so many requests of an account, one a millisecond, the last at `lastMs`. */
async function write({ store, accountId }: Logged, count: number, lastMs = NOON, of = accountId): Promise<void> {
  for (let first = 0; first < count; first += 5000) {
    const rows = Array.from({ length: Math.min(5000, count - first) }, (_, n) => {
      const at = lastMs - first - n
      return { request: { accountId: of, ...CHECK }, atMs: at, seq: at, skippedCount: 0 }
    })
    await store.transaction(inner => insertRequests(inner, rows))
  }
}

/** How many turns of the event loop, in which requests would be handled, the work takes. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work()
  isOver = true
  return turns
}

describe("filters", () => {
  const REQUESTS = [
    { keyId: "key_a", domain: "acme.com" },
    { keyId: "key_b", domain: "mail-acme.org", category: "personal" },
    { route: "GET /v1/check", status: 400, code: "invalid_input", category: null, domain: null },
    { status: 503, code: "overloaded", category: null, domain: null },
    {
      route: "POST /v1/check/batch",
      category: null,
      domain: null,
      categoryCounts: new Map([["personal", 2]] as const),
    },
    { domain: "100%_real.com" },
    { status: 202, route: "POST /v1/feedback", category: null, domain: null },
  ]

  test.each([
    ["nothing", {}, [6, 5, 4, 3, 2, 1, 0]],
    ["a key", { keyId: "key_b" }, [1]],
    ["a key of nobody", { keyId: "' OR 1=1" }, []],
    ["a class of statuses", { statusClass: 2 }, [6, 5, 4, 1, 0]],
    ["refusals", { statusClass: 4 }, [2]],
    ["failures", { statusClass: 5 }, [3]],
    ["a category, of items of batches too", { category: "personal" }, [4, 1]],
    ["a category that no request has", { category: "relay" }, []],
    ["a route", { route: "GET /v1/check" }, [2]],
    ["a part of a domain", { domainPart: "acme" }, [1, 0]],
    ["signs that stand for others in patterns, as themselves", { domainPart: "%_" }, [5]],
    ["an exclamation mark", { domainPart: "!" }, []],
    ["from an instant on", { fromMs: NOON + 5 }, [6, 5]],
    ["before an instant", { toMs: NOON + 1 }, [0]],
    ["several things at once", { domainPart: "acme", category: "business", statusClass: 2, fromMs: NOON }, [0]],
  ])("%s", async (_, filter, expected) => {
    const { log, record, requestLog, read } = await loggedStore()
    for (const [units, request] of REQUESTS.entries()) {
      log.now = NOON + units
      record({ ...request, units })
    }
    await requestLog.flush()
    expect((await read(filter as object)).map(({ units }) => units)).toEqual([...(expected as number[])])
  })
})

describe("pages", () => {
  test("cursors pass every request once, also those of the same millisecond", async () => {
    const { store, log, accountId, record, requestLog } = await loggedStore()
    for (let n = 0; n < 25; n++) {
      log.now = NOON + Math.floor(n / 10)
      record({ units: n })
    }
    await requestLog.flush()
    const seen: number[] = []
    let before = null
    for (;;) {
      const rows = await readRequests(store, accountId, log.now, { filter: ALL, before, countMax: 4 })
      if (rows.length === 0) break
      seen.push(...rows.map(({ units }) => units))
      before = rows.at(-1) ?? null
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => 24 - n))
  })

  test("a request is found by its place in its own account alone", async () => {
    const { store, log, account, accountId, record, requestLog, read } = await loggedStore()
    record()
    await requestLog.flush()
    const [row] = await read()
    if (row === undefined) throw new Error("a row was written")
    expect(await findRequest(store, accountId, log.now, row)).toEqual(row)
    expect(await findRequest(store, await account("other@example.com"), log.now, row)).toBeNull()
    expect(await findRequest(store, accountId, log.now, { ...row, seq: row.seq + 1 })).toBeNull()
    expect(await findRequest(store, accountId, log.now + LIMITS.requestLogDays * DAY_MS + 1, row)).toBeNull()
  })
})

test("what has neither a verdict nor a problem is left out where outcomes are asked for, however much of it is newer", async () => {
  const { requestLog, record, read } = await loggedStore()
  const plain = { category: null, recommendation: null, reason: null, domain: null }
  record()
  record({ ...plain, route: "POST /v1/check/batch", categoryCounts: new Map([["personal", 2]]) })
  record({ ...plain, status: 429, code: "rate_limited" })
  for (let count = 0; count < 60; count++) record({ ...plain, route: "GET /v1/jobs/:id" })
  await requestLog.flush()
  const rows = await read({ hasOutcome: true }, undefined, 8)
  expect(rows.map(({ code, category }) => code ?? category)).toEqual(["rate_limited", null, "business"])
})

describe("what is kept", () => {
  test("the last requests up to the limit are seen, older ones neither in the list nor by their place", async () => {
    const logged = await loggedStore()
    await write(logged, LIMITS.requestLogRowsMax + 2)
    const rows = await logged.read()
    expect(rows).toHaveLength(LIMITS.requestLogRowsMax)
    const tooOld = NOON - LIMITS.requestLogRowsMax
    expect(rows.at(-1)?.atMs).toBe(tooOld + 1)
    expect(await findRequest(logged.store, logged.accountId, NOON, { atMs: tooOld, seq: tooOld })).toBeNull()
  })

  test("what is older than the days is not seen, to the millisecond, and is deleted by the next visit", async () => {
    const logged = await loggedStore()
    const { store, log, read, rowCount } = logged
    await write(logged, 2)
    log.now = NOON + LIMITS.requestLogDays * DAY_MS
    expect(await read()).toHaveLength(1)
    const pruning = createRequestLogPruning(store, trustedTime(log.clock), true)
    expect(await pruning.visitNext()).toBe(1)
    log.now++
    expect(await read()).toEqual([])
    expect([await pruning.visitNext(), await pruning.visitNext(), await rowCount()]).toEqual([1, 0, 0])
    expect(pruning.isRoundOver()).toBe(true)
  })

  test("deletion is done in bounded steps, visits every account, and starts again at the first", async () => {
    const logged = await loggedStore()
    const { store, log, account, rowCount } = logged
    const other = await account("other@example.com")
    await write(logged, PRUNED_REQUESTS_MAX + 5)
    await write(logged, 3, NOON, other)
    log.now = NOON + (LIMITS.requestLogDays + 1) * DAY_MS
    const { visitNext } = createRequestLogPruning(store, trustedTime(log.clock), true)
    let steps = 0
    while ((await rowCount()) > 0) {
      expect(await visitNext()).toBeLessThanOrEqual(PRUNED_REQUESTS_MAX + 5)
      if (++steps > 5) throw new Error("it never ends")
    }
    expect(steps).toBe(2)
    log.now = NOON
    await write(logged, 1)
    log.now += (LIMITS.requestLogDays + 1) * DAY_MS
    expect((await visitNext()) + (await visitNext())).toBe(1)
  })

  test("what has arrived is handled between the steps of a long write, and of a deletion", async () => {
    const logged = await loggedStore()
    for (let count = 0; count < 300; count++) logged.record()
    expect(await turnsDuring(() => logged.requestLog.flush())).toBeGreaterThanOrEqual(4)
    await write(logged, 1000)
    logged.log.now = NOON + (LIMITS.requestLogDays + 1) * DAY_MS
    const { visitNext } = createRequestLogPruning(logged.store, trustedTime(logged.log.clock), true)
    expect(await turnsDuring(visitNext)).toBeGreaterThanOrEqual(4)
    expect(await logged.rowCount()).toBe(0)
  })

  test("a busy account is trimmed to its last requests as it writes", async () => {
    const logged = await loggedStore()
    const { store, log, accountId, rowCount, read } = logged
    await write(logged, LIMITS.requestLogRowsMax + 1500)
    const before = await read()
    const { trimBusy } = createRequestLogPruning(store, trustedTime(log.clock), true)
    expect(await trimBusy(new Map([[accountId, 500]]))).toBe(0)
    expect(await trimBusy(new Map([[accountId, 500]]))).toBe(1500)
    expect(await rowCount()).toBe(LIMITS.requestLogRowsMax)
    expect(await read()).toEqual(before)
    expect(await trimBusy(new Map())).toBe(0)
  })

  test("rows of a log that was switched off, or of an operator who keeps none, are deleted", async () => {
    const logged = await loggedStore()
    const { store, log, account, accountId, rowCount } = logged
    const other = await account("other@example.com")
    await write(logged, 3, NOON, other)
    await write(logged, 3)
    await store.run("UPDATE accounts SET request_log_from_ms = $2 WHERE id = $1", [accountId, NOON])
    expect(await createRequestLogPruning(store, trustedTime(log.clock), true).visitNext()).toBe(2)
    await switchRequestLogOff({ store, clock: () => 0, actor: SERVER_ACTOR }, accountId)
    expect(await rowCount()).toBe(3)
    expect(await createRequestLogPruning(store, trustedTime(log.clock), false).visitNext()).toBe(3)
  })
})

/** The steps by which the engine reads a page with this filter, as it tells them. */
async function planOf({ store, accountId }: Logged, text: string): Promise<string> {
  const params = [
    ...[accountId, 0, 0, 0, NOON, NOON, 0, NOON, "key_1", "", 200],
    ...["business", "%business:%", "%acme%", "", 1, 51],
  ]
  const [explain, column] =
    engineNow() === "sqlite" ? (["EXPLAIN QUERY PLAN", "detail"] as const) : (["EXPLAIN", "QUERY PLAN"] as const)
  const rows = await store.all<Record<string, unknown>>(`${explain} ${text}`, params)
  return rows.map(row => String(row[column])).join("\n")
}

test("among 200 000 rows of 25 accounts a page is read by the account's index, and no table of requests is scanned", async () => {
  const logged = await loggedStore()
  const { store, account, accountId, read } = logged
  const ids = [accountId]
  while (ids.length < 25) ids.push(await account(`a${ids.length}@example.com`))
  for (const id of ids) await write(logged, 8000, NOON, id)
  await store.run("ANALYZE")
  const plan = await planOf(logged, READ_REQUESTS)
  expect(plan).toMatch(/SEARCH request_log USING INDEX \w+ \(account_id=\? AND |(?:using|on) request_log_pkey/)
  expect(plan).not.toMatch(/TEMP B-TREE|SCAN request_log|Seq Scan on request_log/)
  expect(await read({ domainPart: "acme" }, ids[12] ?? "", 51)).toHaveLength(51)
}, 120_000)
