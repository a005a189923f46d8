import { expect, test } from "bun:test"
import { dropExcessMarks, exceedsMarks } from "../../src/base/unicode.ts"

test("up to 30 combining marks in a row are kept, and the others are dropped", () => {
  const marks = (count: number) => `a${"\u0316\u0300".repeat(count / 2)}b`
  expect([exceedsMarks(marks(30)), exceedsMarks(marks(32))]).toEqual([false, true])
  expect(dropExcessMarks(marks(30))).toBe(marks(30))
  expect(dropExcessMarks(marks(5000) + marks(30) + marks(64))).toBe(marks(30).repeat(3))
})
