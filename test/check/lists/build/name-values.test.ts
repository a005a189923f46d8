import { expect, test } from "bun:test"
import fc from "fast-check"
import { NameValuesBuilder } from "../../../../src/check/lists/build/name-values.ts"

const name = fc.constantFrom("a.com", "b.com", "c.com", "d.com", "constructor", "__proto__", "")
const value = fc.array(fc.nat(3), { maxLength: 3 })
const changes = fc.array(fc.tuple(name, value), { maxLength: 20 })

test("values are those of a Map that was given the same, and equal values are one", () => {
  fc.assert(
    fc.property(changes, changes, (first, second) => {
      const map = new Map<string, readonly number[]>()
      const builder = new NameValuesBuilder<readonly number[]>()
      for (const [key, numbers] of first) {
        expect(builder.get(key)).toEqual(map.get(key) as number[])
        builder.set(key, numbers)
        map.set(key, numbers)
      }
      const built = builder.build()
      const changed = built.with(second)
      // What was built stays as it is, though names were added.
      expect([...built]).toEqual([...map])
      for (const [key, numbers] of second) map.set(key, numbers)
      expect(new Map(changed)).toEqual(map)
      for (const [key, numbers] of map) expect(changed.get(key)).toEqual(numbers as number[])
      const distinct = new Set([...changed].map(([, numbers]) => numbers.join()))
      expect(new Set([...changed].map(([, numbers]) => numbers)).size).toBe(distinct.size)
    }),
  )
})

test("a name that another table of the same names has is not there", () => {
  const built = new NameValuesBuilder<readonly number[]>().build()
  const more = built.with([["a.com", [1]]])
  expect(built.get("a.com")).toBeUndefined()
  expect([...built]).toEqual([])
  expect(more.get("a.com")).toEqual([1])
  expect(more.get("b.com")).toBeUndefined()
})
