import { expect, test } from "bun:test"
import fc from "fast-check"
import { fold, foldHash } from "../../../src/check/address/fold.ts"

test.each([
  ["rnicrosoft", "microsoft"],
  ["paypa1", "paypal"],
  ["paypai", "paypal"],
  ["g00gle", "google"],
  ["clropbox", "dropbox"],
  ["vvalmart", "walmart"],
  ["n3tf1ix", "netflix"],
  ["c1audio", "claudio"],
])("%s folds like %s", (typed, meant) => {
  expect(fold(typed)).toBe(fold(meant))
})

test("texts that nobody takes for each other fold apart", () => {
  expect(fold("gmial")).not.toBe(fold("gmail"))
  expect(fold("2")).not.toBe(fold("z"))
})

test("the hash of a part is the hash of that part alone", () => {
  const letters = fc.stringMatching(/^[a-z0-9-]{0,20}$/)
  fc.assert(
    fc.property(letters, letters, letters, (before, label, behind) => {
      const text = `${before}${label}${behind}`
      expect(foldHash(text, before.length, before.length + label.length)).toBe(foldHash(label, 0, label.length))
    }),
  )
})
