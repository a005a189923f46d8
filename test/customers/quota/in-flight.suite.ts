import { expect, test } from "bun:test"
import type { InFlight } from "../../../src/customers/quota/in-flight.ts"

/** What every `InFlight` promises. */
export function inFlightSuite(inFlightOf: () => InFlight): void {
  test("as many as the limit are under way at once, and one more when one has left", () => {
    const inFlight = inFlightOf()
    expect([1, 2, 3, 4].map(() => inFlight.enter("a", 3))).toEqual([true, true, true, false])
    inFlight.leave("a")
    expect([inFlight.enter("a", 3), inFlight.enter("a", 3)]).toEqual([true, false])
  })

  test("callers do not share, and a refusal counts nothing", () => {
    const inFlight = inFlightOf()
    expect([inFlight.enter("a", 1), inFlight.enter("a", 1), inFlight.enter("b", 1)]).toEqual([true, false, true])
    inFlight.leave("a")
    expect(inFlight.enter("a", 1)).toBe(true)
  })

  test("a limit that changes while requests are under way holds for the next one", () => {
    const inFlight = inFlightOf()
    for (let at = 0; at < 3; at++) inFlight.enter("a", 3)
    expect([inFlight.enter("a", 4), inFlight.enter("a", 2)]).toEqual([true, false])
    for (let at = 0; at < 3; at++) inFlight.leave("a")
    expect(inFlight.enter("a", 2)).toBe(true)
  })

  test("only callers with a request under way take memory", () => {
    const inFlight = inFlightOf()
    for (let at = 0; at < 100; at++) inFlight.enter(`caller ${at % 10}`, 100)
    expect(inFlight.callersCount).toBe(10)
    for (let at = 0; at < 100; at++) inFlight.leave(`caller ${at % 10}`)
    expect(inFlight.callersCount).toBe(0)
    expect(inFlight.enter("never", 0)).toBe(false)
    expect(inFlight.callersCount).toBe(0)
  })

  test("leaving without having entered is a fault of ours", () => {
    const inFlight = inFlightOf()
    inFlight.enter("a", 1)
    inFlight.leave("a")
    expect(() => inFlight.leave("a")).toThrow("only a request that has entered leaves")
  })
}
