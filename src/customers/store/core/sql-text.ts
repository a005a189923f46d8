import { assert } from "../../../base/errors.ts"
import { lazy } from "../../../base/lazy.ts"
import { type SqlValue, storableParams } from "./store.ts"

/**
 * How many rows one statement takes. There are few sizes, so that few statements are prepared; a batch is padded to the next size
 * with filler rows that match nothing.
 */
const BATCH_SIZES = [1, 8, 64, 512] as const
const BATCH_SIZE_MAX = 512

/** The values of a filler row. */
const FILLER_VALUES = { TEXT: "", BIGINT: "0" } as const

/** The types of the columns of a row. */
type BulkColumnTypes = readonly (keyof typeof FILLER_VALUES)[]

/** One statement and its parameters. */
type BulkStatement = { readonly sql: string; readonly params: readonly SqlValue[] }

/** Builds the statements for these rows, in their order: one for each 512 rows. Each statement also gets `ownParams`. */
type BuildBulkStatements = (
  rows: readonly (readonly (string | number)[])[],
  ownParams?: readonly (string | number)[],
) => readonly BulkStatement[]

/**
 * Creates a builder of statements over many rows at once, in SQL that both engines understand. `statement` gets the rows as a text
 * to put behind FROM: a table `given` with the columns `column1`, … of the given types, and `place`, the position of the row. To
 * avoid deadlocks in an engine that locks rows, writers pass the rows in one global order and say ORDER BY `place`. Filler rows have
 * empty texts, and the statement must match nothing for them. A statement that looks for rows gets `firsts` to put behind IN: the first
 * column alone, as a list of parameters. PostgreSQL looks up each of a list by the index, whereas it compares each row of an owner with
 * each of a table: 10 000 with 512 in two seconds, when it has no statistics yet. Parameters up to `$ownParamsCount` are the statement's own, as text.
 */
export function createBulkStatements(
  columnTypes: BulkColumnTypes,
  statement: (rows: string, firsts: string) => string,
  ownParamsCount = 0,
): BuildBulkStatements {
  const texts = BATCH_SIZES.map(size =>
    lazy(() =>
      statement(valuesClause(columnTypes, size, ownParamsCount), firstsList(columnTypes, size, ownParamsCount)),
    ),
  )
  return (batchRows, ownParams = []) =>
    Array.from({ length: Math.ceil(batchRows.length / BATCH_SIZE_MAX) }, (_, index) => {
      const batch = batchRows.slice(index * BATCH_SIZE_MAX, (index + 1) * BATCH_SIZE_MAX)
      const sizeIndex = BATCH_SIZES.findIndex(size => size >= batch.length)
      const padding = Array.from(
        { length: (BATCH_SIZES[sizeIndex] ?? BATCH_SIZE_MAX) - batch.length },
        () => columnTypes,
      )
      const fillers = padding.flatMap(columns => columns.map(type => FILLER_VALUES[type]))
      // All parameters are text: PostgreSQL's client prepares the same statement again for numbers of another size.
      return {
        sql: texts[sizeIndex]?.() ?? "",
        params: [...storableParams([...ownParams, ...batch.flat()]).map(String), ...fillers],
      }
    })
}

/** The parameters of the first column of each row. */
const firstsList = (columnTypes: BulkColumnTypes, size: number, ownParamsCount: number): string =>
  Array.from({ length: size }, (_, number) => `$${ownParamsCount + number * columnTypes.length + 1}`).join(", ")

function valuesClause(columnTypes: BulkColumnTypes, size: number, ownParamsCount: number): string {
  const named = ["place", ...columnTypes.map((_, index) => `column${index + 1}`)].map(
    (name, index) => `column${index + 1} AS ${name}`,
  )
  const rows = Array.from({ length: size }, (_, number) => {
    const first = ownParamsCount + number * columnTypes.length + 1
    return `(${[number, ...columnTypes.map((type, index) => `CAST($${first + index} AS ${type})`)].join(", ")})`
  })
  return `(SELECT ${named.join(", ")} FROM (VALUES ${rows.join(", ")}) AS listed) AS given`
}

/** Tokens of SQL: strings, quoted names and comments, which stay as they are; a parameter; the end of a statement. */
const SQL_TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\d+)|;/g

/** The statement with each parameter `$n` replaced. Fails on a semicolon, since a text holds one statement. */
export function replaceParameters(sql: string, parameter: (number: number) => string): string {
  return sql.replace(SQL_TOKENS, (part, number?: string) => {
    assert(part !== ";", "one statement at a time, without a semicolon")
    return number === undefined ? part : parameter(Number(number))
  })
}

/** The count of parameters of the statement. Fails on a semicolon. */
export function countParameters(sql: string): number {
  let count = 0
  replaceParameters(sql, number => {
    count = Math.max(count, number)
    return ""
  })
  return count
}

/** The text as a part of a pattern of `LIKE … ESCAPE '\\'` that matches it alone. */
export const likeText = (text: string): string => text.replace(/[\\%_]/g, "\\$&")
