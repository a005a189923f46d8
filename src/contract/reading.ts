import { escapeControls } from "../base/untrusted-text.ts"

/** The delimiters that have a name. */
export const DELIMITER_NAMES: Readonly<Record<string, string>> = {
  comma: ",",
  semicolon: ";",
  tab: "\t",
  pipe: "|",
  space: " ",
}

/** The delimiter that is one character or has a name; null: neither. A quote and a line end cannot be one. */
export function delimiterOf(named: string): string | null {
  const delimiter = named === "\\t" ? "\t" : Object.hasOwn(DELIMITER_NAMES, named) ? (DELIMITER_NAMES[named] ?? "") : named
  return delimiter.length === 1 && !'"\r\n'.includes(delimiter) ? delimiter : null
}

/** The name of a delimiter; null: it has none. */
export const delimiterName = (delimiter: string): string | null => Object.entries(DELIMITER_NAMES).find(([, character]) => character === delimiter)?.[0] ?? null

/** A delimiter as a sentence names it. */
export function delimiterInWords(delimiter: string): string {
  const name = delimiterName(delimiter)
  return name === null ? `\`${escapeControls(delimiter)}\`` : `a ${name}`
}

/** How a list is read, in numbers: nothing of the list itself. It is stored with a job. */
export type ReadingRule = {
  readonly format: "text" | "csv" | "ndjson"
  /** Whether the file begins with a byte order mark. */
  readonly hasMark: boolean
  /** The character between cells of CSV. */
  readonly delimiter: string
  /** How many lines stand above the table, or above the first row. */
  readonly skippedLines: number
  /** Whether the record after them has the names of the columns. */
  readonly hasHeader: boolean
  /** How many cells a row has, the index of the one with the input, and what it holds by its name or its cells; null: either of them. */
  readonly width: number
  readonly inputIndex: number
  readonly kind: "email" | "domain" | "url" | null
  /** The member of NDJSON with the input; null: the first of `email`, `domain` and `url`. */
  readonly member: string | null
}

/** The same, with the encoding of the file. */
export type StoredReading = ReadingRule & { readonly encoding: string }
