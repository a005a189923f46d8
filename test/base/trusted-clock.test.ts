import { expect, test } from "bun:test"
import { DAY_MS, HOUR_MS } from "../../src/base/time.ts"
import {
  CLOCK_HOLD_MS_MAX,
  CLOCK_SKEW_MS_MAX,
  CLOCK_TRIAL_MS_MAX,
  type StoredTime,
  TrustedClock,
} from "../../src/base/trusted-clock.ts"

const START = Date.UTC(2026, 0, 1, 12)
const AHEAD = { hour: HOUR_MS, day: DAY_MS, year: 365 * DAY_MS }

/** A host whose clock can be set, and a database's; `pass` lets time go by, with a reading every five seconds as a server takes them. */
function host(stored: StoredTime | null, ahead = 0) {
  const state = { elapsed: 1000.25, ahead, databaseAhead: 0 }
  const truth = (): number => START + Math.floor(state.elapsed)
  const clock = (): number => truth() + state.ahead
  const stopwatch = (): number => state.elapsed
  const trusted = new TrustedClock({ clock, stopwatch }, stored)
  const read = (tookMs = 0): void => {
    const askedMs = state.elapsed
    state.elapsed += tookMs
    trusted.observe(stored === null ? truth() + state.databaseAhead : clock(), askedMs)
  }
  const pass = (ms: number): void => {
    for (const end = state.elapsed + ms; state.elapsed < end; ) {
      state.elapsed += Math.min(5000, end - state.elapsed)
      read()
    }
  }
  return { state, truth, trusted, read, pass }
}

const FRESH: StoredTime = { confirmedAtMs: START, heldMs: 0 }

for (const [name, ms] of Object.entries(AHEAD)) {
  test(`a clock that is set a ${name} ahead deletes nothing from that moment on, and days go on by the stopwatch`, () => {
    const { state, truth, trusted, pass } = host(FRESH)
    pass(20_000)
    expect(trusted.now()).toBe(truth() as never)
    state.ahead = ms
    expect([trusted.now(), trusted.reference()]).toEqual([null, truth()])
    pass(60_000)
    expect([trusted.now(), trusted.reference()]).toEqual([null, truth()])
    // Set back within the trial, it is as if nothing had been.
    state.ahead = 0
    pass(5000)
    expect(trusted.now()).toBe(truth() as never)
  })

  test(`a start a ${name} after the newest stored time is no reason to delete, until the clock has run for as long, a day at most`, () => {
    const { truth, state, trusted, read, pass } = host(FRESH, ms)
    read()
    expect(trusted.now()).toBeNull()
    expect(Math.abs(trusted.reference() - START)).toBeLessThan(2000)
    pass(CLOCK_TRIAL_MS_MAX - 5000)
    expect(Math.abs(trusted.reference() - truth())).toBeLessThan(2000)
    pass(10_000)
    expect(trusted.reference()).toBe(truth() + state.ahead)
    pass(Math.min(ms, CLOCK_HOLD_MS_MAX) - CLOCK_TRIAL_MS_MAX - 20_000)
    expect(trusted.now()).toBeNull()
    pass(30_000)
    expect(trusted.now()).toBe((truth() + state.ahead) as never)
  })

  test(`a clock a ${name} ahead of the database's deletes nothing and opens no day, however long`, () => {
    const { state, truth, trusted, read, pass } = host(null, ms)
    expect(trusted.now()).toBeNull()
    read()
    expect([trusted.now(), trusted.reference()]).toEqual([null, truth()])
    pass(2 * DAY_MS)
    expect([trusted.now(), trusted.reference()]).toEqual([null, truth()])
    expect(trusted.doubt()?.remainingMs).toBeNull()
    state.ahead = 0
    expect(trusted.now()).toBe(truth() as never)
  })

  test(`a database whose clock is set a ${name} ahead deletes nothing, and opens no day for a while`, () => {
    const { state, truth, trusted, pass } = host(null)
    pass(10_000)
    state.databaseAhead = ms
    pass(60_000)
    expect([trusted.now(), trusted.reference()]).toEqual([null, truth()])
    state.databaseAhead = 0
    pass(5000)
    expect(trusted.now()).toBe(truth() as never)
  })
}

