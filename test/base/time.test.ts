import { expect, test } from "bun:test"
import { createIntervals, dayStart, isoDate, tickClock, utcDay } from "../../src/base/time.ts"

test("a day is from its first millisecond to its last, UTC", () => {
  const first = Date.UTC(2024, 1, 29)
  const day = utcDay(first)
  expect([utcDay(first - 1), utcDay(first + 86_399_999), utcDay(first + 86_400_000)]).toEqual([day - 1, day, day + 1])
  expect([isoDate(day - 1), isoDate(day), isoDate(day + 1)]).toEqual(["2024-02-28", "2024-02-29", "2024-03-01"])
  expect(dayStart(day)).toBe("2024-02-29T00:00:00.000Z")
})

test("day 0 is the first of the Unix epoch, and days before it are counted too", () => {
  expect([utcDay(0), utcDay(-1), isoDate(0), isoDate(-1)]).toEqual([0, -1, "1970-01-01", "1969-12-31"])
})

test("works are done by their times from the beginning on, and none is when it has ended", () => {
  const begun: string[] = []
  const every = (everyMs: number, work: () => void) => {
    work()
    begun.push(`every ${everyMs}`)
    return () => void begun.push(`end ${everyMs}`)
  }
  const { start, stop } = createIntervals(every, [
    [10, () => void begun.push("first")],
    [20, () => void begun.push("second")],
  ])
  expect(begun).toEqual([])
  start()
  expect(begun.splice(0)).toEqual(["first", "every 10", "second", "every 20"])
  stop()
  stop()
  expect(begun).toEqual(["end 10", "end 20"])
})

test("the time stands still within a turn, and is read anew in the next", () => {
  const ends: (() => void)[] = []
  let time = 1000
  let reads = 0
  const clock = tickClock(
    () => {
      reads++
      return time
    },
    work => void ends.push(work),
  )
  expect([clock(), reads]).toEqual([1000, 1])
  time = 2000
  expect([clock(), reads, ends.length]).toEqual([1000, 1, 1])
  for (const end of ends.splice(0)) end()
  expect([clock(), clock(), reads]).toEqual([2000, 2000, 2])
  // Also where a clock is set back, and at the epoch itself.
  for (const end of ends.splice(0)) end()
  time = 0
  expect([clock(), clock(), reads]).toEqual([0, 0, 3])
})
