import { expect, test } from "bun:test"
import { dayEndMs } from "../../../../src/base/time.ts"
import { createMonotonicDay } from "../../../../src/customers/quota/units/quota-day.ts"

const DAY_MS = 86_400_000
const midnight = Date.UTC(2026, 0, 2)
const day = midnight / DAY_MS

test("a day begins at midnight UTC, and ends where the next begins", () => {
  expect(createMonotonicDay()(midnight - 1)).toBe(day - 1)
  expect(createMonotonicDay()(midnight)).toBe(day)
  expect(dayEndMs(day - 1)).toBe(midnight)
  expect(createMonotonicDay()(0)).toBe(0)
})

test("a clock that is set back over midnight does not bring back the day before", () => {
  const today = createMonotonicDay()
  expect([midnight, midnight - 1, midnight - DAY_MS, midnight + 1].map(today)).toEqual([day, day, day, day])
  expect(today(midnight + DAY_MS)).toBe(day + 1)
})

test("a clock that is set back by more than a day is believed", () => {
  const today = createMonotonicDay()
  expect(today(midnight)).toBe(day)
  expect(today(midnight - DAY_MS - 1)).toBe(day - 2)
  expect(today(midnight + 3 * 365 * DAY_MS)).toBe(day + 1095)
  expect(today(midnight)).toBe(day)
})
