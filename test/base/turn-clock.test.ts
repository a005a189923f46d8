import { expect, test } from "bun:test"
import { turnClock } from "../../src/base/turn-clock.ts"

test("the time stands still within a turn, and is read anew in the next", () => {
  const ends: (() => void)[] = []
  let time = 1000
  let reads = 0
  const clock = turnClock(
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
