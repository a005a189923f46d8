import { expect } from "bun:test"
import { SHARED_UNIT_QUOTA_BOUNDS } from "../../../../src/customers/quota/units/unit-quota.ts"
import { outcomeOf } from "../../../support/outcome-of.ts"
import { test } from "../../engines.ts"
import { DAY_MS, isTakenAtOnce, openUnitQuota, TODAY, takenOf, workDone } from "./open-unit-quota.ts"

test("a first request leases a block, and available units are taken synchronously and without the store", async () => {
  const { units, store, leased } = await openUnitQuota()
  const first = units.take("a", 1, 1000)
  expect(first).toBeInstanceOf(Promise)
  expect(await first).toEqual({ isTaken: true, day: TODAY, remaining: 999 })
  expect(await leased("a")).toBe(10)
  expect(store.requests).toBe(1)
  for (let left = 998; left >= 995; left--)
    expect(units.take("a", 1, 1000)).toEqual({ isTaken: true, day: TODAY, remaining: left })
  expect(store.requests).toBe(1)
})

test("with less than half a block available the next one is leased ahead of need", async () => {
  const { units, store, leased } = await openUnitQuota()
  await takenOf(units, "a", 5, 1000)
  expect(store.requests).toBe(1)
  expect(isTakenAtOnce(units.take("a", 1, 1000))).toBe(true)
  await workDone()
  expect(store.requests).toBe(2)
  expect(await leased("a")).toBe(16)
  for (let at = 0; at < 5; at++) expect(isTakenAtOnce(units.take("a", 1, 1000))).toBe(true)
})

test("exactly the quota is admitted, in whatever portions it is requested", async () => {
  const { start, leased } = await openUnitQuota()
  for (const perDay of [1, 2, 7, 99, 100, 101, 1000]) {
    expect(await takenOf(start(), `one by one ${perDay}`, perDay + 10, perDay)).toBe(perDay)
    expect(await leased(`one by one ${perDay}`)).toBe(perDay)
    const crowd = start()
    const answers = await Promise.all(
      Array.from({ length: perDay + 10 }, () => crowd.take(`at once ${perDay}`, 1, perDay)),
    )
    expect(answers.map(({ isTaken }) => isTaken)).toEqual(answers.map((_, at) => at < perDay))
    await crowd.releaseAll()
  }
})

test("processes over one store share a quota, and none is left out", async () => {
  const { start } = await openUnitQuota()
  const servers = [start(), start(), start()]
  const taken = [0, 0, 0]
  for (let round = 0; round < 400; round++)
    for (const [at, units] of servers.entries()) taken[at] = (taken[at] ?? 0) + (await takenOf(units, "a", 1, 1000))
  expect(taken.reduce((sum, count) => sum + count)).toBe(1000)
  for (const count of taken) expect(count).toBeGreaterThan(300)
})

test("subjects do not share", async () => {
  const { units } = await openUnitQuota()
  expect(await takenOf(units, "a", 20, 10)).toBe(10)
  expect(await takenOf(units, "b", 20, 10)).toBe(10)
})

test("a batch beyond the quota is refused as a whole, and smaller ones still get what is left", async () => {
  const { units } = await openUnitQuota()
  expect(await units.take("a", 100, 150)).toMatchObject({ isTaken: true, remaining: 50 })
  expect(await units.take("a", 51, 150)).toMatchObject({ isTaken: false, remaining: 50 })
  expect(await units.take("a", 50, 150)).toMatchObject({ isTaken: true, remaining: 0 })
  expect(await units.take("a", 1, 150)).toMatchObject({ isTaken: false, remaining: 0 })
})

