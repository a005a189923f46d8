import { expect, test } from "bun:test"
import { isOneEdit, slipBetween } from "../../../src/check/address/slip.ts"

test.each([
  ["gmial", "gmail", "swapped", 2],
  ["icould", "icloud", "moved", 2],
  ["gmil", "gmail", "omitted", 2],
  ["gmaill", "gmail", "doubled", 5],
  ["ggmail", "gmail", "doubled", 1],
  ["hgmail", "gmail", "inserted", 0],
  ["hot-mail", "hotmail", "inserted", 3],
  ["gnail", "gmail", "replaced", 1],
  ["hotmeil", "hotmail", "replaced", 4],
  ["yahho", "yahoo", "replaced", 3],
  ["arange", "orange", "replaced", 0],
] as const)("%s is %s with one slip: %s", (typed, meant, kind, at) => {
  expect(slipBetween(typed, meant)).toEqual({ kind, at })
})

test.each([
  ["gmail", "gmail"],
  ["qmail", "gmail"],
  ["gmails", "gmail"],
  ["gemail", "gmail"],
  ["gailm", "gmail"],
  ["gm", "gmail"],
  ["10mail", "150mail"],
  ["", "gmail"],
])("%s is no slip from %s", (typed, meant) => {
  expect(slipBetween(typed, meant)).toBeNull()
})

test("keys are neighbours on any of the three layouts", () => {
  expect(slipBetween("zahoo", "yahoo")).toBeNull()
  expect(slipBetween("webzde", "webde")).toBeNull()
  expect(slipBetween("hotlail", "hotmail")?.kind).toBe("replaced")
  expect(slipBetween("szznam", "seznam")?.kind).toBe("replaced")
})

test.each([
  ["con", "com", true],
  ["cm", "com", true],
  ["cmo", "com", true],
  ["comm", "com", true],
  ["com", "com", false],
  ["c", "com", false],
  ["net", "com", false],
  ["co.ukk", "co.uk", true],
])("%s and %s are one edit apart: %p", (typed, meant, isOne) => {
  expect(isOneEdit(typed, meant)).toBe(isOne)
})
