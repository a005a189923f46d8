import { expect, test } from "bun:test"
import { createCallerHash } from "../../../../src/customers/quota/caller-hash.ts"
import {
  COLUMN_BYTES,
  SharedInFlightLimiter,
} from "../../../../src/customers/quota/in-flight/shared-in-flight-limiter.ts"
import { inFlightSuite } from "./in-flight-limiter.suite.ts"

/** Three processes that count together. */
function slots() {
  const memory = new Uint8Array(3 * COLUMN_BYTES)
  const at = (slot: number) => new SharedInFlightLimiter(memory, createCallerHash(1), slot)
  return { memory, all: [at(0), at(1), at(2)] as const }
}

inFlightSuite(() => slots().all[0])
inFlightSuite(() => slots().all[2])

test("at most the limit is in flight over all processes", () => {
  const [one, two, three] = slots().all
  expect([one, two, three, one].map(slot => slot.tryAcquire("a", 3))).toEqual([true, true, true, false])
  expect(two.tryAcquire("b", 3)).toBe(true)
  two.release("a")
  expect([three, one].map(slot => slot.tryAcquire("a", 3))).toEqual([true, false])
})

test("a refusal leaves no count in other processes", () => {
  const [one, two, three] = slots().all
  expect([one.tryAcquire("a", 2), two.tryAcquire("a", 2)]).toEqual([true, true])
  for (let at = 0; at < 10; at++) expect(three.tryAcquire("a", 2)).toBe(false)
  one.release("a")
  expect(three.tryAcquire("a", 2)).toBe(true)
})

test("a limit above what 16 bits hold is counted", () => {
  const [one, two] = slots().all
  for (let at = 0; at < 70_000; at++) one.tryAcquire("a", 100_000)
  for (let at = 0; at < 30_000; at++) two.tryAcquire("a", 100_000)
  expect([one.tryAcquire("a", 100_000), two.tryAcquire("a", 100_001)]).toEqual([false, true])
})

test("entries are reused: a hundred thousand callers, one after the other, are all seen by other processes", () => {
  const [one, two] = slots().all
  for (let at = 0; at < 100_000; at++) {
    const caller = `caller ${at}`
    one.tryAcquire(caller, 1)
    if (two.tryAcquire(caller, 1)) throw new Error(`${caller} was not seen`)
    one.release(caller)
  }
  expect(two.tryAcquire("caller 7", 1)).toBe(true)
})

test("a caller for whom there is no entry is counted by its own process", () => {
  const [one, two] = slots().all
  const callers = Array.from({ length: 20_000 }, (_, at) => `caller ${at}`)
  for (const caller of callers) expect([one.tryAcquire(caller, 1), one.tryAcquire(caller, 1)]).toEqual([true, false])
  const unseen = callers.filter(caller => two.tryAcquire(caller, 1))
  // There are 8 192 entries.
  expect(unseen.length).toBeGreaterThanOrEqual(20_000 - 8192)
  for (const caller of callers) one.release(caller)
  for (const caller of unseen) two.release(caller)
  for (const caller of callers) expect(two.tryAcquire(caller, 1)).toBe(true)
})
