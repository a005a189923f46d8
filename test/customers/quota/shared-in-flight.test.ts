import { expect, test } from "bun:test"
import { callerHash } from "../../../src/customers/quota/caller-hash.ts"
import { COLUMN_BYTES, SharedInFlight } from "../../../src/customers/quota/shared-in-flight.ts"
import { inFlightSuite } from "./in-flight.suite.ts"

/** Three processes that count together. */
function seats() {
  const memory = new Uint8Array(3 * COLUMN_BYTES)
  const at = (seat: number) => new SharedInFlight(memory, callerHash(1), seat)
  return { memory, all: [at(0), at(1), at(2)] as const }
}

inFlightSuite(() => seats().all[0])
inFlightSuite(() => seats().all[2])

test("as many as the limit are under way in all processes together", () => {
  const [one, two, three] = seats().all
  expect([one, two, three, one].map(seat => seat.enter("a", 3))).toEqual([true, true, true, false])
  expect(two.enter("b", 3)).toBe(true)
  two.leave("a")
  expect([three, one].map(seat => seat.enter("a", 3))).toEqual([true, false])
})

test("a refusal is forgotten by the others too", () => {
  const [one, two, three] = seats().all
  expect([one.enter("a", 2), two.enter("a", 2)]).toEqual([true, true])
  for (let at = 0; at < 10; at++) expect(three.enter("a", 2)).toBe(false)
  one.leave("a")
  expect(three.enter("a", 2)).toBe(true)
})

test("a limit above what 16 bits hold is counted", () => {
  const [one, two] = seats().all
  for (let at = 0; at < 70_000; at++) one.enter("a", 100_000)
  for (let at = 0; at < 30_000; at++) two.enter("a", 100_000)
  expect([one.enter("a", 100_000), two.enter("a", 100_001)]).toEqual([false, true])
})

test("entries are used again: a hundred thousand callers, one after the other, are all counted by the others", () => {
  const [one, two] = seats().all
  for (let at = 0; at < 100_000; at++) {
    const caller = `caller ${at}`
    one.enter(caller, 1)
    if (two.enter(caller, 1)) throw new Error(`${caller} was not seen`)
    one.leave(caller)
  }
  expect(two.enter("caller 7", 1)).toBe(true)
})

test("a caller for whom there is no entry is counted by its own process", () => {
  const [one, two] = seats().all
  const callers = Array.from({ length: 20_000 }, (_, at) => `caller ${at}`)
  for (const caller of callers) expect([one.enter(caller, 1), one.enter(caller, 1)]).toEqual([true, false])
  const unseen = callers.filter(caller => two.enter(caller, 1))
  // There are 8 192 entries.
  expect(unseen.length).toBeGreaterThanOrEqual(20_000 - 8192)
  for (const caller of callers) one.leave(caller)
  for (const caller of unseen) two.leave(caller)
  for (const caller of callers) expect(two.enter(caller, 1)).toBe(true)
})
