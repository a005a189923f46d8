import { expect, test } from "bun:test"
import { UnitLease } from "../../../../src/customers/quota/units/unit-lease.ts"

const bounds = { blockMax: 1000, blockMs: 1000, idleMs: 2000, refusalMs: 1000 }

/** A lease of a quota whose store has it all, and gives it all that it wishes for; the sizes of the blocks it took. */
function leasing(perDay: number, everyMs: number, times: number): readonly number[] {
  const lease = new UnitLease("a", 20_000, perDay, 0, bounds)
  const blocks: number[] = []
  let leased = 0
  let now = 0
  for (let at = 0; at < times; at++) {
    now += everyMs
    if (lease.tryTake(1, perDay, now) !== null) continue
    const answer = lease.wait(1)
    const granted = lease.wantedUnits(leased)
    leased += granted
    blocks.push(granted)
    lease.grant(leased, granted, now)
    void answer
  }
  return blocks
}

test("blocks grow while one is used up within a second, up to the most that is leased at once", () => {
  expect(leasing(5_000_000, 0, 3_000)).toEqual([10, 10, 20, 40, 80, 160, 320, 640, 1000, 1000])
})

test("blocks of a slow caller stay small", () => {
  expect(leasing(5_000_000, 200, 50)).toEqual([10, 10, 10, 10, 10])
})

test("a block is at most a hundredth of the day's quota, and at least one unit", () => {
  expect(new Set(leasing(2_000, 0, 500))).toEqual(new Set([10, 20]))
  expect(new Set(leasing(1_000, 0, 500))).toEqual(new Set([10]))
  expect(new Set(leasing(150, 0, 100))).toEqual(new Set([1]))
})

test("a block is at most a quarter of what is left, so that the last units go one by one", () => {
  const blocks = leasing(1_000, 0, 1_000)
  expect(blocks.slice(0, 97).every(block => block === 10)).toBe(true)
  expect(blocks.slice(97)).toEqual([7, 5, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1])
  expect(blocks.reduce((sum, block) => sum + block)).toBe(1_000)
})

test("with less than half a block available a lease is low, until a refill is queued", () => {
  const lease = new UnitLease("a", 20_000, 1_000, 0, bounds)
  void lease.wait(1)
  lease.grant(10, lease.wantedUnits(0), 0)
  const lows = Array.from({ length: 9 }, () => [lease.isLow, lease.tryTake(1, 1_000, 0)?.isTaken])
  expect(lows.map(([isLow]) => isLow)).toEqual([false, false, false, false, false, true, true, true, true])
  expect(lease.tryTake(1, 1_000, 0)).toBeNull()
  lease.isQueued = true
  expect(lease.isLow).toBe(false)
})

test("a request for more than a block is leased what it needs, and one beyond the quota nothing", () => {
  const lease = new UnitLease("a", 20_000, 1_000, 0, bounds)
  void lease.wait(1_001)
  expect(lease.wantedUnits(0)).toBe(0)
  void lease.wait(100)
  expect(lease.wantedUnits(0)).toBe(100)
  expect(lease.wantedUnits(900)).toBe(100)
  expect(lease.wantedUnits(901)).toBe(0)
})

test("available units beyond a smaller quota are not used", () => {
  const lease = new UnitLease("a", 20_000, 1_000, 0, bounds)
  void lease.wait(1)
  lease.grant(500, 10, 0)
  expect(lease.remaining()).toBe(509)
  expect(lease.remaining(495)).toBe(4)
  expect(lease.tryTake(1, 495, 0)).toBeNull()
  lease.grant(500, 0, 0)
  expect(Array.from({ length: 5 }, () => lease.tryTake(1, 495, 0)?.isTaken)).toEqual([true, true, true, true, false])
})
