import { assert } from "../../../base/errors.ts"
import type { SqlValue } from "./store.ts"

/**
 * Over how many rows one statement goes. There are few such numbers, so that few statements are prepared; what is missing up to the
 * next of them is made up by rows that fit nothing.
 */
const BATCH_SIZES = [1, 8, 64, 512] as const
const BATCH_SIZE_MAX = 512

/** What stands in a row that fits nothing. */
const FILLER_VALUES = { TEXT: "", BIGINT: "0" } as const

/** What a row holds, column by column. */
type BulkColumnTypes = readonly (keyof typeof FILLER_VALUES)[]

/** One statement and its parameters. */
type BulkStatement = { readonly sql: string; readonly params: readonly SqlValue[] }

/** Gives what to ask for these rows, in their order: one statement for each 512 of them. Each is told the `others` too. */
type BuildBulkStatements = (
  rows: readonly (readonly (string | number)[])[],
  others?: readonly (string | number)[],
) => readonly BulkStatement[]

/**
 * Builds statements over many rows at once, in the text that both engines share. `statement` is told the rows, to stand behind FROM:
 * they are called `given`, and have `column1`, … by `shape`, and `place`. In an engine that locks rows, whoever writes them
 * gives them in one order and asks for them ORDER BY `place`. Rows whose texts are empty must fit nothing. Parameters up to
 * `$othersCount` are the statement's own, and are text.
 */
export function createBulkStatements(
  shape: BulkColumnTypes,
  statement: (rows: string) => string,
  othersCount = 0,
): BuildBulkStatements {
  const texts = BATCH_SIZES.map(size => statement(valuesClause(shape, size, othersCount)))
  return (rows, others = []) =>
    Array.from({ length: Math.ceil(rows.length / BATCH_SIZE_MAX) }, (_, at) => {
      const part = rows.slice(at * BATCH_SIZE_MAX, (at + 1) * BATCH_SIZE_MAX)
      const fitting = BATCH_SIZES.findIndex(size => size >= part.length)
      const missing = Array.from({ length: (BATCH_SIZES[fitting] ?? BATCH_SIZE_MAX) - part.length }, () => shape)
      const fillers = missing.flatMap(columns => columns.map(type => FILLER_VALUES[type]))
      // All as text: to PostgreSQL's client the same statement with numbers of another size is another one.
      return { sql: texts[fitting] ?? "", params: [...others.map(String), ...part.flat().map(String), ...fillers] }
    })
}

function valuesClause(shape: BulkColumnTypes, size: number, othersCount: number): string {
  const named = ["place", ...shape.map((_, at) => `column${at + 1}`)].map((name, at) => `column${at + 1} AS ${name}`)
  const rows = Array.from({ length: size }, (_, number) => {
    const first = othersCount + number * shape.length + 1
    return `(${[number, ...shape.map((type, at) => `CAST($${first + at} AS ${type})`)].join(", ")})`
  })
  return `(SELECT ${named.join(", ")} FROM (VALUES ${rows.join(", ")}) AS listed) AS given`
}

/** Strings, quoted names and comments, which are kept as they are; a parameter; the end of a statement. */
const SQL_TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\d+)|;/g

/** The statement with each parameter `$n` as `parameter` gives it. Fails on a semicolon: it is one statement at a time. */
export function replaceParameters(sql: string, parameter: (number: number) => string): string {
  return sql.replace(SQL_TOKENS, (part, number?: string) => {
    assert(part !== ";", "one statement at a time, without a semicolon")
    return number === undefined ? part : parameter(Number(number))
  })
}

/** How many parameters the statement takes. Fails on a semicolon, as above. */
export function countParameters(sql: string): number {
  let count = 0
  replaceParameters(sql, number => {
    count = Math.max(count, number)
    return ""
  })
  return count
}
