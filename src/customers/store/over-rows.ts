import type { Cell } from "./store.ts"

/**
 * Over how many rows one statement goes. There are few such numbers, so that few statements are prepared; what is missing up to the
 * next of them is made up by rows that fit nothing.
 */
const SIZES = [1, 8, 64, 512] as const
const SIZE_MAX = 512

/** What stands in a row that fits nothing. */
const NOTHING = { TEXT: "", BIGINT: "0" } as const

/** What a row holds, column by column. */
export type RowShape = readonly (keyof typeof NOTHING)[]

/** One statement and its parameters. */
export type Asked = { readonly sql: string; readonly params: readonly Cell[] }

/** Gives what to ask for these rows, in their order: one statement for each 512 of them. Each is told the `others` too. */
export type OverRows = (
  rows: readonly (readonly (string | number)[])[],
  others?: readonly (string | number)[],
) => readonly Asked[]

/**
 * Builds statements over many rows at once, in the text that both engines share. `statement` is told the rows, to stand behind FROM:
 * they are called `given`, and have `column1`, … by `shape`, and `place`. In an engine that locks rows, whoever writes them
 * gives them in one order and asks for them ORDER BY `place`. Rows whose texts are empty must fit nothing. Parameters up to
 * `$othersCount` are the statement's own, and are text.
 */
export function overRows(shape: RowShape, statement: (rows: string) => string, othersCount = 0): OverRows {
  const texts = SIZES.map(size => statement(rowsText(shape, size, othersCount)))
  return (rows, others = []) =>
    Array.from({ length: Math.ceil(rows.length / SIZE_MAX) }, (_, at) => {
      const part = rows.slice(at * SIZE_MAX, (at + 1) * SIZE_MAX)
      const fitting = SIZES.findIndex(size => size >= part.length)
      const missing = Array.from({ length: (SIZES[fitting] ?? SIZE_MAX) - part.length }, () => shape)
      const fillers = missing.flatMap(columns => columns.map(type => NOTHING[type]))
      // All as text: to PostgreSQL's client the same statement with numbers of another size is another one.
      return { sql: texts[fitting] ?? "", params: [...others.map(String), ...part.flat().map(String), ...fillers] }
    })
}

function rowsText(shape: RowShape, size: number, othersCount: number): string {
  const named = ["place", ...shape.map((_, at) => `column${at + 1}`)].map((name, at) => `column${at + 1} AS ${name}`)
  const rows = Array.from({ length: size }, (_, number) => {
    const first = othersCount + number * shape.length + 1
    return `(${[number, ...shape.map((type, at) => `CAST($${first + at} AS ${type})`)].join(", ")})`
  })
  return `(SELECT ${named.join(", ")} FROM (VALUES ${rows.join(", ")}) AS listed) AS given`
}
