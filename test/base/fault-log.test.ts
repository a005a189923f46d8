import { expect, test } from "bun:test"
import { FaultLog, REMINDER_MS } from "../../src/base/fault-log.ts"
import type { LogFields } from "../../src/base/log.ts"
import type { LogLevel } from "../../src/base/log-level.ts"

/** A log of faults in a time that the test moves, and what it has written from level info on. */
function desk() {
  const lines: string[] = []
  const debugLines: string[] = []
  const state = { now: 0, remind: null as (() => void) | null, intervals: 0 }
  const write = (level: LogLevel, message: string, fields: LogFields = {}): void =>
    void (level === "debug" ? debugLines : lines).push(`${level} ${message} ${JSON.stringify(fields)}`)
  const faults = new FaultLog(write, {
    stopwatch: () => state.now,
    runInterval: (everyMs, work) => {
      expect(everyMs).toBe(REMINDER_MS)
      state.intervals++
      state.remind = work
      return () => {
        state.remind = null
      }
    },
    describe: fault => ({ why: `It is ${fault}.` }),
  })
  const pass = (ms: number): void => {
    state.now += ms
    state.remind?.()
  }
  return { faults, lines, debugLines, state, pass }
}

const AWAY = { fault: "away" }
const CIRCUMSTANCES = { where: "127.0.0.1:5432", why: "it does not answer", remedy: "" }

test("a fault is told once, once a minute with what it cost so far, and when it is over", () => {
  const { faults, lines, debugLines, pass, state } = desk()
  faults.log("error", "the database does not answer", { ...AWAY, remedy: "Start it." })
  for (let at = 0; at < 100; at++) faults.log("error", "usage was not written", AWAY)
  for (let at = 0; at < 30; at++) faults.log("debug", "a request failed", { ...AWAY, request_id: `req_${at}` })
  state.now += 21_000
  faults.log("error", "usage was not written", AWAY)
  pass(39_000)
  state.now += 5000
  faults.log("error", "usage was not written", AWAY)
  state.now += 5000
  expect(faults.end("away")).toEqual({ lasted_s: 65, failed_requests: 30, failed_tasks: 102 })
  expect(faults.end("away")).toBeNull()
  expect(lines).toEqual([
    'error the database does not answer {"fault":"away","remedy":"Start it.","why":"It is away."}',
    'error requests fail {"fault":"away","why":"It is away."}',
    'warn a fault continues {"fault":"away","why":"It is away.","lasted_s":21,"failed_requests":30,"failed_tasks":101}',
  ])
  expect(debugLines).toHaveLength(132)
  expect(state.remind).toBeNull()
})

test("a fault that nobody ends is over when nothing has failed by it for a minute, lasted until that, and may begin again", () => {
  const { faults, lines, pass, state } = desk()
  faults.log("error", "usage was not written", { fault: "full" })
  state.now += 20_000
  faults.log("error", "usage was not written", { fault: "full" })
  pass(40_000)
  pass(REMINDER_MS)
  pass(REMINDER_MS)
  faults.log("error", "usage was not written", { fault: "full" })
  expect(lines[2]).toContain('"fault":"full","lasted_s":20,')
  expect(lines.map(line => line.split(" {")[0])).toEqual([
    "error usage was not written",
    "warn a fault continues",
    "info a fault is over",
    "error usage was not written",
  ])
})

test("a fault that is held is over when it is ended alone, and is told of again only when something has failed by it", () => {
  const { faults, lines, pass } = desk()
  faults.outages("warn", "DNS does not answer", "DNS answers again")({ fault: "dns_silent", ...CIRCUMSTANCES })
  for (const failedCount of [0, 0, 3]) {
    for (let at = 0; at < failedCount; at++) faults.countTask("dns_silent")
    pass(REMINDER_MS)
  }
  for (const unknown of ["", "full"]) faults.countTask(unknown)
  expect(faults.end("dns_silent")).toEqual({
    where: "127.0.0.1:5432",
    lasted_s: 180,
    failed_requests: 0,
    failed_tasks: 3,
  })
  expect(lines.map(line => line.split(" {")[0])).toEqual(["warn DNS does not answer", "warn a fault continues"])
})

test("faults are told apart, and every other line passes as it is", () => {
  const { faults, lines, state } = desk()
  faults.log("error", "usage was not written", AWAY)
  faults.log("error", "traffic was not written", { fault: "full" })
  faults.log("info", "metrics are served now")
  faults.log("warn", "the lists were not refreshed", { why: "away" })
  expect(lines).toHaveLength(4)
  expect(state.intervals).toBe(1)
})