test("waiting requests are settled in their order, by one lease as far as it suffices", async () => {
  const { units, store } = await openUnitQuota()
  const order: string[] = []
  const ask = async (name: string, count: number): Promise<void> => {
    const { isTaken } = await units.take("a", count, 100)
    order.push(`${name} ${isTaken}`)
  }
  await Promise.all([ask("first", 60), ask("too much", 50), ask("small", 1), ask("last", 39), ask("none left", 1)])
  expect(order).toEqual(["first true", "too much false", "small true", "last true", "none left false"])
  expect(store.requests).toBeLessThanOrEqual(3)
})

test("a small request does not overtake a larger one that waits, although units for it are available", async () => {
  const { units } = await openUnitQuota()
  await units.take("a", 1, 1000)
  const order: number[] = []
  const answers = [20, 1, 1].map(async count => {
    const answer = units.take("a", count, 1000)
    expect(answer).toBeInstanceOf(Promise)
    await answer
    order.push(count)
  })
  await Promise.all(answers)
  expect(order).toEqual([20, 1, 1])
})

test("a caller beyond its quota asks the store once a second, not once a request", async () => {
  const { units, store, clock } = await openUnitQuota()
  await takenOf(units, "a", 10, 10)
  expect((await units.take("a", 1, 10)).isTaken).toBe(false)
  const { requests: requested } = store
  clock.tick(999)
  for (let at = 0; at < 100; at++) expect(units.take("a", 1, 10)).toEqual({ isTaken: false, day: TODAY, remaining: 0 })
  expect(store.requests).toBe(requested)
  clock.tick(1)
  expect(await Promise.all([units.take("a", 1, 10), units.take("a", 1, 10)])).toMatchObject([
    { isTaken: false },
    { isTaken: false },
  ])
  expect(store.requests).toBe(requested + 1)
  clock.tick(-1)
  expect((await units.take("a", 1, 10)).isTaken).toBe(false)
  expect(store.requests).toBe(requested + 2)
})

test("the store is read before a refusal, so that units returned by another process are found", async () => {
  const { start, clock } = await openUnitQuota()
  const [here, there] = [start(), start()]
  await takenOf(there, "a", 1, 1000)
  expect(await takenOf(here, "a", 1010, 1000)).toBe(990)
  await there.releaseAll()
  clock.tick(1000)
  expect(await takenOf(here, "a", 1010, 1000)).toBe(9)
})

test("units that are idle for two seconds are returned, and other processes get them", async () => {
  const { start, clock, leased } = await openUnitQuota()
  const [here, there] = [start(), start()]
  await takenOf(here, "a", 1, 1000)
  await here.maintain()
  clock.tick(1_999)
  await here.maintain()
  expect(await leased("a")).toBe(10)
  clock.tick(1)
  await here.maintain()
  expect(await leased("a")).toBe(1)
  expect(await takenOf(there, "a", 1010, 1000)).toBe(999)
})

test("a clock that was set back does not keep idle units from other processes", async () => {
  const { units, clock, leased } = await openUnitQuota()
  await takenOf(units, "a", 1, 1000)
  await units.maintain()
  clock.tick(-1)
  await units.maintain()
  expect(await leased("a")).toBe(1)
})

test("a lease with waiting requests is not idle", async () => {
  const { units, clock, leased, store } = await openUnitQuota()
  await takenOf(units, "a", 1, 1000)
  await units.maintain()
  clock.tick(2000)
  const [taken] = await Promise.all([units.take("a", 20, 1000), units.maintain()])
  expect(taken).toMatchObject({ isTaken: true, remaining: 979 })
  expect(await leased("a")).toBe(21)
  expect(store.requests).toBe(2)
})

test("units in use stay, however often `maintain` runs", async () => {
  const { units, clock, leased, store } = await openUnitQuota()
  await takenOf(units, "a", 1, 100_000)
  for (let second = 0; second < 4; second++) {
    expect(isTakenAtOnce(units.take("a", 1, 100_000))).toBe(true)
    clock.tick(1000)
    await units.maintain()
  }
  expect(await leased("a")).toBe(10)
  expect(store.requests).toBe(1)
})

