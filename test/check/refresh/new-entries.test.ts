import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { isoDate } from "../../../src/base/time.ts"
import type { DownloadedSource } from "../../../src/check/lists/sources/source-bundle.ts"
import { addWindow, type WindowHistory, withoutExpired } from "../../../src/check/refresh/new-entries.ts"

const ROW = { days: 180, names: 1000 }
/** 1 January 2026. */
const FIRST_DAY = 20_454
const dayOf = (number: number): string => isoDate(FIRST_DAY + number)

/** Names `name-FROM.com` and so on. */
const namesFrom = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `name-${from + at}.com`)

type Held = { readonly source: DownloadedSource; readonly window: WindowHistory | null }

/** A window source that is given windows day by day. */
function windowSource() {
  let held: Held | null = null
  const add = (day: number, entries: readonly string[]) => {
    const result = addWindow({ entries, malformedCount: 0 }, held, ROW, dayOf(day))
    if (result.kind === "added") held = result
    return result.kind === "refused" ? result.message : result.kind
  }
  return {
    add,
    /** The names that count on a day, with the days on which they were first and last seen. */
    countingOn: (day: number): Map<string, string> => {
      if (held === null) return new Map()
      const { entries, addedOn, lastSeenOn } = withoutExpired(held.source, ROW.days, dayOf(day))
      return new Map(entries.map(name => [name, `${addedOn.get(name)} ${lastSeenOn?.get(name)}`]))
    },
    held: () => held,
    hold: (other: Held) => {
      held = other
    },
  }
}

/** A source of which windows of 1000 names bring 20 new ones a day, up to and without `day`. */
function steadySource(day: number) {
  const source = windowSource()
  for (let at = 0; at < day; at++) source.add(at, namesFrom(at * 20, 1000))
  return source
}

describe("a window", () => {
  test("is added to the names before, which keep the days on which they were first and last seen", () => {
    const source = windowSource()
    expect(source.add(0, ["a.com", "b.com"])).toBe("added")
    expect(source.add(3, ["b.com", "c.com"])).toBe("added")
    expect([...source.countingOn(3)].toSorted()).toEqual([
      ["a.com", "2026-01-01 2026-01-01"],
      ["b.com", "2026-01-01 2026-01-04"],
      ["c.com", "2026-01-04 2026-01-04"],
    ])
  })

  test("counts for 180 days after a name was last seen, and not on the day after", () => {
    const source = windowSource()
    source.add(0, ["a.com", "b.com"])
    source.add(1, ["b.com"])
    expect([...source.countingOn(180).keys()].toSorted()).toEqual(["a.com", "b.com"])
    expect([...source.countingOn(181).keys()]).toEqual(["b.com"])
    expect([...source.countingOn(182).keys()]).toEqual([])
  })

  test("that repeats the last one says nothing: a dead server does not keep names alive", () => {
    const source = windowSource()
    source.add(0, ["a.com", "b.com"])
    for (let day = 1; day <= 400; day += 7) expect(source.add(day, ["b.com", "a.com"])).toBe("repeated")
    expect(source.countingOn(180).get("a.com")).toBe("2026-01-01 2026-01-01")
    expect(source.countingOn(181).size).toBe(0)
  })

  test("that repeats an earlier one, after another, changes only when its names were last seen", () => {
    const source = windowSource()
    source.add(0, ["a.com", "b.com"])
    source.add(1, ["b.com", "c.com"])
    expect(source.add(2, ["a.com", "b.com"])).toBe("added")
    expect([...source.countingOn(2)].toSorted()).toEqual([
      ["a.com", "2026-01-01 2026-01-03"],
      ["b.com", "2026-01-01 2026-01-03"],
      ["c.com", "2026-01-02 2026-01-02"],
    ])
  })

  test("gives a name that had expired a new first day", () => {
    const source = windowSource()
    source.add(0, ["a.com", "b.com"])
    source.add(200, ["a.com"])
    expect([...source.countingOn(200)]).toEqual([["a.com", "2026-07-20 2026-07-20"]])
  })

  test("is added to what was downloaded before the source was a window", () => {
    const source = windowSource()
    const list = {
      entries: ["a.com", "b.com"],
      malformedCount: 0,
      date: dayOf(5),
      addedOn: new Map([["b.com", dayOf(3)]]),
    }
    source.hold({ source: list, window: null })
    expect(source.add(6, ["a.com", "b.com"])).toBe("repeated")
    expect(source.add(7, ["a.com", "c.com"])).toBe("added")
    expect([...source.countingOn(7)].toSorted()).toEqual([
      ["a.com", "2026-01-06 2026-01-08"],
      ["b.com", "2026-01-04 2026-01-06"],
      ["c.com", "2026-01-08 2026-01-08"],
    ])
  })

  test("that a clock recorded on a later day counts as seen today", () => {
    const source = windowSource()
    source.add(3000, ["a.com", "b.com"])
    expect(source.countingOn(10).get("a.com")).toBe("2026-01-11 2026-01-11")
    expect(source.add(10, ["b.com", "c.com"])).toBe("added")
    expect([...source.countingOn(195).keys()]).toEqual([])
  })
})

