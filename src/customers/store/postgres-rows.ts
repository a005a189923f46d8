import type { SQL } from "bun"
import { assert } from "../../base/assert.ts"
import type { Cell } from "./store.ts"

/** Numbers of PostgreSQL's types whose values come otherwise than from SQLite (pg_type.dat). */
const TYPES = { bool: 16, bytea: 17, int8: 20, numeric: 1700 } as const

type Convert = (value: unknown) => Cell

const CONVERSIONS: ReadonlyMap<number, Convert> = new Map<number, Convert>([
  [TYPES.bool, value => (value === true ? 1 : 0)],
  [TYPES.bytea, value => (value instanceof Uint8Array ? new Uint8Array(value) : null)],
  [TYPES.int8, wholeNumber],
  // A sum of 64-bit integers.
  [TYPES.numeric, wholeNumber],
])

/** 64-bit integers come as text, for not all of them are numbers; those that are kept here are. */
function wholeNumber(value: unknown): number {
  const number = Number(value)
  assert(Number.isSafeInteger(number), "the database holds whole numbers that are safe integers")
  return number
}

/** Of other types come texts and numbers that need nothing. */
const cellOf = (value: unknown, convert: Convert | undefined): Cell =>
  value === null || convert === undefined ? (value as Cell) : convert(value)

type Result = unknown[] & Pick<SQL.ResultMetadata, "columns">

/** The rows of an answer as SQLite gives them: whole numbers as numbers, truth as 0 or 1, bytes as plain bytes. */
export function rowsOf(result: Result): Record<string, Cell>[] {
  const columns = result.columns ?? []
  return Array.from(result, given => {
    const row: Record<string, Cell> = {}
    // A row has its columns by their names, of which we ask no two the same.
    const values = given as Readonly<Record<string, unknown>>
    for (const { name, type } of columns) row[name] = cellOf(values[name], CONVERSIONS.get(type))
    return row
  })
}

/**
 * What is sent for a parameter. PostgreSQL's text holds no NUL: it becomes U+FFFD, as a half of a surrogate pair does in
 * both engines.
 */
export const sent = (params: readonly Cell[]): Cell[] =>
  params.map(cell => (typeof cell === "string" && cell.includes("\0") ? cell.replaceAll("\0", "\uFFFD") : cell))
