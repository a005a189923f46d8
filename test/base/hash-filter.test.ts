import { expect, test } from "bun:test"
import { HashFilter } from "../../src/base/hash-filter.ts"

/** A number with well-mixed bits for each number. */
const hashOf = (number: number): number => Bun.hash.xxHash32(String(number))

test("every hash that was added passes, and few others do", () => {
  for (const count of [0, 1, 5, 1_000, 20_000]) {
    const filter = new HashFilter(count)
    for (let number = 0; number < count; number++) filter.add(hashOf(number))
    for (let number = 0; number < count; number++) expect(filter.mayHave(hashOf(number))).toBe(true)
    let passed = 0
    for (let number = 0; number < 1_000; number++) if (filter.mayHave(hashOf(1_000_000 + number))) passed++
    expect(passed).toBeLessThan(200)
  }
})