test("what expires goes by the database, or by the clock before it jumped; a start after a long stop believes the clock", () => {
  const hosts = { database: host(null), own: host(FRESH), afterStop: host(FRESH, HOUR_MS) }
  for (const { pass } of Object.values(hosts)) pass(20_000)
  const { database, own, afterStop } = hosts
  expect(afterStop.trusted.rowClock()).toBe(afterStop.truth() + HOUR_MS)
  for (const { state, truth, trusted, pass } of [database, own]) {
    state.ahead = HOUR_MS
    pass(CLOCK_TRIAL_MS_MAX - 5000)
    expect(trusted.rowClock()).toBe(truth())
  }
  database.pass(DAY_MS)
  expect(database.trusted.rowClock()).toBe(database.truth())
})

test("the time of rows stands still where a reading sets the reference back by its error, and goes back with one that was wrong", () => {
  const { state, trusted, read } = host(null)
  for (const [databaseAhead, toldMs] of [
    [5000, 5000],
    [0, 5000],
    [-1, -1],
  ] as const) {
    Object.assign(state, { databaseAhead })
    read()
    expect([databaseAhead, trusted.rowClock()]).toEqual([databaseAhead, START + 1000 + toldMs])
  }
})

test("two clocks that differ by a minute confirm each other, and by a millisecond more they do not", () => {
  for (const sign of [1, -1]) {
    const { state, trusted, read } = host(null, sign * CLOCK_SKEW_MS_MAX)
    state.elapsed = 2000
    read()
    expect(trusted.now()).not.toBeNull()
    state.ahead += sign
    expect(trusted.now()).toBeNull()
  }
})

test("a clock that is set back deletes nothing and brings back no time", () => {
  const { state, truth, trusted, pass } = host(FRESH)
  pass(20_000)
  state.ahead = -DAY_MS
  pass(60_000)
  expect([trusted.now(), trusted.reference()]).toEqual([null, truth()])
})

test("a reading that took long says nothing, and one after a pause of the process is in line", () => {
  const { state, truth, trusted, read } = host(null)
  read()
  // The database told its time, and the answer waited.
  state.databaseAhead = -30_000
  read(30_000)
  expect(trusted.reference()).toBe(truth())
  state.databaseAhead = 0
  state.elapsed += HOUR_MS
  expect(trusted.now()).toBe(truth() as never)
})

test("the clocks of host and database that jump alike, as one clock or after a host was suspended, are believed in the end and not at once", () => {
  for (const ms of Object.values(AHEAD)) {
    const { state, truth, trusted, pass } = host(null)
    pass(10_000)
    state.ahead = ms
    state.databaseAhead = ms
    pass(60_000)
    expect([trusted.now(), trusted.reference()]).toEqual([null, truth()])
    pass(CLOCK_TRIAL_MS_MAX)
    expect([trusted.now(), trusted.reference()]).toEqual([null, truth() + ms])
    pass(Math.min(ms, CLOCK_HOLD_MS_MAX))
    expect(trusted.now()).toBe((truth() + ms) as never)
  }
})

test("a server that is off each night deletes in the end, and one with a new jump of more than a day waits anew", () => {
  let { stored } = host(FRESH).trusted
  const heldMs: number[] = []
  let nowMs = START
  for (let day = 0; day < 3; day++) {
    nowMs += 16 * HOUR_MS
    const { state, trusted, read, pass } = host(stored, nowMs - START)
    read()
    pass(8 * HOUR_MS)
    nowMs = START + state.ahead + 8 * HOUR_MS
    stored = trusted.stored
    heldMs.push(Math.round(stored.heldMs / HOUR_MS))
  }
  expect(heldMs).toEqual([8, 0, 8])
  const later = host(stored, nowMs - START + 365 * DAY_MS)
  later.read()
  later.pass(8 * HOUR_MS)
  expect(Math.round(later.trusted.stored.heldMs / HOUR_MS)).toBe(16)
})

test("a database without any time trusts the clock", () => {
  expect(host({ confirmedAtMs: null, heldMs: 0 }).trusted.now()).not.toBeNull()
})

test("a jump is counted once while a server runs, and neither a long stop before it nor a clock that is set back is one", () => {
  const { state, trusted, read, pass } = host(FRESH, DAY_MS)
  read()
  pass(CLOCK_TRIAL_MS_MAX + 60_000)
  expect(trusted.jumpCount).toBe(0)
  state.ahead += HOUR_MS
  pass(60_000)
  expect(trusted.jumpCount).toBe(1)
  state.ahead -= HOUR_MS
  pass(60_000)
  expect(trusted.jumpCount).toBe(1)
  state.ahead -= DAY_MS
  pass(60_000)
  expect(trusted.jumpCount).toBe(2)
})
