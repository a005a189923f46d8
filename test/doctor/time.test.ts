import { expect, test } from "bun:test"
import { aheadOf, CLOCK_OFF_MS, examineTime } from "../../src/doctor/time.ts"

const NOW = Date.UTC(2026, 5, 1)
const known = { nowMs: NOW, listsAtMs: NOW - 1, writtenAtMs: NOW - 1, aheadMs: [] }

test("a clock before the lists, or before what was written, has failed", () => {
  expect(examineTime({ ...known, listsAtMs: NOW }).verdict).toBe("ok")
  expect(examineTime({ ...known, listsAtMs: NOW + 1 })).toMatchObject({ verdict: "failed" })
  expect(examineTime({ ...known, writtenAtMs: NOW + CLOCK_OFF_MS }).verdict).toBe("ok")
  expect(examineTime({ ...known, writtenAtMs: NOW + CLOCK_OFF_MS + 1 })).toMatchObject({ verdict: "failed" })
  expect(examineTime({ ...known, listsAtMs: null, writtenAtMs: null }).verdict).toBe("ok")
})

test("servers that tell another time make it doubtful, and one of three alone does not", () => {
  expect(examineTime({ ...known, aheadMs: [CLOCK_OFF_MS] })).toMatchObject({ verdict: "ok" })
  expect(examineTime({ ...known, aheadMs: [CLOCK_OFF_MS + 1] })).toMatchObject({
    verdict: "warning",
    seen: "It is 2026-06-01T00:00:00Z, 60 s behind the servers that were asked.",
  })
  expect(examineTime({ ...known, aheadMs: [-90_000, -90_000, 5] })).toMatchObject({
    verdict: "warning",
    seen: expect.stringContaining("90 s ahead of"),
  })
  expect(examineTime({ ...known, aheadMs: [9e9, 0, 100] }).verdict).toBe("ok")
})

test("the time of a server is its Date and what a cache has added to it", () => {
  const date = new Date(NOW - 30_000).toUTCString()
  expect(aheadOf(new Headers({ date, age: "20" }), NOW)).toBe(-10_000)
  expect(aheadOf(new Headers({ date }), NOW)).toBe(-30_000)
  expect(aheadOf(new Headers({ date, age: "x" }), NOW)).toBe(-30_000)
  expect(aheadOf(new Headers({ date: "soon" }), NOW)).toBeNull()
  expect(aheadOf(new Headers(), NOW)).toBeNull()
})
