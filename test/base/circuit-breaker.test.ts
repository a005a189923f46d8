import { expect, test } from "bun:test"
import { type CallOutcome, CircuitBreaker } from "../../src/base/circuit-breaker.ts"
import { stoppedClock } from "../support/clock.ts"

const BOUNDS = { failuresMax: 3, openMs: 30_000, openMinMs: 1000, openMaxMs: 600_000 }
const ANSWERED: CallOutcome = { kind: "answered" }
const FAILED: CallOutcome = { kind: "failed", retryAfterMs: null }

function opened(last: CallOutcome = FAILED) {
  const clock = stoppedClock()
  const breaker = new CircuitBreaker(clock, BOUNDS)
  for (const fate of [FAILED, FAILED, last]) breaker.acquire()?.(fate)
  return { clock, breaker }
}

test("a breaker opens at the last failure of a run, not before", () => {
  const breaker = new CircuitBreaker(stoppedClock(), BOUNDS)
  breaker.acquire()?.(FAILED)
  breaker.acquire()?.(FAILED)
  expect(breaker.isOpen).toBe(false)
  breaker.acquire()?.(FAILED)
  expect(breaker.isOpen).toBe(true)
  expect(breaker.acquire()).toBeNull()
})

test("an answer between failures resets the run", () => {
  const breaker = new CircuitBreaker(stoppedClock(), BOUNDS)
  for (const fate of [FAILED, FAILED, ANSWERED, FAILED, FAILED]) breaker.acquire()?.(fate)
  expect(breaker.isOpen).toBe(false)
})

test("an open breaker permits one trial call after its time, and the next only after its answer", () => {
  const { clock, breaker } = opened()
  clock.tick(29_999)
  expect(breaker.acquire()).toBeNull()
  clock.tick(1)
  expect(breaker.isOpen).toBe(false)
  const trial = breaker.acquire()
  expect(trial).not.toBeNull()
  expect(breaker.isOpen).toBe(true)
  expect(breaker.acquire()).toBeNull()
  trial?.(ANSWERED)
  expect(breaker.isOpen).toBe(false)
})

test("a failed trial keeps the breaker open for the same time again", () => {
  const { clock, breaker } = opened()
  clock.tick(30_000)
  breaker.acquire()?.(FAILED)
  clock.tick(29_999)
  expect(breaker.isOpen).toBe(true)
  clock.tick(1)
  expect(breaker.isOpen).toBe(false)
})

test("a breaker that a trial closed opens only after a complete run", () => {
  const { clock, breaker } = opened()
  clock.tick(30_000)
  breaker.acquire()?.(ANSWERED)
  breaker.acquire()?.(FAILED)
  breaker.acquire()?.(FAILED)
  expect(breaker.isOpen).toBe(false)
})

test("a server that sets a time is not called for that long, within bounds", () => {
  for (const [retryAfterMs, openMs] of [
    [0, 1000],
    [5000, 5000],
    [600_000, 600_000],
    [600_001, 600_000],
  ] as const) {
    const { clock, breaker } = opened({ kind: "failed", retryAfterMs })
    clock.tick(openMs - 1)
    expect(breaker.isOpen).toBe(true)
    clock.tick(1)
    expect(breaker.isOpen).toBe(false)
  }
})

test("calls from before the breaker opened do not prolong it if they fail, and close it if they are answered", () => {
  const clock = stoppedClock()
  const breaker = new CircuitBreaker(clock, BOUNDS)
  const calls = Array.from({ length: 5 }, () => breaker.acquire())
  for (const call of calls.slice(0, 3)) call?.(FAILED)
  clock.tick(20_000)
  calls[3]?.(FAILED)
  clock.tick(10_000)
  expect(breaker.isOpen).toBe(false)
  breaker.acquire()
  calls[4]?.(ANSWERED)
  expect(breaker.isOpen).toBe(false)
})

test("a trial that fails after another call was answered is the first failure of a run", () => {
  const clock = stoppedClock()
  const breaker = new CircuitBreaker(clock, BOUNDS)
  const calls = Array.from({ length: 4 }, () => breaker.acquire())
  for (const call of calls.slice(0, 3)) call?.(FAILED)
  clock.tick(30_000)
  const trial = breaker.acquire()
  calls[3]?.(ANSWERED)
  trial?.(FAILED)
  expect(breaker.isOpen).toBe(false)
})

/** A breaker with a canary whose outcome the test decides. */
function guarded() {
  const clock = stoppedClock()
  const calls: ((outcome: CallOutcome) => void)[] = []
  const breaker = new CircuitBreaker(clock, BOUNDS, () => new Promise(resolve => void calls.push(resolve)))
  const fail = (subjects: readonly string[]) => subjects.map(subject => breaker.acquire(subject)?.(FAILED))
  return { clock, breaker, calls, fail }
}

test("with a canary a run of failures opens nothing until the canary has failed, too", async () => {
  for (const outcome of [ANSWERED, FAILED]) {
    const { breaker, calls, fail } = guarded()
    const judged = fail(["a", "b", "c"])
    expect([breaker.isOpen, calls.length]).toEqual([false, 1])
    calls[0]?.(outcome)
    await Promise.all(judged)
    expect(breaker.isOpen).toBe(outcome === FAILED)
  }
})

test("failures of one subject in a row count once, and the canary is called once at a time", () => {
  const { calls, fail } = guarded()
  fail(["a", "a", "b", "b", "a", "b"])
  expect(calls).toHaveLength(0)
  fail(["c", "d", "e", "f"])
  expect(calls).toHaveLength(1)
})

test("a breaker does not open for a canary that failed while another call was answered", async () => {
  const { breaker, calls, fail } = guarded()
  const judged = fail(["a", "b", "c"])
  breaker.acquire("d")?.(ANSWERED)
  calls[0]?.(FAILED)
  await Promise.all(judged)
  expect(breaker.isOpen).toBe(false)
})

test("after a trial that failed the canary closes the breaker or keeps it open for the time that its server sets", async () => {
  for (const outcome of [ANSWERED, { kind: "failed", retryAfterMs: 60_000 }] as const) {
    const { clock, breaker, calls, fail } = guarded()
    const opening = fail(["a", "b", "c"])
    calls[0]?.(FAILED)
    await Promise.all(opening)
    clock.tick(30_000)
    const [judged] = fail(["d"])
    expect(breaker.acquire()).toBeNull()
    calls[1]?.(outcome)
    await judged
    expect(breaker.isOpen).toBe(outcome !== ANSWERED)
    clock.tick(59_999)
    expect(breaker.isOpen).toBe(outcome !== ANSWERED)
    clock.tick(1)
    expect(breaker.isOpen).toBe(false)
  }
})
