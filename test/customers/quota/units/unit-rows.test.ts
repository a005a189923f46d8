import { expect } from "bun:test"
import {
  addLeased,
  type DayUnits,
  readLeased,
  subtractLeased,
} from "../../../../src/customers/quota/units/unit-rows.ts"
import type { Store } from "../../../../src/customers/store/core/store.ts"
import { test } from "../../engines.ts"
import { tempStore } from "../../temp-store.ts"

const add = async (store: Store, units: DayUnits, perDay: number) => (await addLeased(store, [units], perDay))[0]
const read = async (store: Store, subject: string, day: number) => (await readLeased(store, [{ subject, day }]))[0]
const units = (count: number, day = 20_000, subject = "a") => ({ subject, day, count })

test("units of a day add up, to the quota and no further", async () => {
  const store = await tempStore()
  expect(await read(store, "a", 20_000)).toBe(0)
  expect(await add(store, units(4), 10)).toBe(4)
  expect(await add(store, units(7), 10)).toBeNull()
  expect(await add(store, units(6), 10)).toBe(10)
  expect(await add(store, units(1), 10)).toBeNull()
  expect(await read(store, "a", 20_000)).toBe(10)
})

test("subjects and days do not share", async () => {
  const store = await tempStore()
  await add(store, units(10), 10)
  expect(await add(store, units(10, 20_001), 10)).toBe(10)
  expect(await add(store, units(10, 20_000, "b"), 10)).toBe(10)
})

test("a lease after a stale read does not exceed the quota", async () => {
  const store = await tempStore()
  const [here, there] = await Promise.all([read(store, "a", 20_000), read(store, "a", 20_000)])
  const answers = await Promise.all([here, there].map(leased => add(store, units(10 - (leased ?? 0)), 10)))
  expect(answers.toSorted()).toEqual([10, null])
})

test("returned units are subtracted, and never more than there are", async () => {
  const store = await tempStore()
  await add(store, units(10), 10)
  await subtractLeased(store, units(3))
  expect(await read(store, "a", 20_000)).toBe(7)
  await subtractLeased(store, units(8))
  await subtractLeased(store, units(1, 20_001))
  expect(await read(store, "a", 20_000)).toBe(7)
})

test("the latest seven days of a subject are kept, and the days of others with them", async () => {
  const store = await tempStore()
  await add(store, units(1, 1, "b"), 10)
  for (let day = 1; day <= 8; day++) await add(store, units(day, day), 10)
  const rows = await store.all<{ subject: string; day: number }>("SELECT subject, day FROM units ORDER BY subject, day")
  expect(rows.map(({ subject, day }) => `${subject}${day}`)).toEqual(["a2", "a3", "a4", "a5", "a6", "a7", "a8", "b1"])
  // Of a day that may have been deleted nothing can be left.
  expect(await read(store, "a", 1)).toBeGreaterThan(1e12)
  expect([await read(store, "a", 2), await read(store, "b", 1)]).toEqual([2, 1])
})

test("many days in one statement are leased independently, and returned in the order of the request", async () => {
  const store = await tempStore()
  const count = 600
  const of = (at: number, some = 1) => units(some, 20_000, `s${String(at).padStart(3, "0")}`)
  for (const at of [0, 7, 599]) await add(store, of(at, 10), 10)
  const requested = Array.from({ length: count }, (_, at) => of(count - 1 - at, 3))
  const wanted = requested.map((_, at) => ([0, count - 8, count - 1].includes(at) ? null : 3))
  expect(await addLeased(store, requested, 12)).toEqual(wanted)
  expect(await readLeased(store, requested)).toEqual(wanted.map(each => each ?? 10))
  expect(await store.one<unknown>("SELECT COUNT(*) AS count, MIN(leased) AS least FROM units")).toEqual({
    count,
    least: 3,
  })
})

test("no statement runs for no day", async () => {
  const store = await tempStore()
  expect([await readLeased(store, []), await addLeased(store, [], 10)]).toEqual([[], []])
})
