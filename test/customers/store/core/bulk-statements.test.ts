import { expect } from "bun:test"
import { createBulkStatements } from "../../../../src/customers/store/core/sql-text.ts"
import { test } from "../../engines.ts"
import { tempStore } from "../../temp-store.ts"

const LISTED = createBulkStatements(
  ["TEXT", "BIGINT"],
  rows =>
    `SELECT place, column1 AS name, column2 + CAST($1 AS BIGINT) AS number FROM ${rows} WHERE column1 <> '' ORDER BY place DESC`,
  1,
)

const rowsOf = (count: number) => Array.from({ length: count }, (_, at) => [`it's $${at}; "${at}"`, at * 1e12] as const)

test("each row is passed once with its position, 512 rows in a statement", async () => {
  const store = await tempStore()
  for (const count of [1, 2, 8, 9, 64, 65, 512, 513, 1100]) {
    const requested = LISTED(rowsOf(count), [7])
    expect(requested).toHaveLength(Math.ceil(count / 512))
    const found: unknown[] = []
    for (const { sql, params } of requested) found.push(...(await store.all(sql, params)).toReversed())
    expect(found).toEqual(rowsOf(count).map(([name, number], at) => ({ place: at % 512, name, number: number + 7 })))
  }
})

test("four statements serve any number of rows, and none is built for no rows", () => {
  const texts = new Set(
    Array.from({ length: 600 }, (_, count) => LISTED(rowsOf(count), [0])).flatMap(all => all.map(({ sql }) => sql)),
  )
  expect(texts.size).toBe(4)
  expect(LISTED([], [0])).toEqual([])
})
