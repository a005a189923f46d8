import { describe, expect, test } from "bun:test"
import { removeAccount } from "../../../src/customers/accounts/accounts.ts"
import {
  isRequestLogOn,
  switchRequestLogOff,
  switchRequestLogOn,
} from "../../../src/customers/request-log/request-log-switch.ts"
import { SERVER_ACTOR } from "../../../src/customers/store/change-log/actor.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { CHECK, loggedStore, NOON, recordIn } from "./logged-store.ts"

describe("writing", () => {
  test("a request is read as it was logged, once it is written", async () => {
    const { record, requestLog, read } = await loggedStore()
    record()
    expect(await read()).toEqual([])
    await requestLog.flush()
    const { categoryCounts: _, recommendationCounts: __, ...check } = CHECK
    expect(await read()).toEqual([
      { ...check, atMs: NOON, seq: expect.any(Number), categoryCounts: [], skippedCount: 0 },
    ])
  })

  test("a refused request has its code and no verdict, and a batch has its counts", async () => {
    const { log, record, requestLog, read } = await loggedStore()
    const none = { category: null, recommendation: null, reason: null, domain: null }
    record({ ...none, status: 429, code: "rate_limited", units: 0 })
    log.now++
    record({
      ...none,
      units: 3,
      categoryCounts: new Map([
        ["business", 2],
        ["unknown", 1],
      ]),
      recommendationCounts: new Map([["allow", 3]]),
    })
    await requestLog.flush()
    expect(await read()).toMatchObject([
      {
        units: 3,
        categoryCounts: [
          ["business", 2],
          ["unknown", 1],
        ],
        recommendation: null,
        recommendationCounts: [["allow", 3]],
        code: null,
      },
      { ...none, status: 429, code: "rate_limited", units: 0, categoryCounts: [] },
    ])
  })

  test("requests of one millisecond keep their order, and two processes write beside each other", async () => {
    const here = await loggedStore()
    const there = await loggedStore({}, here.path)
    for (const domain of ["a.com", "b.com", "c.com"]) here.record({ domain })
    recordIn(there.requestLog, { accountId: here.accountId, ...CHECK, domain: "d.com" })
    await Promise.all([here.requestLog.flush(), there.requestLog.flush()])
    const domains = (await here.read()).map(({ domain }) => domain)
    expect(domains.filter(domain => domain !== "d.com")).toEqual(["c.com", "b.com", "a.com"])
    expect(domains).toHaveLength(4)
  })

  test("nothing is written without requests, and each request once however many flushes run", async () => {
    const { record, requestLog, rowCount, accountId } = await loggedStore()
    expect((await requestLog.flush()).size).toBe(0)
    record()
    record()
    const written = await Promise.all([requestLog.flush(), requestLog.flush()])
    await requestLog.flush()
    expect(written[0]?.get(accountId)).toBe(2)
    expect(await rowCount()).toBe(2)
  })

  test("when the store fails everything is kept, and written once when it works again", async () => {
    const { store, record, requestLog, rowCount } = await loggedStore()
    record()
    await store.run("ALTER TABLE request_log RENAME TO hidden")
    expect(await outcomeOf(requestLog.flush())).toThrow()
    record()
    expect(await outcomeOf(requestLog.flush())).toThrow()
    expect(requestLog.stats().unwritten).toBe(2)
    await store.run("ALTER TABLE hidden RENAME TO request_log")
    await requestLog.flush()
    await requestLog.flush()
    expect([await rowCount(), requestLog.stats().unwritten]).toEqual([2, 0])
  })

  test("a clean stop writes everything, also what came while a write ran or failed", async () => {
    const { store, record, requestLog, rowCount } = await loggedStore()
    record()
    const running = requestLog.flush()
    record()
    await requestLog.flushAll()
    await running
    expect(await rowCount()).toBe(2)
    record()
    await store.run("ALTER TABLE request_log RENAME TO hidden")
    expect(await outcomeOf(requestLog.flushAll())).toThrow()
    record()
    await store.run("ALTER TABLE hidden RENAME TO request_log")
    await requestLog.flushAll()
    expect(await rowCount()).toBe(4)
  })

  test("a deleted account takes its log with it, and blocks no other in the same write", async () => {
    const { log, account, accountId, record, requestLog, rowCount, read } = await loggedStore()
    const gone = await account("gone@example.com")
    record({ accountId: gone })
    record()
    await requestLog.flush()
    record({ accountId: gone })
    record()
    await removeAccount(log, gone)
    expect(await read({}, gone)).toEqual([])
    await requestLog.flush()
    expect([await rowCount(), (await read({}, accountId)).length]).toEqual([2, 2])
  })
})

