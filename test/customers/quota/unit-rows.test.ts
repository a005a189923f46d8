import { expect } from "bun:test"
import { addLeased, readLeased, subtractLeased } from "../../../src/customers/quota/unit-rows.ts"
import { test } from "../engines.ts"
import { tempStore } from "../temp-store.ts"

const units = (count: number, day = 20_000, subject = "a") => ({ subject, day, count })

test("units of a day add up, to the quota and no further", async () => {
  const store = await tempStore()
  expect(await readLeased(store, "a", 20_000)).toBe(0)
  expect(await addLeased(store, units(4), 10)).toBe(4)
  expect(await addLeased(store, units(7), 10)).toBeNull()
  expect(await addLeased(store, units(6), 10)).toBe(10)
  expect(await addLeased(store, units(1), 10)).toBeNull()
  expect(await readLeased(store, "a", 20_000)).toBe(10)
})

test("subjects and days do not share", async () => {
  const store = await tempStore()
  await addLeased(store, units(10), 10)
  expect(await addLeased(store, units(10, 20_001), 10)).toBe(10)
  expect(await addLeased(store, units(10, 20_000, "b"), 10)).toBe(10)
})

test("what was read before others leased does not pass the quota", async () => {
  const store = await tempStore()
  const [here, there] = await Promise.all([readLeased(store, "a", 20_000), readLeased(store, "a", 20_000)])
  const answers = await Promise.all([here, there].map(leased => addLeased(store, units(10 - leased), 10)))
  expect(answers.toSorted()).toEqual([10, null])
})

test("units that nobody used are taken off, and never more than there are", async () => {
  const store = await tempStore()
  await addLeased(store, units(10), 10)
  await subtractLeased(store, units(3))
  expect(await readLeased(store, "a", 20_000)).toBe(7)
  await subtractLeased(store, units(8))
  await subtractLeased(store, units(1, 20_001))
  expect(await readLeased(store, "a", 20_000)).toBe(7)
})

test("the latest seven days of a subject are kept, and the days of others with them", async () => {
  const store = await tempStore()
  await addLeased(store, units(1, 1, "b"), 10)
  for (let day = 1; day <= 8; day++) await addLeased(store, units(day, day), 10)
  const rows = await store.all<{ subject: string; day: number }>("SELECT subject, day FROM units ORDER BY subject, day")
  expect(rows.map(({ subject, day }) => `${subject}${day}`)).toEqual(["a2", "a3", "a4", "a5", "a6", "a7", "a8", "b1"])
  // Of a day that may have been deleted nothing can be left.
  expect(await readLeased(store, "a", 1)).toBeGreaterThan(1e12)
  expect([await readLeased(store, "a", 2), await readLeased(store, "b", 1)]).toEqual([2, 1])
})
