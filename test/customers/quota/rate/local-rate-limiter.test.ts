import { expect, test } from "bun:test"
import { array, assert, integer, property, tuple } from "fast-check"
import { LocalRateLimiter } from "../../../../src/customers/quota/rate/local-rate-limiter.ts"
import type { RateLimitResult } from "../../../../src/customers/quota/rate/rate-limiter.ts"
import { rateSubject } from "../../../../src/customers/quota/rate/rate-subject.ts"
import { stoppedClock } from "../../../support/clock.ts"
import { admitted, five, one, rateLimiterSuite } from "./rate-limiter.suite.ts"

rateLimiterSuite(clock => new LocalRateLimiter(clock, 10))

test("a clock that was set back clears all debts", () => {
  const clock = stoppedClock()
  const limiter = new LocalRateLimiter(clock, 10)
  for (const setBackMs of [1, 86_400_000]) {
    expect(admitted(limiter, "a", five, 20)).toBe(10)
    clock.tick(-setBackMs)
    expect(admitted(limiter, "a", five, 20)).toBe(10)
    expect(limiter.admit(rateSubject("caller", "a"), five).waitS).toBe(1)
    clock.tick(10_000)
  }
})

test("callers beyond the bound evict those that were not seen for longest", () => {
  const limiter = new LocalRateLimiter(stoppedClock(), 2)
  for (const caller of ["a", "b", "c", "d", "e"])
    expect(limiter.admit(rateSubject("caller", caller), one).waitS).toBe(0)
  for (const caller of ["d", "e"]) expect(limiter.admit(rateSubject("caller", caller), one).waitS).toBe(1)
  expect(limiter.admit(rateSubject("caller", "a"), one).waitS).toBe(0)
})

test("callers without debt are dropped, so a stream of new callers takes at most twice the memory of those with debts", () => {
  const clock = stoppedClock()
  const limiter = new LocalRateLimiter(clock, 100_000)
  // A few have long debts, as from sign-ins; the others short ones.
  const long = { perSecond: 1 / 600, burst: 1 }
  for (let at = 0; at < 20_000; at++) {
    limiter.admit(rateSubject("caller", `visitor ${at}`), five)
    if (at % 20 === 0) limiter.admit(rateSubject("caller", `signs in ${at}`), long)
    clock.tick(10)
  }
  expect(limiter.callersCount).toBeLessThanOrEqual(2100)
  expect(limiter.admit(rateSubject("caller", "signs in 0"), long).waitS).toBe(400)
})

test("dropping callers changes no result: each caller gets the results of a limiter of its own", () => {
  const slow = { perSecond: 1 / 7, burst: 3 }
  const steps = array(tuple(integer({ min: 0, max: 7 }), integer({ min: 250, max: 9000 })), { maxLength: 60 })
  assert(
    property(steps, taken => {
      const clock = stoppedClock()
      const limiter = new LocalRateLimiter(clock, 100)
      // A limiter with a single caller never drops one.
      const alone = Array.from({ length: 8 }, () => new LocalRateLimiter(clock, 1))
      for (const [at, [caller, afterMs]] of taken.entries()) {
        clock.tick(afterMs)
        const rate = caller % 2 === 0 ? slow : five
        // They have paid by the next step, so never more owe than are remembered.
        for (let by = 0; by < 20; by++) limiter.admit(rateSubject("caller", `passer-by ${at} ${by}`), five)
        expect(limiter.admit(rateSubject("caller", String(caller)), rate)).toEqual(
          alone[caller]?.admit(rateSubject("caller", "a"), rate) as RateLimitResult,
        )
      }
    }),
  )
})

test("nothing is left of past callers when others have come", () => {
  const clock = stoppedClock()
  const limiter = new LocalRateLimiter(clock, 2000)
  for (let at = 0; at < 5000; at++) limiter.admit(rateSubject("caller", `of the crowd ${at}`), one)
  expect(limiter.callersCount).toBeLessThanOrEqual(4000)
  for (let at = 0; at < 3000; at++) {
    clock.tick(1000)
    limiter.admit(rateSubject("caller", `visitor ${at}`), one)
  }
  expect(limiter.callersCount).toBeLessThanOrEqual(1001)
})
