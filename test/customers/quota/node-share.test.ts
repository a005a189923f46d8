import { expect, test } from "bun:test"
import fc from "fast-check"
import { createLocalLimits, createNodeLimits, NodeShare } from "../../../src/customers/quota/caller-limits.ts"
import type { RateLimit } from "../../../src/customers/quota/rate/rate-limiter.ts"
import { rateSubject } from "../../../src/customers/quota/rate/rate-subject.ts"
import { createFakeTime } from "../../support/time.ts"

const RATE: RateLimit = { perSecond: 30, burst: 60 }

/** The shares of so many nodes that agree on how many they are. */
const shares = (count: number): NodeShare[] =>
  Array.from({ length: count }, (_, position) => {
    const share = new NodeShare()
    share.setPosition({ count, position })
    return share
  })

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

test("a single node admits the whole, and nothing is computed for it", () => {
  const share = new NodeShare()
  expect(share.shareOfRate(RATE)).toBe(RATE)
  expect(share.shareOfMax(7)).toBe(7)
})

test("a share of a rate is computed once for each change of the count of nodes", () => {
  const share = new NodeShare()
  share.setPosition({ count: 3, position: 0 })
  expect(share.shareOfRate(RATE)).toEqual({ perSecond: 10, burst: 20 })
  expect(share.shareOfRate(RATE)).toBe(share.shareOfRate(RATE))
  share.setPosition({ count: 2, position: 0 })
  expect(share.shareOfRate(RATE)).toEqual({ perSecond: 15, burst: 30 })
  share.setPosition({ count: 1, position: 0 })
  expect(share.shareOfRate(RATE)).toBe(RATE)
})

test("a visitor's burst is not divided, its rate is", () => {
  const [share] = shares(4)
  expect(share?.shareOfRate({ perSecond: 2, burst: 4, isBurstWhole: true })).toEqual({ perSecond: 0.5, burst: 4 })
})

test("all shares add up to the whole, or to one request a node when there are more nodes than requests", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 1000 }), (count, max) => {
      const all = shares(count)
      expect(sum(all.map(share => share.shareOfMax(max)))).toBe(Math.max(max, count))
      const rates = all.map(share => share.shareOfRate({ perSecond: max, burst: 2 * max }))
      expect(sum(rates.map(({ perSecond }) => perSecond))).toBeCloseTo(max, 6)
      expect(sum(rates.map(({ burst }) => burst))).toBeCloseTo(Math.max(2 * max, count), 6)
    }),
  )
})

/** Nodes over one stopped time, as a caller finds them. */
function cluster(count: number) {
  const time = createFakeTime()
  const all = shares(count)
  const limits = all.map(share => createNodeLimits(createLocalLimits(time.clock), share))
  /** How many of so many requests are admitted that go to each node in turn. */
  const admitted = (requests: number, which = limits): number => {
    let admittedCount = 0
    for (let at = 0; at < requests; at++)
      if (which[at % which.length]?.rates.admit(rateSubject("caller", "a"), RATE).waitS === 0) admittedCount++
    return admittedCount
  }
  return { time, all, limits, admitted }
}

test("a caller that uses all nodes has its burst once, and then its rate", async () => {
  const { time, admitted } = cluster(3)
  expect(admitted(1000)).toBe(60)
  let admittedCount = 0
  for (let step = 0; step < 100; step++) {
    await time.tick(100)
    admittedCount += admitted(100)
  }
  expect(admittedCount).toBe(300)
})

test("when a node leaves the others take its share, and no caller has its burst twice", async () => {
  const { time, all, limits, admitted } = cluster(3)
  expect(admitted(1000)).toBe(60)
  const rest = limits.slice(0, 2)
  for (const [position, share] of all.slice(0, 2).entries()) share.setPosition({ count: 2, position })
  expect(admitted(1000, rest)).toBeLessThanOrEqual(1)
  let admittedCount = 0
  for (let step = 0; step < 100; step++) {
    await time.tick(100)
    admittedCount += admitted(100, rest)
  }
  expect(admittedCount).toBeGreaterThanOrEqual(298)
  expect(admittedCount).toBeLessThanOrEqual(301)
})

test("the requests in flight on all nodes are as many as one node would admit, and each that ends makes room", () => {
  const { limits } = cluster(3)
  const entered = limits.map(({ inFlight }) => {
    let count = 0
    while (inFlight.tryAcquire("a", 5)) count++
    return count
  })
  expect(entered).toEqual([2, 2, 1])
  const [first] = limits
  expect(first?.inFlight.callersCount).toBe(1)
  first?.inFlight.release("a")
  expect([first?.inFlight.tryAcquire("a", 5), first?.inFlight.tryAcquire("a", 5)]).toEqual([true, false])
})

test("limits of callers without a key are divided in the same way", () => {
  const { limits } = cluster(2)
  const all = limits.map(({ keyless }) => {
    let count = 0
    while (keyless.admit(rateSubject("caller", "192.0.2.1"), { perSecond: 500, burst: 1000 }).waitS === 0) count++
    return count
  })
  expect(all).toEqual([500, 500])
})
