import { expect, test } from "bun:test"
import { BackOff } from "../../src/workers/back-off.ts"

test("a worker that dies is replaced at once, one that dies again and again after a growing while, half a minute at most", () => {
  const backOff = new BackOff()
  const waits = Array.from({ length: 12 }, () => backOff.afterMs(100))
  expect(waits).toEqual([0, 250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000])
})

test("one that lived for ten seconds did not die of its start, and the count begins anew", () => {
  const backOff = new BackOff()
  expect([9_999, 9_999, 10_000, 9_999].map(livedMs => backOff.afterMs(livedMs))).toEqual([0, 250, 0, 250])
})
