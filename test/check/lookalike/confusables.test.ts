import { expect, test } from "bun:test"
import { domainToASCII } from "node:url"
import fc from "fast-check"
import { foldedHash, looksLike, skeletonOf } from "../../../src/check/lookalike/confusables.ts"

const seen = (label: string) => skeletonOf(domainToASCII(label))

test("letters of other scripts look like ASCII ones", () => {
  expect(seen("аррӏе")).toEqual({ text: "appie", confusableKind: "whole" })
  expect(seen("pаypal")).toEqual({ text: "paypal", confusableKind: "mixed" })
  expect(seen("ɡoogle")).toEqual({ text: "google", confusableKind: "mixed" })
  expect(seen("facebooк")).toEqual({ text: "facebook", confusableKind: "mixed" })
})

test("accents and natural spellings are distinguished from other confusable letters", () => {
  expect(seen("nestlé")).toEqual({ text: "nestle", confusableKind: "accented" })
  expect(seen("gmaıl")).toEqual({ text: "gmail", confusableKind: "accented" })
  expect(seen("łódź")).toEqual({ text: "lodz", confusableKind: "accented" })
})

test("a label that does not look like ASCII text has no skeleton", () => {
  expect(seen("中国")).toBeNull()
  expect(skeletonOf("gmail")).toBeNull()
  expect(skeletonOf("xn--")).toBeNull()
  expect(skeletonOf("xn--\u0000")).toBeNull()
  expect(skeletonOf(`xn--${"9".repeat(59)}`)).toBeNull()
})

test.each([
  ["rnicrosoft", "microsoft"],
  ["paypa1", "paypal"],
  ["paypai", "paypal"],
  ["g00gle", "google"],
  ["clropbox", "dropbox"],
  ["vvalmart", "walmart"],
  ["n3tf1ix", "netflix"],
  ["c1audio", "claudio"],
])("%s looks like %s", (typed, meant) => {
  expect(looksLike(typed, meant)).toBe(true)
  expect(looksLike(meant, typed)).toBe(true)
  expect(foldedHash(typed, 0, typed.length)).toBe(foldedHash(meant, 0, meant.length))
})

test.each([
  ["gmial", "gmail"],
  ["2", "z"],
  ["google", "googlemail"],
  ["dar", "darn"],
  ["", "l"],
])("%s does not look like %s", (typed, meant) => {
  expect(looksLike(typed, meant)).toBe(false)
  expect(looksLike(meant, typed)).toBe(false)
})

test("the hash of a slice equals the hash of the sliced text", () => {
  const letters = fc.stringMatching(/^[a-z0-9-]{0,20}$/)
  fc.assert(
    fc.property(letters, letters, letters, (before, label, behind) => {
      const text = `${before}${label}${behind}`
      expect(foldedHash(text, before.length, before.length + label.length)).toBe(foldedHash(label, 0, label.length))
    }),
  )
})
