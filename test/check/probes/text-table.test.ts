import { expect, test } from "bun:test"
import { oneOfWords, readTable, wordsOf } from "../../../src/check/probes/text-table.ts"

test("rows are read by their columns, without remarks, and a dash is an empty field", () => {
  expect(readTable("# says\na\tb c\n\n-\t--\n", ["one", "two"])).toEqual([
    { one: "a", two: "b c" },
    { one: "", two: "--" },
  ])
  expect(readTable("", ["one"])).toEqual([])
})

test("a row that lacks a field or has one too many is refused", () => {
  for (const row of ["a", "a\tb\tc", "a\t", "\tb", "a b"])
    expect(() => readTable(row, ["one", "two"])).toThrow("a field for each column")
})

test("a field holds words, or one of a list", () => {
  expect(wordsOf("a  b ")).toEqual(["a", "b"])
  expect(wordsOf("")).toEqual([])
  expect(oneOfWords(["a", "b"], "b")).toBe("b")
  expect(() => oneOfWords(["a", "b"], "c")).toThrow("c is one of a, b")
  expect(() => oneOfWords(["a", "b"], "")).toThrow()
})
