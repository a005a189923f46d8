import { expect, test } from "bun:test"
import { formatCsvRecord, safeCell } from "../../src/base/csv.ts"

test("a cell with a quote, a line end, a usual delimiter or that of the file is quoted, and no other", () => {
  const cells = ["a b", "a|b", "a;b", 'a"b', "a\nb", ""]
  expect(formatCsvRecord(cells, "|")).toBe('a b|"a|b"|"a;b"|"a""b"|"a\nb"|')
  expect(formatCsvRecord(cells, ",")).toBe('a b,a|b,"a;b","a""b","a\nb",')
})

test("a cell that a spreadsheet takes for a formula is a text, and every other one stays", () => {
  const cells = ["=1", "+1", "-1", "@a", "\ta", "\ra", "1=1", "", " =1"]
  expect(cells.map(safeCell)).toEqual(["'=1", "'+1", "'-1", "'@a", "'\ta", "'\ra", "1=1", "", " =1"])
})
