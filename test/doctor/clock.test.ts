import { expect, test } from "bun:test"
import { CLOCK_SKEW_MS_MAX, diagnoseClock, serverAheadMs } from "../../src/doctor/clock.ts"

const NOW = Date.UTC(2026, 5, 1)
const known = { nowMs: NOW, listsAtMs: NOW - 1, writtenAtMs: NOW - 1, serversAheadMs: [] }

test("a clock before the lists, or before what was written, has failed, and one that nobody was asked about is not checked", () => {
  expect(diagnoseClock({ ...known, listsAtMs: NOW }).verdict).toBe("skipped")
  expect(diagnoseClock({ ...known, listsAtMs: NOW + 1 })).toMatchObject({ verdict: "failed" })
  expect(diagnoseClock({ ...known, writtenAtMs: NOW + CLOCK_SKEW_MS_MAX }).verdict).toBe("skipped")
  expect(diagnoseClock({ ...known, writtenAtMs: NOW + CLOCK_SKEW_MS_MAX + 1 })).toMatchObject({ verdict: "failed" })
  expect(diagnoseClock({ ...known, listsAtMs: null, writtenAtMs: null }).verdict).toBe("skipped")
})

test("servers that tell another time make it doubtful, and one of three alone does not", () => {
  expect(diagnoseClock({ ...known, serversAheadMs: [CLOCK_SKEW_MS_MAX] })).toMatchObject({ verdict: "ok" })
  expect(diagnoseClock({ ...known, serversAheadMs: [CLOCK_SKEW_MS_MAX + 1] })).toMatchObject({
    verdict: "warning",
    seen: "It is 2026-06-01T00:00:00Z, 60 s behind the servers that were asked.",
  })
  expect(diagnoseClock({ ...known, serversAheadMs: [-90_000, -90_000, 5] })).toMatchObject({
    verdict: "warning",
    seen: expect.stringContaining("90 s ahead of"),
  })
  expect(diagnoseClock({ ...known, serversAheadMs: [9e9, 0, 100] }).verdict).toBe("ok")
})

test("the time of a server is its Date and what a cache has added to it", () => {
  const date = new Date(NOW - 30_000).toUTCString()
  expect(serverAheadMs(new Headers({ date, age: "20" }), NOW)).toBe(-10_000)
  expect(serverAheadMs(new Headers({ date }), NOW)).toBe(-30_000)
  expect(serverAheadMs(new Headers({ date, age: "x" }), NOW)).toBe(-30_000)
  expect(serverAheadMs(new Headers({ date: "soon" }), NOW)).toBeNull()
  expect(serverAheadMs(new Headers(), NOW)).toBeNull()
})
