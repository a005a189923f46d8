import { expect, test } from "bun:test"
import { Arrivals } from "../../../bench/load/arrivals.ts"

function arrivals(perSecond: number, waitingMax: number) {
  const givenUp: number[] = []
  const due = new Arrivals(perSecond, waitingMax, dueAt => givenUp.push(dueAt))
  due.start(1000)
  const all = (now: number) => {
    const taken: number[] = []
    for (let one = due.take(now); one !== undefined; one = due.take(now)) taken.push(one)
    return taken
  }
  return { due, all, givenUp }
}

test("requests are due at even distances from the start, the first at once", () => {
  const { due, all } = arrivals(4, 10)
  expect(all(999)).toEqual([])
  expect(all(1000)).toEqual([1000])
  expect(due.nextAt).toBe(1250)
  expect(all(1249.9)).toEqual([])
  expect(all(1750)).toEqual([1250, 1500, 1750])
})

test("whoever takes late still learns when each was due, the one that has waited longest first", () => {
  const { due } = arrivals(1000, 10)
  expect([due.take(1003.5), due.take(1003.5), due.take(1009)]).toEqual([1000, 1001, 1002])
})

test("as many wait as may, and what becomes due then is given up, not what waits", () => {
  const { all, givenUp } = arrivals(1000, 2)
  expect(all(1003)).toEqual([1000, 1001])
  expect(givenUp).toEqual([1002, 1003])
  expect(all(1004)).toEqual([1004])
})

test("distances do not add up their rounding", () => {
  const { due, all } = arrivals(3, 4000)
  all(1_001_000)
  expect(due.nextAt).toBeCloseTo(1_001_000 + 1000 / 3, 6)
})