describe("the bounds of memory", () => {
  test("what does not fit is dropped and counted, and the row before the gap says how many", async () => {
    const { record, requestLog, read } = await loggedStore({ rowsMax: 3, accountRowsMin: 1, totalMax: 5 })
    for (let n = 0; n < 10; n++) record({ units: n })
    expect(requestLog.stats()).toEqual({ unwritten: 3, dropped: 7 })
    await requestLog.flush()
    expect((await read()).map(({ units, skippedCount }) => [units, skippedCount])).toEqual([
      [2, 7],
      [1, 0],
      [0, 0],
    ])
    record({ units: 10 })
    await requestLog.flush()
    expect((await read())[0]).toMatchObject({ units: 10, skippedCount: 0 })
  })

  test("a busy account does not keep the requests of others out, and all of them together stay bounded", async () => {
    const { account, record, requestLog, read } = await loggedStore({ rowsMax: 3, accountRowsMin: 2, totalMax: 6 })
    const others = [await account("a@x.com"), await account("b@x.com"), await account("c@x.com")]
    for (let n = 0; n < 9; n++) record()
    for (const accountId of others) for (let n = 0; n < 4; n++) record({ accountId })
    expect(requestLog.stats()).toEqual({ unwritten: 6, dropped: 15 })
    await requestLog.flush()
    expect(await Promise.all(others.map(async id => (await read({}, id)).length))).toEqual([2, 1, 0])
  })

  test("while nothing can be written the buffer grows no further", async () => {
    const { store, record, requestLog } = await loggedStore({ rowsMax: 3, accountRowsMin: 1, totalMax: 4 })
    await store.run("ALTER TABLE request_log RENAME TO hidden")
    for (let round = 0; round < 5; round++) {
      for (let n = 0; n < 5; n++) record()
      await outcomeOf(requestLog.flush())
    }
    expect(requestLog.stats()).toEqual({ unwritten: 6, dropped: 19 })
  })
})

describe("the switch", () => {
  test("a log is on from the start; off deletes it at once, and what is not written yet is never written", async () => {
    const { store, accountId, record, requestLog, rowCount, read } = await loggedStore()
    expect(await isRequestLogOn(store, accountId)).toBe(true)
    record()
    await requestLog.flush()
    record()
    await switchRequestLogOff({ store, clock: () => 0, actor: SERVER_ACTOR }, accountId)
    expect([await rowCount(), await isRequestLogOn(store, accountId)]).toEqual([0, false])
    record()
    await requestLog.flush()
    expect([await rowCount(), await read()]).toEqual([0, []])
  })

  test("on again logs what comes from then on, in every process, and nothing from before", async () => {
    const here = await loggedStore()
    const there = await loggedStore({}, here.path)
    const { store, log, accountId } = here
    await switchRequestLogOff({ store, clock: () => 0, actor: SERVER_ACTOR }, accountId)
    recordIn(there.requestLog, { accountId, ...CHECK, domain: "before.com" })
    log.now = there.log.now = NOON + 1
    await switchRequestLogOn({ store, clock: log.clock, actor: SERVER_ACTOR }, accountId)
    recordIn(there.requestLog, { accountId, ...CHECK, domain: "after.com" })
    await there.requestLog.flush()
    expect((await here.read()).map(({ domain }) => domain)).toEqual(["after.com"])
    log.now = NOON + 5
    await switchRequestLogOn({ store, clock: log.clock, actor: SERVER_ACTOR }, accountId)
    expect(await here.read()).toHaveLength(1)
  })

  test("one account's switch leaves others as they are", async () => {
    const { store, account, accountId, record, requestLog, read } = await loggedStore()
    const other = await account("other@example.com")
    record()
    record({ accountId: other })
    await requestLog.flush()
    await switchRequestLogOff({ store, clock: () => 0, actor: SERVER_ACTOR }, other)
    expect([(await read()).length, await isRequestLogOn(store, accountId)]).toEqual([1, true])
    expect(await isRequestLogOn(store, "acc_of_nobody")).toBe(false)
  })
})
