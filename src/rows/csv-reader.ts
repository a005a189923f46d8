import { findInputColumn, findUnnamedColumn, INPUT_PATTERN } from "./input-column.ts"
import {
  type CsvPosition,
  type InputColumns,
  type InputLine,
  type InputRow,
  type RowReader,
  SINGLE_COLUMN,
  stripCarriageReturn,
} from "./input-rows.ts"
import { LINE_BYTES_MAX } from "./line-splitter.ts"
import { UnreadableFile } from "./unreadable-file.ts"

/** How a CSV file is read. */
export type CsvOptions = {
  /** The name or the number of the column with the inputs; null: it is found by its name. */
  readonly column: string | null
  /** The character between cells; null: it is detected. */
  readonly delimiter: string | null
  /** Whether the first line has the names of the columns. */
  readonly hasHeader: boolean
}

/**
 * Reads the rows of a CSV file (`findInputColumn`). A file with one column whose first line looks like an input has no header.
 * A first line `sep=;` names the delimiter and is no row. Throws an `UnreadableFile` when the column cannot be found.
 */
export class CsvRowReader implements RowReader {
  readonly #options: CsvOptions
  readonly #records: CsvRecordParser
  #columns: InputColumns | null
  #inputIndex: number

  /** `position`: where another reader of the file has read the header. */
  constructor(options: CsvOptions, position: CsvPosition | null = null) {
    this.#options = options
    this.#records = new CsvRecordParser(position?.delimiter ?? options.delimiter, position === null)
    this.#columns = position?.columns ?? null
    this.#inputIndex = position?.inputIndex ?? 0
  }

  readonly columns = (): InputColumns | null => this.#columns

