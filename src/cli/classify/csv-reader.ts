import { SUBJECT_KINDS } from "../../check/address/subject.ts"
import { CommandError, escapeControls } from "../output.ts"
import {
  type InputColumns,
  type InputLine,
  type InputRow,
  type RowReader,
  SINGLE_COLUMN,
  stripCarriageReturn,
} from "./input-rows.ts"
import { LINE_BYTES_MAX } from "./line-splitter.ts"

/**
 * Reads the rows of a CSV file under its header. The input is in the column that `wanted` names, else in `email`, `domain`
 * or `url`, the first that there is, else in the only one; case does not matter. A file of one column whose first line is
 * an input has no header. Throws a `CommandError` when no column can be told; it names none, since a file without
 * header has somebody's address there.
 */
export class CsvRowReader implements RowReader {
  readonly #columnName: string | null
  readonly #records = new CsvRecordParser()
  #columns: InputColumns | null = null
  #inputIndex = 0

  constructor(wanted: string | null) {
    this.#columnName = wanted
  }

  readonly columns = (): InputColumns | null => this.#columns

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
    if (this.#columns === null) this.#readHeader(record, rows)
    else rows.push(this.#toRow(record, this.#columns))
  }

  #readHeader(record: CsvRecord, rows: InputRow[]): void {
    const { cells, fault } = record
    if (fault !== null) throw new CommandError("The header of the CSV file is broken.")
    const [only] = cells
    if (this.#columnName === null && cells.length === 1 && only !== undefined && INPUT_PATTERN.test(only)) {
      this.#columns = SINGLE_COLUMN
      rows.push(this.#toRow(record, this.#columns))
      return
    }
    this.#columns = { names: cells, delimiter: this.#records.delimiter }
    this.#inputIndex = findInputColumn(cells, this.#columnName)
  }

  #toRow({ cells, fault }: CsvRecord, { names }: InputColumns): InputRow {
    const all = cells.length >= names.length ? cells : [...cells, ...Array(names.length - cells.length).fill("")]
    return { input: all[this.#inputIndex] ?? "", kind: null, fault, cells: all }
  }
}

/** No column is called so, and every input that is anybody's is. */
const INPUT_PATTERN = /[@.]/

/** Where the column is that has the inputs. Throws when that cannot be told. */
function findInputColumn(names: readonly string[], wanted: string | null): number {
  if (wanted === null && names.length === 1) return 0
  for (const name of wanted === null ? SUBJECT_KINDS : [wanted]) {
    const exact = names.indexOf(name)
    const at = exact >= 0 ? exact : names.findIndex(other => normalizedName(other) === normalizedName(name))
    if (at >= 0) return at
  }
  if (wanted !== null) throw new CommandError(`The file has no column \`${escapeControls(wanted)}\`.`, 2)
  throw new CommandError("The file has no column `email`, `domain` or `url`: name the one to check with --column.", 2)
}

const normalizedName = (name: string): string => name.trim().toLowerCase()

/** What the cells of a line come to, by RFC 4180. */
type CellsResult =
  | { readonly kind: "whole"; readonly cells: readonly string[] }
  /** The last cell's quote is open: the record goes on in the next line. */
  | OpenCells
  /** A closing quote is followed by neither a delimiter nor the end of the line. */
  | { readonly kind: "broken" }

/** The cells before one whose quote is open, and what that one holds so far. Reading on takes `cells` over. */
type OpenCells = { readonly kind: "open"; readonly cells: string[]; readonly cell: string }

const MALFORMED_CELLS = { kind: "broken" } as const

/** A quoted cell: where the text after its closing quote begins; null: its quote stays open. */
type QuotedCell = { readonly cell: string; readonly end: number | null }

/**
 * Reads the cells of a line, which goes on with those of `open`, if any. A quote that does not begin a cell is a character
 * like others. It takes time in proportion to the line, however many lines the record has.
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

/** Takes a cell without quotes; gives where the next one begins, if there is one. */
function parseBareCell(line: string, from: number, delimiter: string, cells: string[]): number | CellsResult {
  const end = line.indexOf(delimiter, from)
  cells.push(end < 0 ? stripCarriageReturn(line.slice(from)) : line.slice(from, end))
  return end < 0 ? { kind: "whole", cells } : end + 1
}

/** Takes a cell from behind its opening quote on, with what it had `before`; gives where the next one begins, if there is one. */
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

/** Reads on to the closing quote; two quotes are one within. */
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

/** The cells as one record, without its line feed: a cell is quoted where it must be, and keeps every character. */
export function formatCsvRecord(cells: readonly string[], delimiter: string): string {
  let text = ""
  for (const cell of cells) text += delimiter + quoteIfNeeded(cell)
  return text.slice(delimiter.length)
}

/** Any delimiter that a file may have is quoted, whichever this one has. */
const NEEDS_QUOTES_PATTERN = /[",;\t\r\n]/

const quoteIfNeeded = (cell: string): string =>
  NEEDS_QUOTES_PATTERN.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell

/** One record of a CSV file. With a fault, its cells are what could be made out of one line. */
export type CsvRecord = { readonly cells: readonly string[]; readonly fault: InputRow["fault"] }

/** A record whose last quote is open, with the lines that it has so far, to go back to. */
type OpenRecord = { readonly lines: InputLine[]; readonly cells: OpenCells; readonly length: number }

/** What may stand between cells. */
const DELIMITERS = [",", ";", "\t"] as const

/**
 * Reads the records of a CSV file (RFC 4180) from its lines. The delimiter is the first of comma, semicolon and tab that
 * the first line has.
 *
 * A quote that is not closed within the longest line there may be costs one line, and so does one that closes in the
 * middle of a cell: that line is a record with a fault, and reading goes on after it.
 */
export class CsvRecordParser {
  #delimiter: string | null = null
  #open: OpenRecord | null = null

  /** What stands between cells; a comma until the first line is taken. */
  get delimiter(): string {
    return this.#delimiter ?? DELIMITERS[0]
  }

  /** Takes the next line and appends the records that are whole by it. */
  push(line: InputLine, records: CsvRecord[]): void {
    this.#delimiter ??= DELIMITERS.find(delimiter => line.text.includes(delimiter)) ?? null
    // The lines of a broken record are read again, the next one last. They are few: a line that another line's quote has
    // swallowed has no quote of its own that could stay open.
    const left = [line]
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      for (const again of this.#parseLine(next, records).reverse()) left.push(again)
    }
  }

  /** There are no more lines: appends what is left. */
  end(records: CsvRecord[]): void {
    while (this.#open !== null) {
      for (const line of this.#recover(this.#open.lines, records)) this.push(line, records)
    }
  }

  /** Gives the lines that must be taken again. */
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

  /** Its cells without a look at quotes. */
  #splitUnquoted({ text }: InputLine): readonly string[] {
    return stripCarriageReturn(text).split(this.delimiter)
  }
}
