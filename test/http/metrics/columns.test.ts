import { expect, test } from "bun:test"
import { clearGauges, columnsIn, withColumns } from "../../../src/http/metrics/columns.ts"
import { COLUMN_CELLS, cellOf } from "../../../src/http/metrics/layout.ts"

test("memory that is shared has a column for each seat, and the rest behind them, in place", () => {
  const rest = Uint8Array.from({ length: 64 }, (_, at) => at)
  const memory = withColumns(3, rest)
  const shared = columnsIn(memory)
  expect(shared.columns.map(column => column.length)).toEqual([COLUMN_CELLS, COLUMN_CELLS, COLUMN_CELLS])
  expect([...shared.rest]).toEqual([...rest])
  for (const [seat, column] of shared.columns.entries()) column.fill(seat + 1)
  expect([...shared.rest]).toEqual([...rest])
  shared.rest[0] = 99
  const seen = columnsIn(memory)
  expect(seen.columns.map(column => [column[0], column.at(-1)])).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
  ])
  expect(seen.rest[0]).toBe(99)
})

test("of a process that is gone the counts are kept, and nothing that it held", () => {
  const [column] = columnsIn(withColumns(1, new Uint8Array())).columns
  const [held, counted] = [cellOf("mailkind_leases_held"), cellOf("mailkind_verdicts_degraded_total")]
  column?.set([5], held)
  column?.set([5], counted)
  clearGauges(column)
  expect([column?.[held], column?.[counted]]).toEqual([0, 5])
  clearGauges(undefined)
})