  readonly position = (): CsvPosition | null =>
    this.#columns === null
      ? null
      : { columns: this.#columns, inputIndex: this.#inputIndex, delimiter: this.#records.delimiter }

  readonly push = (line: InputLine, rows: InputRow[]): void => {
    const records: CsvRecord[] = []
    this.#records.push(line, records)
    for (const record of records) this.#addRecord(record, rows)
  }

  readonly end = (rows: InputRow[]): void => {
    const records: CsvRecord[] = []
    this.#records.end(records)
    for (const record of records) this.#addRecord(record, rows)
  }

  #addRecord(record: CsvRecord, rows: InputRow[]): void {
    if (this.#columns === null) this.#readFirst(record, rows)
    else rows.push(this.#toRow(record, this.#columns))
  }

  #readFirst(record: CsvRecord, rows: InputRow[]): void {
    const { cells, fault } = record
    const { column, hasHeader } = this.#options
    const { delimiter } = this.#records
    if (!hasHeader) {
      this.#inputIndex = findUnnamedColumn(cells, column)
      this.#columns = { names: cells.map((_, at) => `column_${at + 1}`), delimiter, hasHeader }
      rows.push(this.#toRow(record, this.#columns))
      return
    }
    if (fault !== null)
      throw new UnreadableFile(({ format }) =>
        fault === "too_long"
          ? `The first line is too long for the header of a CSV file. Is the file CSV? ${format} names another format.`
          : "The header of the CSV file has a quote that does not close. Correct the first line.",
      )
    const [only] = cells
    if (column === null && cells.length === 1 && only !== undefined && INPUT_PATTERN.test(only)) {
      this.#columns = SINGLE_COLUMN
      rows.push(this.#toRow(record, this.#columns))
      return
    }
    this.#inputIndex = findInputColumn(cells, column)
    this.#columns = { names: cells, delimiter, hasHeader }
  }

  #toRow({ cells, fault }: CsvRecord, { names }: InputColumns): InputRow {
    const all = cells.length >= names.length ? cells : [...cells, ...Array(names.length - cells.length).fill("")]
    return { input: all[this.#inputIndex] ?? "", kind: null, fault, cells: all, json: null }
  }
}

/** The cells of a line (RFC 4180). */
type CellsResult =
  | { readonly kind: "whole"; readonly cells: readonly string[] }
  /** The last cell has an open quote: the record continues in the next line. */
  | OpenCells
  /** Text follows a closing quote. */
  | { readonly kind: "broken" }

/** The cells before the one with the open quote, and the text of that one so far. Continuing changes `cells` in place. */
type OpenCells = { readonly kind: "open"; readonly cells: string[]; readonly cell: string }

const MALFORMED_CELLS = { kind: "broken" } as const

/** `end`: the index after the closing quote; null: the quote stays open. */
type QuotedCell = { readonly cell: string; readonly end: number | null }

/**
 * Parses the cells of a line, which continues the record `open`, if any. A quote in the middle of a cell is an ordinary
 * character. The time is proportional to the line, however many lines the record has.
 */
function parseCells(line: string, delimiter: string, open: OpenCells | null): CellsResult {
  if (open === null && !line.includes('"')) return { kind: "whole", cells: stripCarriageReturn(line).split(delimiter) }
  const cells = open?.cells ?? []
  let next = open === null ? 0 : parseQuotedCell(line, 0, `${open.cell}\n`, delimiter, cells)
  while (typeof next === "number") {
    next =
      line[next] === '"'
        ? parseQuotedCell(line, next + 1, "", delimiter, cells)
        : parseBareCell(line, next, delimiter, cells)
  }
  return next
}

/** Appends a cell without quotes. Gives the index of the next cell, or the result at the end of the line. */
function parseBareCell(line: string, from: number, delimiter: string, cells: string[]): number | CellsResult {
  const end = line.indexOf(delimiter, from)
  cells.push(end < 0 ? stripCarriageReturn(line.slice(from)) : line.slice(from, end))
  return end < 0 ? { kind: "whole", cells } : end + 1
}

/** Appends a cell from after its opening quote, with its text of earlier lines (`before`). Gives the same. */
function parseQuotedCell(
  line: string,
  from: number,
  before: string,
  delimiter: string,
  cells: string[],
): number | CellsResult {
  const { cell, end } = scanQuoted(line, from)
  if (end === null) return { kind: "open", cells, cell: before + cell }
  cells.push(before + cell)
  if (isLineEnd(line, end)) return { kind: "whole", cells }
  return line[end] === delimiter ? end + 1 : MALFORMED_CELLS
}

/** Scans to the closing quote. Two quotes stand for one. */
function scanQuoted(line: string, from: number): QuotedCell {
  let cell = ""
  let at = from
  for (let quote = line.indexOf('"', at); quote >= 0; quote = line.indexOf('"', at)) {
    if (line[quote + 1] !== '"') return { cell: cell + line.slice(at, quote), end: quote + 1 }
    cell += line.slice(at, quote + 1)
    at = quote + 2
  }
  return { cell: cell + line.slice(at), end: null }
}

const isLineEnd = (line: string, at: number): boolean =>
  at === line.length || (at === line.length - 1 && line.endsWith("\r"))

/** One record of a CSV file. With a fault, its cells are those of a single line, split without regard to quotes. */
export type CsvRecord = { readonly cells: readonly string[]; readonly fault: InputRow["fault"] }

/** A record with an open quote, and its lines so far, in case they must be parsed again. */
type OpenRecord = { readonly lines: InputLine[]; readonly cells: OpenCells; readonly length: number }

/** The delimiters that are detected. */
const DELIMITERS = [",", ";", "\t", "|"] as const

/** The first line by which spreadsheets are told the delimiter. */
const DELIMITER_LINE = /^"?sep=(?<delimiter>[^"])"?\r?$/i

/**
 * Parses the records of a CSV file (RFC 4180) from its lines. The delimiter is the given one, else that of a first line such as
 * `sep=;`, else the first of comma, semicolon, tab and vertical bar that the first line has.
 *
 * A quote that is still open after the length of the longest line, or that closes in the middle of a cell, costs one line:
 * that line becomes a record with a fault, and parsing continues with the next line.
 */
export class CsvRecordParser {
  #delimiter: string | null
  #isAtStart: boolean
  #open: OpenRecord | null = null

  /** `isAtStart`: the next line is the first one of the file. */
  constructor(delimiter: string | null = null, isAtStart = true) {
    this.#delimiter = delimiter
    this.#isAtStart = isAtStart
  }

  /** Whether the next line continues a record. */
  get isOpen(): boolean {
    return this.#open !== null
  }

  /** A comma before the first line. */
  get delimiter(): string {
    return this.#delimiter ?? DELIMITERS[0]
  }

  /** Parses the next line and appends the records that it completes. */
  push(line: InputLine, records: CsvRecord[]): void {
    if (this.#isAtStart) {
      this.#isAtStart = false
      const named = DELIMITER_LINE.exec(line.text)?.groups?.["delimiter"]
      if (named !== undefined) {
        this.#delimiter ??= named
        return
      }
    }
    this.#delimiter ??= DELIMITERS.find(delimiter => line.text.includes(delimiter)) ?? DELIMITERS[0]
    // The lines of a malformed record are parsed again, the next one last. They are few: a line inside of a quoted cell has no
    // quote of its own that could stay open.
    const left = [line]
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      for (const again of this.#parseLine(next, records).reverse()) left.push(again)
    }
  }

  /** The input has ended: appends the remaining records. */
  end(records: CsvRecord[]): void {
    while (this.#open !== null) {
      for (const line of this.#recover(this.#open.lines, records)) this.push(line, records)
    }
  }

  /** Gives the lines that must be parsed again. */
  #parseLine(line: InputLine, records: CsvRecord[]): InputLine[] {
    const open = this.#open
    if (line.isTooLong) {
      if (open !== null) return [...this.#recover(open.lines, records), line]
      records.push({ cells: this.#splitUnquoted(line), fault: "too_long" })
      return []
    }
    const read = parseCells(line.text, this.delimiter, open === null ? null : open.cells)
    if (read.kind === "whole") {
      this.#open = null
      records.push({ cells: read.cells, fault: null })
      return []
    }
    const lines = open === null ? [] : open.lines
    lines.push(line)
    const length = (open === null ? 0 : open.length) + line.text.length + 1
    if (read.kind === "broken" || length > LINE_BYTES_MAX) return this.#recover(lines, records)
    this.#open = { lines, cells: read, length }
    return []
  }

  #recover([first, ...rest]: readonly InputLine[], records: CsvRecord[]): InputLine[] {
    this.#open = null
    if (first !== undefined) records.push({ cells: this.#splitUnquoted(first), fault: "invalid_syntax" })
    return rest
  }

  /** Splits a line without regard to quotes. */
  #splitUnquoted({ text }: InputLine): readonly string[] {
    return stripCarriageReturn(text).split(this.delimiter)
  }
}
