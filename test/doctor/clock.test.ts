import { expect, test } from "bun:test"
import { CLOCK_SKEW_MS_MAX } from "../../src/base/trusted-clock.ts"
import { type ClockReferences, diagnoseClock, serverAheadMs } from "../../src/doctor/clock.ts"

const NOW = Date.UTC(2026, 5, 1)
const known: ClockReferences = {
  ...{ nowMs: NOW, listsAtMs: NOW - 1, writtenAtMs: NOW - 1, databaseAheadMs: null, trusted: null, serversAheadMs: [] },
}

test("a clock before the lists, or before what was written, has failed, and one that nobody was asked about is not checked", () => {
  expect(diagnoseClock({ ...known, listsAtMs: NOW }).verdict).toBe("skipped")
  expect(diagnoseClock({ ...known, listsAtMs: NOW + 1 })).toMatchObject({ verdict: "failed" })
  expect(diagnoseClock({ ...known, writtenAtMs: NOW + CLOCK_SKEW_MS_MAX }).verdict).toBe("skipped")
  expect(diagnoseClock({ ...known, writtenAtMs: NOW + CLOCK_SKEW_MS_MAX + 1 })).toMatchObject({ verdict: "failed" })
  expect(diagnoseClock({ ...known, listsAtMs: null, writtenAtMs: null }).verdict).toBe("skipped")
})

test("a clock that differs from the database's by more than a minute has failed, and one that servers do not trust is doubtful", () => {
  expect(diagnoseClock({ ...known, databaseAheadMs: CLOCK_SKEW_MS_MAX })).toMatchObject({
    verdict: "ok",
    seen: expect.stringContaining("60 s behind the clock of the database"),
  })
  for (const [databaseAheadMs, words] of [
    [-500 * 86_400_000, "43200000 s ahead of the clock of the database"],
    [CLOCK_SKEW_MS_MAX + 1, "60 s behind the clock of the database"],
  ] as const)
    expect(diagnoseClock({ ...known, databaseAheadMs })).toMatchObject({
      verdict: "failed",
      seen: expect.stringContaining(words),
    })
  const trusted = { confirmedAtMs: NOW - 86_400_000, heldMs: 0, isServing: false }
  expect(diagnoseClock({ ...known, trusted }).verdict).toBe("skipped")
  for (const doubted of [
    { ...trusted, heldMs: 1 },
    { ...trusted, isServing: true },
  ])
    expect(diagnoseClock({ ...known, trusted: doubted })).toMatchObject({
      verdict: "warning",
      seen: expect.stringContaining("servers count 2026-05-31T00:00:00Z"),
    })
  expect(diagnoseClock({ ...known, trusted: { ...trusted, confirmedAtMs: NOW, isServing: true } }).verdict).toBe(
    "skipped",
  )
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