test("a clean stop returns all unused units, and the next process continues from there", async () => {
  const { start, leased } = await openUnitQuota()
  const first = start()
  await takenOf(first, "a", 123, 1000)
  await takenOf(first, "b", 1, 1000)
  await first.releaseAll()
  expect([await leased("a"), await leased("b")]).toEqual([123, 1])
  await first.releaseAll()
  expect(await takenOf(start(), "a", 1000, 1000)).toBe(877)
})

test("a stop waits for requests that wait for units", async () => {
  const { units, leased } = await openUnitQuota()
  const requested = Array.from({ length: 30 }, () => units.take("a", 1, 1000))
  await units.releaseAll()
  expect((await Promise.all(requested)).filter(({ isTaken }) => isTaken)).toHaveLength(30)
  expect(await leased("a")).toBe(30)
})

test("a crash loses at most a block, and never gives a unit twice", async () => {
  const { start } = await openUnitQuota()
  let taken = 0
  for (let crash = 0; crash < 5; crash++) taken += await takenOf(start(), "a", 50 + crash, 1000)
  taken += await takenOf(start(), "a", 1010, 1000)
  expect(taken).toBeLessThanOrEqual(1000)
  expect(taken).toBeGreaterThanOrEqual(1000 - 5 * 10)
})

test("refunded units can be taken again, whether their lease still exists or not", async () => {
  const { units, leased, clock } = await openUnitQuota()
  expect(await takenOf(units, "a", 10, 10)).toBe(10)
  units.refund("a", 3, TODAY)
  expect(units.remaining("a", 10)).toBe(3)
  expect(await takenOf(units, "a", 10, 10)).toBe(3)
  await units.releaseAll()
  units.refund("a", 2, TODAY)
  clock.tick(1000)
  expect(await takenOf(units, "a", 10, 10)).toBe(2)
  expect(await leased("a")).toBe(10)
})

test("units of yesterday that are refunded do not add to today", async () => {
  const { units, clock, leased } = await openUnitQuota()
  expect(await takenOf(units, "a", 10, 10)).toBe(10)
  clock.tick(DAY_MS)
  expect(await takenOf(units, "a", 5, 10)).toBe(5)
  units.refund("a", 10, TODAY)
  expect(await takenOf(units, "a", 10, 10)).toBe(5)
  await units.releaseAll()
  expect(await leased("a")).toBe(10)
})

test("at midnight UTC a quota is renewed, and available units of the day before expire", async () => {
  const { units, clock, leased } = await openUnitQuota()
  clock.tick(DAY_MS / 2 - 1)
  expect(await takenOf(units, "a", 995, 1000)).toBe(995)
  clock.tick(1)
  expect(await takenOf(units, "a", 1010, 1000)).toBe(1000)
  expect(await leased("a", TODAY + 1)).toBe(1000)
})

test("a clock set back over midnight keeps to the later day", async () => {
  const { units, clock } = await openUnitQuota()
  clock.tick(DAY_MS / 2 - 1000)
  expect(await takenOf(units, "a", 6, 10)).toBe(6)
  clock.tick(2000)
  expect(await takenOf(units, "a", 20, 10)).toBe(10)
  clock.tick(-2000)
  expect(await takenOf(units, "a", 20, 10)).toBe(0)
})

test("requests that wait at midnight get units of the day of their arrival", async () => {
  const { units, clock, leased } = await openUnitQuota()
  clock.tick(DAY_MS / 2 - 1)
  const before = units.take("a", 1, 1000)
  clock.tick(1)
  const after = units.take("a", 1, 1000)
  expect((await before).day).toBe(TODAY)
  expect((await after).day).toBe(TODAY + 1)
  await units.releaseAll()
  expect(await leased("a", TODAY + 1)).toBe(1)
})

