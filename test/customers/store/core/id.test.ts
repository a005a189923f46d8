import { expect, test } from "bun:test"
import fc from "fast-check"
import { BASE62_DIGITS, newId, randomBase62, toBase62 } from "../../../../src/customers/store/core/id.ts"
import { random } from "../../temp-store.ts"

test("every digit is drawn by exactly four bytes, and the eight bytes that are left over are drawn again", () => {
  const counts = new Map<string, number>()
  for (let byte = 0; byte < 256; byte++) {
    const source = [byte, 0]
    const digit = randomBase62(() => Uint8Array.of(source.shift() ?? 0), 1)
    if (byte < 248) counts.set(digit, (counts.get(digit) ?? 0) + 1)
    else expect(source).toEqual([])
  }
  expect([...counts.keys()].sort().join("")).toBe(BASE62_DIGITS)
  expect(new Set(counts.values())).toEqual(new Set([4]))
})

test("a random text has the requested length and is never the same twice", () => {
  expect(randomBase62(random, 0)).toBe("")
  const texts = Array.from({ length: 500 }, () => randomBase62(random, 32))
  expect(texts.every(text => /^[0-9A-Za-z]{32}$/.test(text))).toBe(true)
  expect(new Set(texts).size).toBe(500)
})

test("a random source without usable bytes is an invariant error, not an endless loop", () => {
  expect(() => randomBase62(count => new Uint8Array(count).fill(255), 32)).toThrow("random source")
  expect(() => randomBase62(() => new Uint8Array(), 32)).toThrow("random source")
})

test("a number in base 62 is padded with zeros and can be parsed back", () => {
  expect(toBase62(0, 6)).toBe("000000")
  expect(toBase62(61, 2)).toBe("0z")
  expect(toBase62(62, 2)).toBe("10")
  expect(toBase62(2 ** 32 - 1, 6)).toBe("4gfFC3")
  fc.assert(
    fc.property(fc.nat(2 ** 31 - 1), value => {
      const read = [...toBase62(value, 6)].reduce((sum, digit) => sum * 62 + BASE62_DIGITS.indexOf(digit), 0)
      expect(read).toBe(value)
    }),
  )
})

test("an id starts with its kind", () => {
  expect(newId("acc", random)).toMatch(/^acc_[0-9A-Za-z]{20}$/)
  expect(newId("key", random)).toMatch(/^key_[0-9A-Za-z]{20}$/)
})
