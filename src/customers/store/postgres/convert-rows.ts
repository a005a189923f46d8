import type { SQL } from "bun"
import { assert } from "../../../base/errors.ts"
import type { SqlValue } from "../core/store.ts"

/** Numbers of PostgreSQL's types whose values come otherwise than from SQLite (pg_type.dat). */
const TYPE_OIDS = { bool: 16, bytea: 17, int8: 20, numeric: 1700 } as const

type ConvertValue = (value: unknown) => SqlValue

const CONVERSIONS: ReadonlyMap<number, ConvertValue> = new Map<number, ConvertValue>([
  [TYPE_OIDS.bool, value => (value === true ? 1 : 0)],
  [TYPE_OIDS.bytea, value => (value instanceof Uint8Array ? new Uint8Array(value) : null)],
  [TYPE_OIDS.int8, toSafeInteger],
  // A sum of 64-bit integers.
  [TYPE_OIDS.numeric, toSafeInteger],
])

/** 64-bit integers come as text, for not all of them are numbers; those that are kept here are. */
function toSafeInteger(value: unknown): number {
  const number = Number(value)
  assert(Number.isSafeInteger(number), "the database holds whole numbers that are safe integers")
  return number
}

/** Of other types come texts and numbers that need nothing. */
const convertValue = (value: unknown, convert: ConvertValue | undefined): SqlValue =>
  value === null || convert === undefined ? (value as SqlValue) : convert(value)

type PostgresRows = unknown[] & Pick<SQL.ResultMetadata, "columns">

/** The rows of an answer as SQLite gives them: whole numbers as numbers, truth as 0 or 1, bytes as plain bytes. */
export function convertRows(result: PostgresRows): Record<string, SqlValue>[] {
  const columns = result.columns ?? []
  return Array.from(result, given => {
    const row: Record<string, SqlValue> = {}
    // A row has its columns by their names, of which we ask no two the same.
    const values = given as Readonly<Record<string, unknown>>
    for (const { name, type } of columns) row[name] = convertValue(values[name], CONVERSIONS.get(type))
    return row
  })
}

/**
 * What is sent for a parameter. PostgreSQL's text holds no NUL: it becomes U+FFFD, as a half of a surrogate pair does in
 * both engines.
 */
export const toQueryParams = (params: readonly SqlValue[]): SqlValue[] =>
  params.map(cell => (typeof cell === "string" && cell.includes("\0") ? cell.replaceAll("\0", "\uFFFD") : cell))
