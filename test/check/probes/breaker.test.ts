import { expect, test } from "bun:test"
import { Breaker, type Fate } from "../../../src/check/probes/breaker.ts"
import { stoppedClock } from "../../world/clock.ts"

const BOUNDS = { failuresMax: 3, openMs: 30_000, openMinMs: 1000, openMaxMs: 600_000 }
const ANSWERED: Fate = { kind: "answered" }
const FAILED: Fate = { kind: "failed", retryAfterMs: null }

function opened(last: Fate = FAILED) {
  const clock = stoppedClock()
  const breaker = new Breaker(clock, BOUNDS)
  for (const fate of [FAILED, FAILED, last]) breaker.enter()?.(fate)
  return { clock, breaker }
}

test("a breaker opens at the last failure of a run, not before", () => {
  const breaker = new Breaker(stoppedClock(), BOUNDS)
  breaker.enter()?.(FAILED)
  breaker.enter()?.(FAILED)
  expect(breaker.isShut).toBe(false)
  breaker.enter()?.(FAILED)
  expect(breaker.isShut).toBe(true)
  expect(breaker.enter()).toBeNull()
})

test("an answer between failures begins the run anew", () => {
  const breaker = new Breaker(stoppedClock(), BOUNDS)
  for (const fate of [FAILED, FAILED, ANSWERED, FAILED, FAILED]) breaker.enter()?.(fate)
  expect(breaker.isShut).toBe(false)
})

test("an open breaker lets one call through after its time, and the next only when that has answered", () => {
  const { clock, breaker } = opened()
  clock.tick(29_999)
  expect(breaker.enter()).toBeNull()
  clock.tick(1)
  expect(breaker.isShut).toBe(false)
  const trial = breaker.enter()
  expect(trial).not.toBeNull()
  expect(breaker.isShut).toBe(true)
  expect(breaker.enter()).toBeNull()
  trial?.(ANSWERED)
  expect(breaker.isShut).toBe(false)
})

test("a trial that fails keeps the breaker open for as long again", () => {
  const { clock, breaker } = opened()
  clock.tick(30_000)
  breaker.enter()?.(FAILED)
  clock.tick(29_999)
  expect(breaker.isShut).toBe(true)
  clock.tick(1)
  expect(breaker.isShut).toBe(false)
})

test("a breaker that a trial closed opens only after a whole run again", () => {
  const { clock, breaker } = opened()
  clock.tick(30_000)
  breaker.enter()?.(ANSWERED)
  breaker.enter()?.(FAILED)
  breaker.enter()?.(FAILED)
  expect(breaker.isShut).toBe(false)
})

test("a server that names a time is left alone for that long, within bounds", () => {
  for (const [retryAfterMs, openMs] of [
    [0, 1000],
    [5000, 5000],
    [600_000, 600_000],
    [600_001, 600_000],
  ] as const) {
    const { clock, breaker } = opened({ kind: "failed", retryAfterMs })
    clock.tick(openMs - 1)
    expect(breaker.isShut).toBe(true)
    clock.tick(1)
    expect(breaker.isShut).toBe(false)
  }
})

test("calls from before the breaker opened do not lengthen its time when they fail, and close it when they answer", () => {
  const clock = stoppedClock()
  const breaker = new Breaker(clock, BOUNDS)
  const calls = Array.from({ length: 5 }, () => breaker.enter())
  for (const call of calls.slice(0, 3)) call?.(FAILED)
  clock.tick(20_000)
  calls[3]?.(FAILED)
  clock.tick(10_000)
  expect(breaker.isShut).toBe(false)
  breaker.enter()
  calls[4]?.(ANSWERED)
  expect(breaker.isShut).toBe(false)
})

test("a trial that fails after another call has answered is the first failure of a run", () => {
  const clock = stoppedClock()
  const breaker = new Breaker(clock, BOUNDS)
  const calls = Array.from({ length: 4 }, () => breaker.enter())
  for (const call of calls.slice(0, 3)) call?.(FAILED)
  clock.tick(30_000)
  const trial = breaker.enter()
  calls[3]?.(ANSWERED)
  trial?.(FAILED)
  expect(breaker.isShut).toBe(false)
})
