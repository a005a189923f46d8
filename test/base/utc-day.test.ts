import { expect, test } from "bun:test"
import { dateOf, dayOf, startOf } from "../../src/base/utc-day.ts"

test("a day is from its first millisecond to its last, UTC", () => {
  const first = Date.UTC(2024, 1, 29)
  const day = dayOf(first)
  expect([dayOf(first - 1), dayOf(first + 86_399_999), dayOf(first + 86_400_000)]).toEqual([day - 1, day, day + 1])
  expect([dateOf(day - 1), dateOf(day), dateOf(day + 1)]).toEqual(["2024-02-28", "2024-02-29", "2024-03-01"])
  expect(startOf(day)).toBe("2024-02-29T00:00:00.000Z")
})

test("day 0 is the first of the Unix epoch, and days before it are counted too", () => {
  expect([dayOf(0), dayOf(-1), dateOf(0), dateOf(-1)]).toEqual([0, -1, "1970-01-01", "1969-12-31"])
})
