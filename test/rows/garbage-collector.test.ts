import { expect, test } from "bun:test"
import { createCollector } from "../../src/rows/garbage-collector.ts"

/** The collections after so many parts of 100 rows, for each of which the network is asked or not; true: a complete one. */
function collections(partsCount: number, isLookedUp: boolean): readonly boolean[] {
  const made: boolean[] = []
  const collectAfter = createCollector(isAll => made.push(isAll))
  for (let part = 0; part < partsCount; part++) collectAfter({ rows: 100, lookups: isLookedUp ? 100 : 0 })
  return made
}

test("rows that the network is asked about leave more behind, so all of it is collected twice as often", () => {
  expect(collections(200, false)).toEqual([...Array(7).fill(false), true])
  expect(collections(200, true)).toEqual([...Array(3).fill(false), true, ...Array(3).fill(false), true])
})

test("each bound of young garbage and of all of it is counted from the last collection that it asks for", () => {
  const made: boolean[] = []
  const collectAfter = createCollector(
    isAll => made.push(isAll),
    () => ({
      young: { rows: 10, lookups: 2, bytes: 100 },
      all: { rows: 1000, lookups: 5, bytes: 1000 },
    }),
  )
  const madeBy = (done: Parameters<typeof collectAfter>[0]): readonly boolean[] => {
    made.length = 0
    collectAfter(done)
    return [...made]
  }
  expect(madeBy({ rows: 9, lookups: 1 })).toEqual([])
  expect(madeBy({ rows: 1 })).toEqual([false])
  expect(madeBy({ rows: 9, lookups: 1, bytes: 99 })).toEqual([])
  expect(madeBy({ bytes: 1 })).toEqual([false])
  expect(madeBy({ rows: 1, lookups: 3 })).toEqual([true])
  expect(madeBy({ rows: 9, lookups: 1 })).toEqual([])
})
