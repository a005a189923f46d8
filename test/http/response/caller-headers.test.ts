import { expect, test } from "bun:test"
import { rateLimitState } from "../../../src/http/response/caller-headers.ts"

const NOON_MS = Date.UTC(2026, 0, 1, 12)

test("what is left is told in whole numbers, whoever was told what before and whenever", () => {
  const counts = [...Array(2100).keys(), 9999, 10_000, 99_999, 1_000_000, 1_000_999, 12_345_678_901]
  for (const [at, day] of counts.entries()) {
    const nowMs = NOON_MS + (at % 3) * 400
    const t = 43_200 - Math.floor(((at % 3) * 400) / 1000)
    const both = { requestsPerSecond: 10, unitsPerDay: 1 }
    expect(rateLimitState(both, at % 25, day, nowMs)).toBe(
      `"second";r=${Math.min(at % 25, 10)};t=1, "day";r=${day};t=${t}`,
    )
    const units = { requestsPerSecond: null, unitsPerDay: 1 }
    expect(rateLimitState(units, 0, day, nowMs)).toBe(`"day";r=${day};t=${t}`)
    const rate = { requestsPerSecond: 10, unitsPerDay: null }
    expect(rateLimitState(rate, at % 25, 0, nowMs)).toBe(`"second";r=${Math.min(at % 25, 10)};t=1`)
  }
  // A clock that is beyond the end of the day.
  expect(rateLimitState({ requestsPerSecond: null, unitsPerDay: 1 }, 0, 0, NOON_MS, 0)).toBe('"day";r=0;t=1')
  expect(rateLimitState({ requestsPerSecond: null, unitsPerDay: null }, 0, 0, NOON_MS)).toBe("")
})