test("every failed request has its line as it was logged, and the first by a fault one before it that describes that, whatever has begun it", () => {
  for (const isBegun of [false, true]) {
    const { faults, lines, debugLines } = desk()
    if (isBegun) faults.log("error", "usage was not written", AWAY)
    for (const level of ["info", "info", "debug"] as const)
      faults.log(level, "a request failed", { ...AWAY, request_id: "req_1" })
    faults.log("error", "usage was not written", AWAY)
    expect(lines.slice(isBegun ? 1 : 0)).toEqual([
      'error requests fail {"fault":"away","why":"It is away."}',
      'info a request failed {"fault":"away","request_id":"req_1"}',
      'info a request failed {"fault":"away","request_id":"req_1"}',
    ])
    expect(debugLines).toHaveLength(2)
    expect(faults.end("away")).toMatchObject({ failed_requests: 3, failed_tasks: 1 })
  }
})

test("an outage is told although something has failed by it before, is counted from there, and ends with its fault and place", () => {
  const { faults, lines, pass } = desk()
  faults.log("info", "a request failed", { ...AWAY, request_id: "req_1" })
  const tell = faults.outages("error", "the database does not answer", "the database answers again")
  tell({ ...AWAY, ...CIRCUMSTANCES })
  for (let minute = 0; minute < 3; minute++) pass(REMINDER_MS)
  tell(null)
  expect(lines.pop()).toBe(
    'info the database answers again {"fault":"away","where":"127.0.0.1:5432","lasted_s":180,"failed_requests":1,"failed_tasks":0}',
  )
  expect(lines.map(line => line.split(" {")[0])).toEqual([
    "error requests fail",
    "info a request failed",
    "error the database does not answer",
  ])
})

test("an outage does not count the time between a failure before it and its own beginning", () => {
  const { faults, lines, state } = desk()
  const tell = faults.outages("error", "the database does not answer", "the database answers again")
  faults.log("error", "usage was not written", AWAY)
  state.now += 2000
  faults.log("error", "usage was not written", AWAY)
  state.now += 50_000
  tell({ ...AWAY, ...CIRCUMSTANCES })
  state.now += 78_000
  tell(null)
  expect(lines.pop()).toContain('"lasted_s":80,')
})

test("a failure a minute or more after the last one begins a fault anew, before a reminder has told that the one before is over", () => {
  const { faults, lines, state } = desk()
  const tell = faults.outages("error", "the database does not answer", "the database answers again")
  for (const pauseMs of [21_000, 95_000]) {
    faults.log("error", "usage was not written", AWAY)
    state.now += pauseMs
  }
  tell({ ...AWAY, ...CIRCUMSTANCES })
  state.now += 78_000
  tell(null)
  expect(lines.map(line => [line.split(" {")[0], /"lasted_s":(\d+)/.exec(line)?.[1]])).toEqual([
    ["error usage was not written", undefined],
    ["info a fault is over", "21"],
    ["error the database does not answer", undefined],
    ["info the database answers again", "78"],
  ])
})

test("an outage that turns into another one is over then, and does not last on behind it", () => {
  const { faults, lines, pass } = desk()
  const tell = faults.outages("warn", "DNS does not answer", "DNS answers again")
  for (const fault of ["dns_silent", "dns_refused", "dns_refused"]) {
    tell({ fault, ...CIRCUMSTANCES })
    pass(REMINDER_MS)
  }
  tell(null)
  expect(lines.filter(line => line.startsWith("info")).map(line => JSON.parse(line.slice(line.indexOf("{"))))).toEqual([
    expect.objectContaining({ fault: "dns_silent", lasted_s: 60 }),
    expect.objectContaining({ fault: "dns_refused", lasted_s: 120 }),
  ])
  expect(faults.end("dns_silent")).toBeNull()
})

test("a log with more fields has them in each of its own lines", () => {
  const { faults, lines } = desk()
  const ofWorker = faults.withFields({ worker: 1 })
  ofWorker.log("info", "a request failed", { ...AWAY, request_id: "req_1" })
  expect(lines[0]).toBe('error requests fail {"worker":1,"fault":"away","why":"It is away."}')
  expect(faults.end("away")).toBeNull()
})

test("a refused request, and a failed one without a fault, begin none", () => {
  const { faults, lines, debugLines } = desk()
  faults.log("debug", "a request was refused", { ...AWAY, request_id: "req_1" })
  faults.log("info", "a request failed", { request_id: "req_2" })
  expect([lines, debugLines]).toEqual([
    ['info a request failed {"request_id":"req_2"}'],
    ['debug a request was refused {"fault":"away","request_id":"req_1"}'],
  ])
})

test("no more than a bounded number of faults is remembered: others have their lines", () => {
  const { faults, lines } = desk()
  for (let at = 0; at < 100; at++) faults.log("error", "usage was not written", { fault: `F${at}` })
  for (let at = 0; at < 100; at++) faults.log("error", "usage was not written", { fault: `F${at}` })
  expect(lines).toHaveLength(150)
})
