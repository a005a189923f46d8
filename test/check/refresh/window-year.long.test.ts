import { expect, test } from "bun:test"
import { daysOf, FIRST, windowFixture } from "./window-fixture.ts"

const DAYS = 365
const KEPT_DAYS = 180
/** Nobody refreshes on the first day, and the window of the second is empty. */
const [MISSED, EMPTY] = [50, 200]
/** The server fails on forty days. */
const isAway = (day: number): boolean => day >= 100 && day < 140

const windowOf = (day: number): readonly string[] =>
  day === EMPTY ? [] : Array.from({ length: 60 }, (_, at) => `first${day + at}.com`)
const isoDay = (day: number): string => new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10)

test("a window source has after a year the names of the last 180 days, whatever its server did on some of them", async () => {
  const fixture = await windowFixture()
  const days = new Map<string, readonly [first: number, last: number]>(FIRST.map(name => [name, [0, 0]]))
  const outcomes = new Map<string, number>()
  for (let day = 1; day <= DAYS; day++) {
    await fixture.nextDay()
    if (day === MISSED) continue
    const names = isAway(day) ? [] : windowOf(day)
    fixture.serve("fresh", isAway(day) ? () => new Response(null, { status: 503 }) : [...names])
    const outcome = String((await fixture.refresh()).sources["fresh"]?.outcome)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    for (const name of names) days.set(name, [days.get(name)?.[0] ?? day, day])
  }
  expect(Object.fromEntries(outcomes)).toEqual({ taken: 323, failed: 40, refused: 1 })
  const expected = [...days].map(([name, [first, last]]) => [
    name,
    last < DAYS - KEPT_DAYS ? [] : [[isoDay(first), isoDay(last)]],
  ])
  expect(expected.map(([name]) => [name, daysOf(fixture, String(name))])).toEqual(expected)
})
