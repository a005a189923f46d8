import { expect, test } from "bun:test"
import { findTypo, isOneEditApart } from "../../../src/check/lookalike/typo.ts"

test.each([
  ["gmial", "gmail", "swapped", 2],
  ["icould", "icloud", "moved", 2],
  ["gmil", "gmail", "omitted", 2],
  ["mail", "gmail", "omitted", 0],
  ["yaho", "yahoo", "halved", 4],
  ["sudenlink", "suddenlink", "halved", 3],
  ["gmaill", "gmail", "doubled", 5],
  ["ggmail", "gmail", "doubled", 1],
  ["hgmail", "gmail", "inserted", 0],
  ["hot-mail", "hotmail", "inserted", 3],
  ["gamail", "gmail", "inserted", 1],
  ["outlokok", "outlook", "inserted", 5],
  ["iclound", "icloud", "added", 5],
  ["gemail", "gmail", "added", 1],
  ["gnail", "gmail", "replaced", 1],
  ["hotmeil", "hotmail", "replaced", 4],
  ["yahho", "yahoo", "replaced", 3],
  ["arange", "orange", "replaced", 0],
  ["outiook", "outlook", "alike", 3],
  ["gmai1", "gmail", "alike", 4],
  ["l63", "163", "alike", 0],
  ["hotrnai1", "hotmail", "alike", 3],
  ["vvanadoo", "wanadoo", "alike", 0],
] as const)("%s is %s with one slip: %s", (typed, meant, kind, index) => {
  expect(findTypo(typed, meant)).toEqual({ kind, index })
})

test.each([
  ["gmail", "gmail"],
  ["qmail", "gmail"],
  ["gmails", "gmail"],
  ["emgmail", "gmail"],
  ["xgmail", "gmail"],
  ["gmailx", "gmail"],
  ["gma7il", "gmail"],
  ["gmaix", "gmail"],
  ["roger", "rogers"],
  ["15mail", "157mail"],
  ["gailm", "gmail"],
  ["gm", "gmail"],
  ["10mail", "150mail"],
  ["", "gmail"],
])("%s is not a typo of %s", (typed, meant) => {
  expect(findTypo(typed, meant)).toBeNull()
})

test("keys are neighbours on any of the three layouts", () => {
  expect(findTypo("zahoo", "yahoo")).toBeNull()
  expect(findTypo("webzde", "webde")?.kind).toBe("added")
  expect(findTypo("hotlail", "hotmail")?.kind).toBe("replaced")
  expect(findTypo("szznam", "seznam")?.kind).toBe("replaced")
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
  expect(isOneEditApart(typed, meant)).toBe(isOne)
})
