import type { SQL } from "bun"
import { assert } from "../../../base/errors.ts"
import type { SqlValue } from "../core/store.ts"

/** The OIDs of PostgreSQL's types whose values differ from those of SQLite (pg_type.dat). */
const TYPE_OIDS = { bool: 16, int8: 20, numeric: 1700 } as const

type ConvertValue = (value: unknown) => SqlValue

const CONVERSIONS: ReadonlyMap<number, ConvertValue> = new Map<number, ConvertValue>([
  [TYPE_OIDS.bool, value => (value === true ? 1 : 0)],
  [TYPE_OIDS.int8, toSafeInteger],
  // A sum of 64-bit integers.
  [TYPE_OIDS.numeric, toSafeInteger],
])

/** The client returns 64-bit integers as text, since not all are exact numbers. Those that we store are. */
function toSafeInteger(value: unknown): number {
  const number = Number(value)
  assert(Number.isSafeInteger(number), "the database holds whole numbers that are safe integers")
  return number
}

/** Values of all other types need no conversion. */
const convertValue = (value: unknown, convert: ConvertValue | undefined): SqlValue =>
  value === null || convert === undefined ? (value as SqlValue) : convert(value)

type PostgresRows = unknown[] & Pick<SQL.ResultMetadata, "columns">

/** The rows of a result in the form that SQLite gives: integers as numbers, booleans as 0 or 1. */
export function convertRows(result: PostgresRows): Record<string, SqlValue>[] {
  const columns = result.columns ?? []
  return Array.from(result, resultRow => {
    const row: Record<string, SqlValue> = {}
    // Rows are keyed by column name; our statements select no name twice.
    const values = resultRow as Readonly<Record<string, unknown>>
    for (const { name, type } of columns) row[name] = convertValue(values[name], CONVERSIONS.get(type))
    return row
  })
}