test("a larger quota counts from the next request on", async () => {
  const { units } = await openUnitQuota()
  expect(await takenOf(units, "a", 20, 10)).toBe(10)
  expect(await takenOf(units, "a", 20, 15)).toBe(5)
})

test("a smaller quota counts from the next request on, also for available units", async () => {
  const { start } = await openUnitQuota()
  const [here, there] = [start(), start()]
  expect(await takenOf(here, "a", 45, 1000)).toBe(45)
  expect(await takenOf(here, "a", 10, 47)).toBe(2)
  expect(await takenOf(there, "b", 1, 1000)).toBe(1)
  expect(await takenOf(here, "b", 500, 1000)).toBe(500)
  // The other process has units in hand that it leased when the quota was larger.
  expect(await takenOf(there, "b", 5, 400)).toBe(0)
})

test("a request rejects when the store fails, nothing is admitted, and the next one tries again", async () => {
  const { units, store, failed } = await openUnitQuota()
  store.isFailing = true
  const answers = await Promise.allSettled([units.take("a", 1, 1000), units.take("a", 100, 1000)])
  expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected"])
  store.isFailing = false
  expect(await takenOf(units, "a", 1010, 1000)).toBe(1000)
  expect(failed).toEqual([])
})

test("a failed lease ahead of need is reported, affects no request, and is not retried at every request", async () => {
  const { units, store, failed } = await openUnitQuota()
  await takenOf(units, "a", 5, 1000)
  store.isFailing = true
  for (let at = 0; at < 5; at++) {
    expect(isTakenAtOnce(units.take("a", 1, 1000))).toBe(true)
    await workDone()
  }
  expect(failed).toHaveLength(1)
  expect(store.requests).toBe(2)
  expect(await outcomeOf(units.take("a", 1, 1000))).toThrow("the disk is full")
  store.isFailing = false
  expect(await takenOf(units, "a", 1010, 1000)).toBe(990)
})

test("units whose return failed are lost, since they may have been returned, and the error is reported", async () => {
  const { start, units, store, failed, leased } = await openUnitQuota()
  await takenOf(units, "a", 1, 1000)
  store.isFailing = true
  await units.releaseAll()
  expect(failed).toHaveLength(1)
  store.isFailing = false
  await units.releaseAll()
  expect(await leased("a")).toBe(10)
  expect(await takenOf(start(), "a", 1010, 1000)).toBe(990)
})

test("while the store is unreachable available units stay in use, however idle, and are returned afterwards", async () => {
  const { units, store, clock, leased } = await openUnitQuota()
  for (const subject of ["a", "b"]) await takenOf(units, subject, 1, 1000)
  await units.maintain()
  store.isUnavailable = true
  // The first time it is not known yet that the store is away; what did not go back is in hand again.
  for (let second = 0; second < 30; second++) {
    clock.tick(1000)
    await units.maintain()
  }
  for (let at = 0; at < 9; at++) expect(isTakenAtOnce(units.take("a", 1, 1000))).toBe(true)
  expect(await outcomeOf(units.take("a", 1, 1000))).toThrow("cannot be reached")
  const { requests: requested } = store
  await units.maintain()
  expect(store.requests).toBe(requested)
  store.isUnavailable = false
  for (let second = 0; second < 4; second++) {
    clock.tick(1000)
    await units.maintain()
  }
  expect(await leased("a")).toBe(10)
  expect(await leased("b")).toBe(1)
  // All of it, once.
  expect(await takenOf(units, "a", 1010, 1000)).toBe(990)
  expect(await takenOf(units, "b", 1010, 1000)).toBe(999)
})

test("units whose return was interrupted are neither available again nor returned twice", async () => {
  const { units, store, clock, leased, start } = await openUnitQuota()
  await takenOf(units, "a", 1, 1000)
  // They are returned, and the response is lost.
  store.isUnsure = true
  await units.maintain()
  clock.tick(3000)
  await units.maintain()
  expect(await leased("a")).toBe(1)
  store.isUnsure = false
  await units.maintain()
  expect(await leased("a")).toBe(1)
  expect((await takenOf(units, "a", 1010, 1000)) + (await takenOf(start(), "a", 1010, 1000))).toBe(999)
})

