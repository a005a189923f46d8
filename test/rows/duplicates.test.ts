import { expect, test } from "bun:test"
import { DuplicateTable } from "../../src/rows/duplicates.ts"

test("each of 100 000 inputs is told with the row that had it first, and no other", () => {
  const table = new DuplicateTable()
  const count = 100_000
  for (let row = 1; row <= count; row++) expect(table.firstRow(`user${row}@acme.com`, row)).toBeNull()
  for (let row = 1; row <= count; row++) expect(table.firstRow(`user${row}@acme.com`, count + row)).toBe(row)
  expect(table.isFull).toBeFalse()
})
