import { expect, test } from "bun:test"
import fc from "fast-check"
import { NameNumbers } from "../../../src/check/lists/name-numbers.ts"

const name = fc.oneof(fc.domain(), fc.constantFrom("", "a", "*.bremen.de", "constructor", "__proto__"))

/** The numbers of names, each added once or more often. */
function numbered(names: readonly string[]): NameNumbers {
  const numbers = new NameNumbers()
  for (const one of names) numbers.add(one)
  return numbers
}

test("each name has one number, in the order in which the names were first seen", () => {
  fc.assert(
    fc.property(fc.array(name), names => {
      const numbers = numbered(names)
      const distinct = [...new Set(names)]
      expect(numbers.size).toBe(distinct.length)
      expect(distinct.map(one => numbers.numberOf(one))).toEqual([...distinct.keys()])
      expect([...distinct.keys()].map(number => numbers.nameOf(number))).toEqual(distinct)
      expect(distinct.map((_, number) => numbers.lengthOf(number))).toEqual(distinct.map(({ length }) => length))
      expect(distinct.map((_, number) => numbers.isPattern(number))).toEqual(distinct.map(one => one.includes("*")))
      expect(numbers.numberOf("absent.example")).toBe(-1)
    }),
  )
})

test("names sort by code units, as texts do", () => {
  fc.assert(
    fc.property(fc.uniqueArray(name), names => {
      const numbers = numbered(names)
      expect(Array.from(numbers.sorted(), number => numbers.nameOf(number))).toEqual(names.toSorted())
    }),
  )
})

test("a hundred thousand names are found again", () => {
  const names = Array.from({ length: 100_000 }, (_, at) => `name-${at}.com`)
  const numbers = numbered(names)
  expect(numbers.size).toBe(names.length)
  for (const [number, one] of names.entries()) {
    if (numbers.numberOf(one) !== number || numbers.nameOf(number) !== one) throw new Error(`${one} is lost`)
  }
})