test("a stop while the store is unreachable ends, and loses what a crash would", async () => {
  const { units, store, leased, start } = await openUnitQuota()
  for (const subject of ["a", "b"]) await takenOf(units, subject, 1, 1000)
  store.isUnavailable = true
  await units.releaseAll()
  store.isUnavailable = false
  expect([await leased("a"), await leased("b")]).toEqual([10, 10])
  expect(await takenOf(start(), "a", 1010, 1000)).toBe(990)
})

test("the remaining units are known synchronously: nothing at first, then as the store has them; reading leases nothing", async () => {
  const { start, leased, store } = await openUnitQuota()
  const [here, there] = [start(), start()]
  await takenOf(there, "a", 30, 1000)
  await workDone()
  const [before, requested] = [await leased("a"), store.requests]
  expect(here.remaining("a", 1000)).toBeNull()
  await workDone()
  for (let at = 0; at < 10; at++) expect(here.remaining("a", 1000)).toBe(1000 - (before ?? 0))
  expect(store.requests).toBe(requested + 1)
  expect(await leased("a")).toBe(before)
  const { remaining } = await here.take("a", 1, 1000)
  expect<number | null>(here.remaining("a", 1000)).toBe(remaining)
})

test("a read of the remaining units asks the store, also for what others took since, and gives nothing when it fails", async () => {
  const { start, units, store } = await openUnitQuota()
  await takenOf(units, "a", 30, 1000)
  await units.releaseAll()
  const other = start()
  const { requests } = store
  expect(await Promise.all([other.readRemaining("a", 1000), other.readRemaining("a", 100)])).toEqual([970, 70])
  expect(store.requests).toBe(requests + 1)
  expect(await other.readRemaining("a", 20)).toBe(0)
  await takenOf(units, "a", 100, 1000)
  await units.releaseAll()
  expect(await other.readRemaining("a", 1000)).toBe(870)
  store.isFailing = true
  expect(await start().readRemaining("a", 1000)).toBeNull()
  store.isFailing = false
  expect(await start().readRemaining("a", 1000)).toBe(870)
})

test("after units were idle and went back, what is left is not known until the store was read, and is never too much", async () => {
  const { units, clock } = await openUnitQuota()
  expect(await takenOf(units, "a", 990, 1000)).toBe(990)
  const seen = new Set<number | null>()
  for (let at = 0; at < 10; at++) {
    clock.tick(1000)
    await units.maintain()
    seen.add(units.remaining("a", 1000))
    await workDone()
    seen.add(units.remaining("a", 1000))
  }
  expect([...seen].sort()).toEqual([10, null])
})

test("while the store fails the remaining units are unknown, which is reported once and not at every request", async () => {
  const { units, store, failed } = await openUnitQuota()
  store.isFailing = true
  for (let at = 0; at < 10; at++) {
    expect(units.remaining("a", 1000)).toBeNull()
    await workDone()
  }
  expect(failed).toHaveLength(1)
})

test("subjects beyond the bound evict leases that were not used lately, whose units are returned", async () => {
  const { units, leased } = await openUnitQuota({ subjectsMax: 3 })
  for (const subject of ["a", "b", "c"]) await takenOf(units, subject, 1, 1000)
  await units.maintain()
  await takenOf(units, "a", 1, 1000)
  await takenOf(units, "d", 1, 1000)
  expect(await Promise.all(["a", "b", "c", "d"].map(subject => leased(subject)))).toEqual([10, 1, 10, 10])
  expect(await takenOf(units, "b", 1010, 1000)).toBe(999)
})

