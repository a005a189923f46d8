import { expect, test } from "bun:test"
import { sumFigures } from "../../../../src/customers/usage/usage-history.ts"
import { type DayFigures, strikingDay } from "../../../../src/http/site/dashboard/overview/usage-figures.ts"

const NOTHING = sumFigures([])

const day = (number: number, allow: number, block: number): DayFigures => ({
  ...NOTHING,
  day: number,
  checks: allow + block,
  byRecommendation: { allow, review: 0, block },
})

test("the day that stands out is the one with the most blocked checks above the usual share, else the busiest one", () => {
  const [busy, worst] = [day(2, 180, 20), day(4, 60, 60)]
  const usual = [day(1, 90, 10), busy, day(3, 95, 12)]
  expect(strikingDay([...usual, worst, day(5, 1, 9)])).toEqual({ kind: "blocked", figures: worst })
  expect(strikingDay(usual)).toEqual({ kind: "busy", figures: busy })
})

test("no day stands out among few checks, equal days or none", () => {
  for (const days of [[], [day(1, 0, 9)], [day(1, 90, 10), day(2, 91, 9)], [day(1, 0, 0), day(2, 500, 50)]])
    expect(strikingDay(days)).toBeNull()
})
