import type { ReadingRule } from "../contract/reading.ts"
import type { FileFormat } from "./file-format.ts"

/** How the rows of a file are asked to be read. */
export type ReadingOptions = {
  /** Null: it is found. */
  readonly format: FileFormat | null
  /** The name or the number of the CSV column, or the NDJSON member, with the inputs; null: it is found. */
  readonly column: string | null
  /** The character between cells of CSV; null: it is found. */
  readonly delimiter: string | null
  /** False: CSV has no line with the names of the columns. True: it is found. */
  readonly hasHeader: boolean
  /** So many lines stand above the header, or above the first row; null: it is found. */
  readonly skippedLines: number | null
  /** Whether a file of which nothing looks like an input is read all the same. */
  readonly isForced: boolean
}

/** The columns of a table: their names, the delimiter, and whether results have a header. */
export type InputColumns = {
  readonly names: readonly string[]
  readonly delimiter: string
  readonly hasHeader: boolean
  /** The lines above the table, which stand above the results too, as they are in the file. */
  readonly linesAbove: readonly string[]
  /** Whether the file begins with a byte order mark, and the results do too. */
  readonly hasMark: boolean
}

/** How the rows of a file are read: enough to read any block of them. It is plain JSON, which worker processes are given. */
export type ReadingPlan = ReadingRule & { readonly columns: InputColumns }

/** The columns of formats without columns, and of a table with one that has no name. */
export const SINGLE_COLUMN: InputColumns = {
  names: ["input"],
  delimiter: ",",
  hasHeader: true,
  linesAbove: [],
  hasMark: false,
}
