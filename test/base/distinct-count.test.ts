import { expect, test } from "bun:test"
import { DistinctCounter } from "../../src/base/distinct-count.ts"

const countOf = (names: number, times: number): number => {
  const counter = new DistinctCounter()
  for (let time = 0; time < times; time++) for (let at = 0; at < names; at++) counter.add(`name${at}.example`)
  return counter.count
}

test("a few thousand texts are counted exactly, each once, however often they come", () => {
  expect([countOf(0, 1), countOf(1, 3), countOf(10_000, 2), countOf(16_384, 1)]).toEqual([0, 1, 10_000, 16_384])
})

test("more texts are estimated within a few hundredths", () => {
  for (const names of [16_385, 50_000, 300_000]) expect(Math.abs(countOf(names, 1) / names - 1)).toBeLessThan(0.035)
})
