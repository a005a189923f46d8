import { expect, test } from "bun:test"
import {
  createCollector,
  createMemoryCollector,
  defaultMemoryMb,
  processesWithin,
} from "../../src/rows/garbage-collector.ts"

const MB = 1e6

/** The collections after so many parts of 100 rows in a process of 200 MB, for each of which the network is asked or not; true: a complete one. */
function collections(residentMb: number, partsCount: number, isLookedUp: boolean): readonly boolean[] {
  const made: boolean[] = []
  const memory = { residentBytes: () => residentMb * MB, limitBytes: () => 0 }
  const collectAfter = createMemoryCollector({ collectGarbage: isAll => void made.push(isAll), memory }, 200)
  for (let part = 0; part < partsCount; part++) collectAfter({ rows: 100, lookups: isLookedUp ? 100 : 0 })
  return made
}

test("a process with room leaves its garbage to the runtime, one with little collects the young, and one with none all of it", () => {
  expect(collections(159, 200, true)).toEqual([])
  expect(collections(161, 200, false)).toEqual([false, false])
  expect(collections(185, 200, false)).toEqual([...Array(7).fill(false), true])
})

test("rows that the network is asked about leave more behind, so all of it is collected twice as often", () => {
  expect(collections(185, 200, true)).toEqual([...Array(3).fill(false), true, ...Array(3).fill(false), true])
})

test("a command takes 220 MB, at most 150 in a control group of 256 MiB, where one process has room, and never less than it runs with", () => {
  const memoryOf = (mebibytes: number) => ({ residentBytes: () => 0, limitBytes: () => mebibytes * 1_048_576 })
  expect([16_384, 256, 64].map(limit => defaultMemoryMb(memoryOf(limit)))).toEqual([220, 147, 120])
  expect(
    [16_384, 1024, 256, 64].map(limit => processesWithin(defaultMemoryMb(memoryOf(limit)), memoryOf(limit))),
  ).toEqual([42, 2, 1, 1])
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
