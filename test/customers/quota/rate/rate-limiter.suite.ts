import { expect, test } from "bun:test"
import { assert, integer, property } from "fast-check"
import type { Clock } from "../../../../src/base/outside-world.ts"
import type { RateLimit, RateLimiter } from "../../../../src/customers/quota/rate/rate-limiter.ts"
import { rateSubject } from "../../../../src/customers/quota/rate/rate-subject.ts"
import { stoppedClock } from "../../../support/clock.ts"

/** How many of so many requests are admitted. */
export const admitted = (limiter: RateLimiter, caller: string, rate: RateLimit, times: number): number =>
  Array.from({ length: times }, () => limiter.admit(rateSubject("caller", caller), rate)).filter(
    ({ waitS }) => waitS === 0,
  ).length

/** Rates of the tests. */
export const five = { perSecond: 5, burst: 10 }
export const one = { perSecond: 1, burst: 1 }

/** What every `RateLimiter` promises. */
export function rateLimiterSuite(limiterOf: (clock: Clock) => RateLimiter): void {
  test("a burst is admitted at once, then one at the steady rate", () => {
    const clock = stoppedClock()
    const limiter = limiterOf(clock)
    expect(admitted(limiter, "a", five, 20)).toBe(10)
    clock.tick(199)
    expect(limiter.admit(rateSubject("caller", "a"), five).waitS).toBe(1)
    clock.tick(1)
    expect(limiter.admit(rateSubject("caller", "a"), five).waitS).toBe(0)
    expect(limiter.admit(rateSubject("caller", "a"), five).waitS).toBe(1)
  })

  test("each result tells how many more would be admitted now, and that many are", () => {
    const clock = stoppedClock()
    const limiter = limiterOf(clock)
    for (let left = 9; left >= 0; left--)
      expect(limiter.admit(rateSubject("caller", "a"), five)).toEqual({ waitS: 0, remaining: left })
    expect(limiter.admit(rateSubject("caller", "a"), five)).toEqual({ waitS: 1, remaining: 0 })
    clock.tick(650)
    expect(limiter.admit(rateSubject("caller", "a"), five).remaining).toBe(2)
    expect(admitted(limiter, "a", five, 5)).toBe(2)
    clock.tick(3_600_000)
    expect(limiter.admit(rateSubject("caller", "a"), five).remaining).toBe(9)
  })

  test("a refused caller is admitted after the stated seconds, and not a second before", () => {
    const clock = stoppedClock()
    const limiter = limiterOf(clock)
    const slow = { perSecond: 1 / 7, burst: 1 }
    limiter.admit(rateSubject("caller", "a"), slow)
    expect(limiter.admit(rateSubject("caller", "a"), slow).waitS).toBe(7)
    clock.tick(6_000)
    expect(limiter.admit(rateSubject("caller", "a"), slow).waitS).toBe(1)
    clock.tick(1_000)
    expect(limiter.admit(rateSubject("caller", "a"), slow).waitS).toBe(0)
  })

  test("over a long time no caller is admitted more often than the rate and one burst", () => {
    const clock = stoppedClock()
    const limiter = limiterOf(clock)
    const rate = { perSecond: 5, burst: 5 }
    let count = 0
    for (let at = 0; at < 10_000; at += 10) {
      count += admitted(limiter, "a", rate, 3)
      clock.tick(10)
    }
    expect(count).toBeLessThanOrEqual(50 + 5)
    expect(count).toBeGreaterThanOrEqual(50)
  })

  test("at any rate exactly the burst is admitted at once, and again when the debt is cleared", () => {
    assert(
      property(integer({ min: 1, max: 9_999 }), integer({ min: 1, max: 300 }), (perSecond, burst) => {
        const clock = stoppedClock()
        const limiter = limiterOf(clock)
        const rate = { perSecond, burst }
        for (let round = 0; round < 3; round++) {
          expect(admitted(limiter, "a", rate, burst + 1)).toBe(burst)
          clock.tick(Math.ceil((1000 * burst) / perSecond))
        }
      }),
    )
  })

  test("a refusal costs nothing, and callers do not share", () => {
    const clock = stoppedClock()
    const limiter = limiterOf(clock)
    expect(["a", "a", "a", "b"].map(caller => limiter.admit(rateSubject("caller", caller), one).waitS)).toEqual([
      0, 1, 1, 0,
    ])
    clock.tick(1000)
    expect(limiter.admit(rateSubject("caller", "a"), one).waitS).toBe(0)
  })

  test("callers of one limiter have rates of their own", () => {
    const limiter = limiterOf(stoppedClock())
    expect(admitted(limiter, "a", five, 100)).toBe(10)
    expect(admitted(limiter, "b", { perSecond: 20, burst: 40 }, 100)).toBe(40)
  })

  test("a caller whose rate grows may burst by the new rate at once, less what it has used", () => {
    const clock = stoppedClock()
    const limiter = limiterOf(clock)
    expect(admitted(limiter, "a", five, 5)).toBe(5)
    // Half of a burst was used, and so is half of the new one.
    expect(admitted(limiter, "a", { perSecond: 100, burst: 200 }, 300)).toBe(100)
  })

  test("a caller whose rate shrinks is held to the new one at once, and keeps its debt", () => {
    const clock = stoppedClock()
    const limiter = limiterOf(clock)
    expect(admitted(limiter, "a", { perSecond: 5, burst: 50 }, 50)).toBe(50)
    expect(limiter.admit(rateSubject("caller", "a"), one)).toEqual({ waitS: 1, remaining: 0 })
    clock.tick(999)
    expect(limiter.admit(rateSubject("caller", "a"), one).waitS).toBe(1)
    clock.tick(1)
    expect(limiter.admit(rateSubject("caller", "a"), one).waitS).toBe(0)
  })
}
