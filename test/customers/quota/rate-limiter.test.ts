import { expect, test } from "bun:test"
import { RateLimiter } from "../../../src/customers/quota/rate-limiter.ts"
import { stoppedClock } from "../../world/clock.ts"

const admitted = (limiter: RateLimiter, caller: string, times: number): number =>
  Array.from({ length: times }, () => limiter.admit(caller)).filter(waitS => waitS === 0).length

test("a burst is admitted at once, then one at the steady rate", () => {
  const clock = stoppedClock()
  const limiter = new RateLimiter(clock, { perSecond: 5, burst: 10, callersMax: 10 })
  expect(admitted(limiter, "a", 20)).toBe(10)
  clock.tick(199)
  expect(limiter.admit("a")).toBe(1)
  clock.tick(1)
  expect(limiter.admit("a")).toBe(0)
  expect(limiter.admit("a")).toBe(1)
})

test("over a long time nobody is admitted more often than the rate and one burst", () => {
  const clock = stoppedClock()
  const limiter = new RateLimiter(clock, { perSecond: 5, burst: 5, callersMax: 10 })
  let count = 0
  for (let at = 0; at < 10_000; at += 10) {
    count += admitted(limiter, "a", 3)
    clock.tick(10)
  }
  expect(count).toBeLessThanOrEqual(50 + 5)
  expect(count).toBeGreaterThanOrEqual(50)
})

test("a refusal costs nothing, and callers do not share", () => {
  const clock = stoppedClock()
  const limiter = new RateLimiter(clock, { perSecond: 1, burst: 1, callersMax: 10 })
  expect([limiter.admit("a"), limiter.admit("a"), limiter.admit("a"), limiter.admit("b")]).toEqual([0, 1, 1, 0])
  clock.tick(1000)
  expect(limiter.admit("a")).toBe(0)
})

test("a clock that was set back locks nobody out for longer than the burst is worth", () => {
  const clock = stoppedClock()
  const limiter = new RateLimiter(clock, { perSecond: 5, burst: 5, callersMax: 10 })
  admitted(limiter, "a", 5)
  clock.tick(-86_400_000)
  expect(limiter.admit("a")).toBeLessThanOrEqual(1)
  clock.tick(1200)
  expect(limiter.admit("a")).toBe(0)
})

test("callers beyond the bound push out those that were not seen for longest", () => {
  const limiter = new RateLimiter(stoppedClock(), { perSecond: 1, burst: 1, callersMax: 2 })
  for (const caller of ["a", "b", "c"]) expect(limiter.admit(caller)).toBe(0)
  expect(limiter.admit("c")).toBe(1)
  expect(limiter.admit("a")).toBe(0)
})
