import { expect, test } from "bun:test"
import type { InFlightLimiter } from "../../../../src/customers/quota/in-flight/in-flight-limiter.ts"

/** What every `InFlightLimiter` promises. */
export function inFlightSuite(inFlightOf: () => InFlightLimiter): void {
  test("at most the limit is in flight, and one more when one was released", () => {
    const inFlight = inFlightOf()
    expect([1, 2, 3, 4].map(() => inFlight.tryAcquire("a", 3))).toEqual([true, true, true, false])
    inFlight.release("a")
    expect([inFlight.tryAcquire("a", 3), inFlight.tryAcquire("a", 3)]).toEqual([true, false])
  })

  test("callers are independent, and a refusal does not count", () => {
    const inFlight = inFlightOf()
    expect([inFlight.tryAcquire("a", 1), inFlight.tryAcquire("a", 1), inFlight.tryAcquire("b", 1)]).toEqual([
      true,
      false,
      true,
    ])
    inFlight.release("a")
    expect(inFlight.tryAcquire("a", 1)).toBe(true)
  })

  test("a limit that changes while requests are in flight applies to the next one", () => {
    const inFlight = inFlightOf()
    for (let at = 0; at < 3; at++) inFlight.tryAcquire("a", 3)
    expect([inFlight.tryAcquire("a", 4), inFlight.tryAcquire("a", 2)]).toEqual([true, false])
    for (let at = 0; at < 3; at++) inFlight.release("a")
    expect(inFlight.tryAcquire("a", 2)).toBe(true)
  })

  test("only callers with a request in flight take memory", () => {
    const inFlight = inFlightOf()
    for (let at = 0; at < 100; at++) inFlight.tryAcquire(`caller ${at % 10}`, 100)
    expect(inFlight.callersCount).toBe(10)
    for (let at = 0; at < 100; at++) inFlight.release(`caller ${at % 10}`)
    expect(inFlight.callersCount).toBe(0)
    expect(inFlight.tryAcquire("never", 0)).toBe(false)
    expect(inFlight.callersCount).toBe(0)
  })

  test("releasing a request that was not acquired is an invariant error", () => {
    const inFlight = inFlightOf()
    inFlight.tryAcquire("a", 1)
    inFlight.release("a")
    expect(() => inFlight.release("a")).toThrow("only an acquired request is released")
  })
}
