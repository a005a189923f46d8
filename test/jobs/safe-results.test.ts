import { expect, test } from "bun:test"
import fc from "fast-check"
import { formatCsvRecord, safeCell } from "../../src/base/csv.ts"
import { withSafeCells } from "../../src/jobs/safe-results.ts"

const cell = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: fc.constantFrom("=", "+", "-", "@", "\t", "\r", "\n", '"', "'", ",", ";", "a"), maxLength: 6 }),
)

test("cells get the same apostrophes in written records as before they are written", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { maxLength: 4 }),
      fc.constantFrom(",", ";", "\t", "|"),
      (records, delimiter) => {
        const write = (rows: readonly (readonly string[])[]) =>
          rows.map(cells => `${formatCsvRecord(cells, delimiter)}\n`).join("")
        expect(withSafeCells(write(records), delimiter)).toBe(
          records.map(cells => `${formatSafe(cells, delimiter)}\n`).join(""),
        )
      },
    ),
    { numRuns: 2000 },
  )
})

/** As `formatCsvRecord` writes safe cells: an apostrophe makes no quotes needed. */
const formatSafe = (cells: readonly string[], delimiter: string): string =>
  formatCsvRecord(cells.map(safeCell), delimiter)