test("many subjects at once share a transaction, and each gets its own units", async () => {
  const { units, store } = await openUnitQuota()
  await units.take("warm", 1, 1000)
  const { requests: requested } = store
  const subjects = Array.from({ length: 1200 }, (_, at) => `subject ${at}`)
  const answers = await Promise.all(subjects.map(subject => units.take(subject, 1, 1)))
  expect(answers.every(({ isTaken, remaining }) => isTaken && remaining === 0)).toBe(true)
  expect(store.requests - requested).toBeLessThanOrEqual(4)
})

test("a subject keeps its latest seven days, and a day before those counts as used up", async () => {
  const { start, clock, leased } = await openUnitQuota()
  for (let day = 0; day < 9; day++) {
    expect(await takenOf(start(), "a", 12, 10)).toBe(10)
    clock.tick(DAY_MS)
  }
  expect(await Promise.all([0, 1, 2, 8].map(day => leased("a", TODAY + day)))).toEqual([null, null, 10, 10])
  clock.tick(-8 * DAY_MS)
  expect(await takenOf(start(), "a", 1, 10)).toBe(0)
  expect(await takenOf(start(), "b", 1, 10)).toBe(1)
})

test("a clock that is years ahead for a moment does not lose what subjects have used today", async () => {
  const { start, clock } = await openUnitQuota()
  const units = start()
  expect(await takenOf(units, "a", 8, 10)).toBe(8)
  clock.tick(1000 * DAY_MS)
  expect(await takenOf(units, "a", 12, 10)).toBe(10)
  await units.maintain()
  clock.tick(-1000 * DAY_MS)
  const more = (await takenOf(units, "a", 12, 10)) + (await takenOf(start(), "a", 12, 10))
  expect(more).toBeLessThanOrEqual(2)
})

test("units are taken by whole numbers", async () => {
  const { units } = await openUnitQuota()
  for (const count of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => units.take("a", count, 10)).toThrow("units are taken by whole numbers")
})

test("over a store that hosts share, low leases are refilled together by the next `maintain`, and no request waits", async () => {
  const { units, store, leased } = await openUnitQuota(SHARED_UNIT_QUOTA_BOUNDS)
  for (const subject of ["a", "b", "c"]) await takenOf(units, subject, 6, 1000)
  await workDone()
  expect(store.requests).toBe(3)
  await units.maintain()
  await workDone()
  expect(store.requests).toBe(4)
  expect([await leased("a"), await leased("b"), await leased("c")]).toEqual([16, 16, 16])
  for (let at = 0; at < 7; at++) expect(isTakenAtOnce(units.take("a", 1, 1000))).toBe(true)
})

test("over such a store, a lease that runs very low before that is refilled at once", async () => {
  const { units, store, leased } = await openUnitQuota(SHARED_UNIT_QUOTA_BOUNDS)
  await takenOf(units, "a", 7, 1000)
  await workDone()
  expect(store.requests).toBe(1)
  expect(isTakenAtOnce(units.take("a", 1, 1000))).toBe(true)
  await workDone()
  expect(store.requests).toBe(2)
  expect(await leased("a")).toBe(18)
  await units.maintain()
  await workDone()
  expect(store.requests).toBe(2)
})

test("over such a store, all processes admit exactly the quota, and a low lease that was dropped is not refilled", async () => {
  const { start, leased, clock } = await openUnitQuota(SHARED_UNIT_QUOTA_BOUNDS)
  const servers = [start(), start(), start()]
  let admitted = 0
  for (let round = 0; round < 400; round++)
    for (const units of servers) {
      admitted += await takenOf(units, "a", 1, 1000)
      if (round % 7 === 0) await units.maintain()
    }
  expect(admitted).toBe(1000)
  const [units = start()] = servers
  await takenOf(units, "b", 6, 1000)
  clock.tick(DAY_MS)
  await units.maintain()
  await workDone()
  expect(await leased("b")).toBe(10)
})
