import { expect, test } from "bun:test"
import { LocalRates } from "../../../src/customers/quota/local-rates.ts"
import { stoppedClock } from "../../world/clock.ts"
import { admitted, five, one, rateLimiterSuite } from "./rate-limiter.suite.ts"

rateLimiterSuite(clock => new LocalRates(clock, 10))

test("a clock that was set back makes the limiter forget who owes what", () => {
  const clock = stoppedClock()
  const limiter = new LocalRates(clock, 10)
  for (const setBackMs of [1, 86_400_000]) {
    expect(admitted(limiter, "a", five, 20)).toBe(10)
    clock.tick(-setBackMs)
    expect(admitted(limiter, "a", five, 20)).toBe(10)
    expect(limiter.admit("a", five).waitS).toBe(1)
    clock.tick(10_000)
  }
})

test("callers beyond the bound push out those that were not seen for longest", () => {
  const limiter = new LocalRates(stoppedClock(), 2)
  for (const caller of ["a", "b", "c", "d", "e"]) expect(limiter.admit(caller, one).waitS).toBe(0)
  for (const caller of ["d", "e"]) expect(limiter.admit(caller, one).waitS).toBe(1)
  expect(limiter.admit("a", one).waitS).toBe(0)
})