describe("a window is refused as poisoned", () => {
  test("if it has more than three times the usual number of new names, and it changes nothing", () => {
    const refused = steadySource(40)
    const before = refused.held()
    expect(refused.add(40, [...namesFrom(780, 939), ...namesFrom(90_000, 61)])).toBe(
      "61 of its names are new. We expected at most 60, so the list may be poisoned.",
    )
    expect(refused.held()).toBe(before)
    expect(steadySource(40).add(40, [...namesFrom(780, 940), ...namesFrom(90_000, 60)])).toBe("added")
  })

  test("by what is usual on the day in the middle: one day does not raise it", () => {
    const source = steadySource(40)
    expect(source.add(40, [...namesFrom(780, 940), ...namesFrom(90_000, 60)])).toBe("added")
    expect(source.add(41, namesFrom(95_000, 61))).toMatch(/^61 .* at most 60/)
    expect(source.add(41, namesFrom(95_000, 60))).toBe("added")
  })

  test("by the days since the last one that was taken, so that no honest source is refused for good", () => {
    const source = steadySource(40)
    expect(source.add(46, namesFrom(90_000, 421))).toMatch(/^421 .* at most 420/)
    expect(source.add(46, namesFrom(90_000, 420))).toBe("added")
    const gone = steadySource(40)
    expect(gone.add(300, namesFrom(90_000, 1000))).toBe("added")
  })

  test("on one day together with earlier windows of that day", () => {
    const source = steadySource(40)
    expect(source.add(40, namesFrom(90_000, 30))).toBe("added")
    expect(source.add(40, namesFrom(90_030, 31))).toMatch(/^61 .* at most 60/)
    expect(source.add(40, namesFrom(90_030, 30))).toBe("added")
    expect(source.add(40, namesFrom(90_060, 1))).toMatch(/^61 /)
    expect(source.add(40, namesFrom(780, 900))).toBe("added")
    expect(source.add(41, namesFrom(90_060, 1))).toBe("added")
  })

  test("in the first days, in which a tenth of a window is usual", () => {
    const at = (day: number) => {
      const source = windowSource()
      for (let before = 0; before < day; before++) source.add(before, namesFrom(before, 1000))
      return source
    }
    for (const day of [1, 7]) {
      expect(at(day).add(day, namesFrom(90_000, 301))).toMatch(/^301 .* at most 300/)
      expect(at(day).add(day, namesFrom(90_000, 300))).toBe("added")
    }
    // After seven days after the first the days themselves tell, here one new name a day, but ten are always usual.
    expect(at(8).add(8, namesFrom(90_000, 31))).toMatch(/^31 .* at most 30/)
    expect(at(8).add(8, namesFrom(90_000, 30))).toBe("added")
  })

  test("by a tenth of the names of its row at most: who raises the usual number week by week gains no more", () => {
    const source = steadySource(40)
    for (let day = 40; day < 160; day++) {
      const honest = namesFrom(day * 20, 1000)
      const most = [300, 180, 60].find(
        count => source.add(day, [...honest, ...namesFrom(100_000 + day * 1000, count - 20)]) === "added",
      )
      expect(most).toBeDefined()
    }
    expect(source.add(160, [...namesFrom(3200, 1000), ...namesFrom(900_000, 281)])).toMatch(/^301 .* at most 300/)
    expect(source.add(160, [...namesFrom(3200, 1000), ...namesFrom(900_000, 280)])).toBe("added")
  })

  test("if it is the first and has more than three times the names that its row says", () => {
    expect(windowSource().add(0, namesFrom(0, 3001))).toMatch(/^3001 .* at most 3000/)
    expect(windowSource().add(0, namesFrom(0, 3000))).toBe("added")
  })
})

test("whatever is sent, no day brings more new names than its bound, and no name is lost before its time", () => {
  const window = fc.uniqueArray(fc.nat(400), { maxLength: 120 })
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), window), { maxLength: 20 }), steps => {
      const source = windowSource()
      let day = 0
      const seen = new Map<string, number>()
      for (const [days, numbers] of steps) {
        day += days
        const names = numbers.map(number => `name-${number}.com`)
        const before = source.countingOn(day)
        const result = source.add(day, names)
        if (result === "added") for (const name of names) seen.set(name, day)
        const counting = source.countingOn(day)
        expect([...counting.keys()].toSorted()).toEqual(
          [...seen].flatMap(([name, last]) => (day - last <= ROW.days ? [name] : [])).toSorted(),
        )
        if (result !== "added") expect(counting).toEqual(before)
      }
      expect(source.held()?.window?.taken.length ?? 0).toBeLessThanOrEqual(30)
    }),
  )
})
