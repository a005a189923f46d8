import { expect, test } from "bun:test"
import { parseTable, requireOneOf, splitWords } from "../../src/base/text-table.ts"

test("rows are read by their columns, without comments, and a dash is an empty field", () => {
  expect(parseTable("# says\na\tb c\n\n-\t--\n", ["one", "two"])).toEqual([
    { one: "a", two: "b c" },
    { one: "", two: "--" },
  ])
  expect(parseTable("", ["one"])).toEqual([])
})

test("a row with a missing or an extra field throws", () => {
  for (const row of ["a", "a\tb\tc", "a\t", "\tb", "a b"])
    expect(() => parseTable(row, ["one", "two"])).toThrow("a field for each column")
})

test("a field holds words, or one of a list", () => {
  expect(splitWords("a  b ")).toEqual(["a", "b"])
  expect(splitWords("")).toEqual([])
  expect(requireOneOf(["a", "b"], "b")).toBe("b")
  expect(() => requireOneOf(["a", "b"], "c")).toThrow("c is one of a, b")
  expect(() => requireOneOf(["a", "b"], "")).toThrow()
})
