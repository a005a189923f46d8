import { expect, test } from "bun:test"
import { AGE_PROBE_BOUNDS } from "../../../src/check/age/age-probe.ts"
import { type ServerCallOutcome, ServerLimiter, type ServerLimiterBounds } from "../../../src/check/age/rdap-lookup.ts"
import { stoppedClock } from "../../support/clock.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

function lined(changes: Partial<ServerLimiterBounds> = {}) {
  const clock = stoppedClock()
  const line = new ServerLimiter(clock, { ...AGE_PROBE_BOUNDS.server, ...changes })
  const make = (outcome: ServerCallOutcome): boolean => {
    const pass = line.acquire()
    pass?.(outcome)
    return pass !== null
  }
  return { clock, line, make }
}

const FAILED = { kind: "failed" } as const
const ANSWERED = { kind: "answered" } as const
const sentOff = (retryAfterMs: number | null) => ({ kind: "throttled", retryAfterMs }) as const

test("a bounded number of requests is in flight, a bounded number waits, and one more is refused", async () => {
  const { line } = lined({ inFlightMax: 2, waitingMax: 1 })
  const leave = await line.enqueue()
  await line.enqueue()
  const third = line.enqueue()
  expect(third).not.toBeNull()
  expect(line.enqueue()).toBeNull()
  leave?.()
  expect(await third).toBeFunction()
  expect(line.enqueue()).not.toBeNull()
})

test("a server that throttles us with a Retry-After is not queried until that time", () => {
  const { line, make, clock } = lined()
  make(sentOff(120_000))
  expect([line.isBlocked, line.enqueue(), line.acquire()]).toEqual([true, null, null])
  clock.tick(119_999)
  expect(line.isBlocked).toBe(true)
  clock.tick(1)
  expect(line.isBlocked).toBe(false)
  expect(make(ANSWERED)).toBe(true)
})

test("a pause is at least a second, at most an hour, and a minute without Retry-After", () => {
  for (const [queries, ms] of [
    [0, 1000],
    [999, 1000],
    [1001, 1001],
    [HOUR_MS - 1, HOUR_MS - 1],
    [HOUR_MS + 1, HOUR_MS],
    [999_999_999_000, HOUR_MS],
    [null, MINUTE_MS],
  ] as const) {
    const { line, make, clock } = lined()
    make(sentOff(queries))
    clock.tick(ms - 1)
    expect([queries, line.isBlocked]).toEqual([queries, true])
    clock.tick(1)
    expect([queries, line.isBlocked]).toEqual([queries, false])
  }
})

test("of several pauses the longest counts, and an answer to an earlier request does not shorten it", () => {
  const { line, clock } = lined()
  const [first, second, third] = [line.acquire(), line.acquire(), line.acquire()]
  first?.(sentOff(10_000))
  second?.(sentOff(5000))
  third?.(ANSWERED)
  clock.tick(9999)
  expect(line.isBlocked).toBe(true)
  clock.tick(1)
  expect(line.isBlocked).toBe(false)
})

test("five failures in a row block it for half a minute, and then one trial request is permitted", () => {
  const { line, make, clock } = lined()
  for (let n = 0; n < 4; n++) make(FAILED)
  make(ANSWERED)
  for (let n = 0; n < 4; n++) make(FAILED)
  expect(line.isBlocked).toBe(false)
  make(FAILED)
  expect(line.isBlocked).toBe(true)
  clock.tick(29_999)
  expect(make(ANSWERED)).toBe(false)
  clock.tick(1)
  const trial = line.acquire()
  expect(trial).not.toBeNull()
  expect(line.acquire()).toBeNull()
  trial?.(FAILED)
  expect(line.isBlocked).toBe(true)
  clock.tick(30_000)
  expect(make(ANSWERED)).toBe(true)
  expect([make(ANSWERED), make(ANSWERED)]).toEqual([true, true])
})

test("throttling is no failure", () => {
  const { line, make, clock } = lined()
  for (let n = 0; n < 20; n++) {
    make(sentOff(1000))
    clock.tick(1000)
  }
  expect(line.isBlocked).toBe(false)
})
