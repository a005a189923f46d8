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
