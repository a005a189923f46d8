import { expect, test } from "bun:test"
import fc from "fast-check"
import { keyingDistance } from "../../../src/check/lookalike/keying-distance.ts"

test.each([
  ["hotmail", "hotmail", 0],
  ["", "ab", 2],
  ["ab", "", 6],
  // One slip: left out, doubled, swapped, a key nearby, a similar vowel, alike.
  ["hotmal", "hotmail", 1],
  ["hottmail", "hotmail", 1],
  ["hotmial", "hotmail", 1],
  ["hormail", "hotmail", 1],
  ["hotmeil", "hotmail", 1],
  ["h0tmail", "hotmail", 1],
  ["hot-mail", "hotmail", 1],
  ["hotmnail", "hotmail", 1],
  // Two slips.
  ["htomial", "hotmail", 2],
  ["hotmailll", "hotmail", 2],
  ["nry", "net", 2],
  // Letters far apart on the keyboard.
  ["hobmail", "hotmail", 3],
  ["hotcmail", "hotmail", 3],
  // Digits.
  ["63", "163", Number.POSITIVE_INFINITY],
  ["173", "163", Number.POSITIVE_INFINITY],
  ["1163", "163", 3],
])("%s is from %s by slips that count %d", (typed, meant, distance) => {
  expect(keyingDistance(typed, meant, { unlikely: 3, max: 9 })).toBe(distance)
})

test("an unlikely edit counts as much as it is said to", () => {
  expect(keyingDistance("hobmail", "hotmail", { unlikely: 2, max: 9 })).toBe(2)
  expect(keyingDistance("hobmail", "hotmail", { unlikely: 3, max: 9 })).toBe(3)
})

test("a distance over the greatest that counts is infinite, and any other stays", () => {
  const label = fc.stringMatching(/^[a-c1-]{0,9}$/)
  fc.assert(
    fc.property(
      label,
      label,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 3 }),
      (one, other, max, unlikely) => {
        const distance = keyingDistance(one, other, { unlikely, max: 99 })
        const bounded = keyingDistance(one, other, { unlikely, max })
        expect(bounded).toBe(distance > max ? Number.POSITIVE_INFINITY : distance)
      },
    ),
    { numRuns: 2000 },
  )
})

test("a text is no slip away from itself, and at least one from any other", () => {
  const label = fc.stringMatching(/^[a-z]{0,12}$/)
  fc.assert(
    fc.property(label, label, (one, other) => {
      expect(keyingDistance(one, one, { unlikely: 3, max: 9 })).toBe(0)
      expect(keyingDistance(one, other, { unlikely: 3, max: 9 }) > 0).toBe(one !== other)
    }),
  )
})
