import { type InputRow, stripCarriageReturn } from "./input-rows.ts"
import { type InputLine, LINE_BYTES_MAX } from "./line-splitter.ts"

/**
 * The cells of a line (RFC 4180), from its beginning or from within a quoted cell. `open`: the last cell has an open quote, so that the
 * record continues in the next line. `broken`: text follows a closing quote.
 */
type LineCells = { readonly kind: "whole" | "open" | "broken"; readonly cells: readonly string[] }

const BROKEN_CELLS: LineCells = { kind: "broken", cells: [] }

/** `end`: the index after the closing quote; null: the quote stays open. */
type QuotedCell = { readonly cell: string; readonly end: number | null }

/**
 * Parses the cells of a line. `isContinued`: it begins within a quoted cell, the rest of which is its first one. A quote in the
 * middle of a cell is an ordinary character.
 */
function parseCells(line: string, delimiter: string, isContinued: boolean): LineCells {
  if (!line.includes('"')) {
    if (isContinued) return { kind: "open", cells: [line] }
    return { kind: "whole", cells: stripCarriageReturn(line).split(delimiter) }
  }
  const cells: string[] = []
  let next = isContinued ? parseQuotedCell(line, 0, delimiter, cells) : 0
  while (typeof next === "number") {
    const at = afterBlanks(line, next, delimiter)
    next =
      line[at] === '"' ? parseQuotedCell(line, at + 1, delimiter, cells) : parseBareCell(line, next, delimiter, cells)
  }
  return next
}

/** Blanks between a delimiter and a quote belong to the quote. */
function afterBlanks(line: string, from: number, delimiter: string): number {
  if (delimiter === " ") return from
  let at = from
  while (line[at] === " ") at++
  return at
}

/** Appends a cell without quotes. Gives the index of the next cell, or the result at the end of the line. */
function parseBareCell(line: string, from: number, delimiter: string, cells: string[]): number | LineCells {
  const end = line.indexOf(delimiter, from)
  cells.push(end < 0 ? stripCarriageReturn(line.slice(from)) : line.slice(from, end))
  return end < 0 ? { kind: "whole", cells } : end + 1
}

/** Appends a cell from after its opening quote. Gives the same. */
function parseQuotedCell(line: string, from: number, delimiter: string, cells: string[]): number | LineCells {
  const { cell, end } = scanQuoted(line, from)
  cells.push(cell)
  if (end === null) return { kind: "open", cells }
  const next = afterBlanks(line, end, delimiter)
  if (isLineEnd(line, next)) return { kind: "whole", cells }
  return line[next] === delimiter ? next + 1 : BROKEN_CELLS
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
export type CsvRecord = {
  readonly cells: readonly string[]
  readonly fault: InputRow["fault"]
  /** How many lines it has. */
  readonly lineCount: number
}

/** A line of an open record, or one after it. `end`: the length of all lines up to here, with their line feeds. */
type PendingLine = {
  readonly line: InputLine
  readonly end: number
  /** Its cells as a continuation; null: nobody asked yet. */
  continued: LineCells | null
}

/** So many lines that are in records are dropped at once at least. */
const DROPPED_LINES_MIN = 1024

/**
 * Parses the records of a CSV file (RFC 4180) from its lines.
 *
 * A quote that is still open after the length of the longest line, or that closes in the middle of a cell, costs one line:
 * that line becomes a record with a fault, and parsing continues with the next line.
 *
 * The time is linear in the text (DECISIONS 105): what a line is as the beginning of a record, and what it is as a continuation, depends on the
 * line alone, so each is found once, however many records are given up before it.
 */
export class CsvRecordParser {
  readonly #delimiter: string
  /** The first line of the open record; null: none is open. */
  #open: LineCells | null = null
  /** The lines of the open record, the first one at `#first`, and those after it that were read. */
  #lines: PendingLine[] = []
  #first = 0
  /** The first line of which it is not known that it leaves the quote open. */
  #next = 0
  /** The length of all lines that were pending. */
  #end = 0

  constructor(delimiter: string) {
    this.#delimiter = delimiter
  }

  /** How many of the last lines are in no record yet. The first of them begins one. */
  get pendingLinesCount(): number {
    return this.#lines.length - this.#first
  }

  /** Parses the next line and appends the records that it completes. False: there are more than `recordsMax`, which `advance` appends. */
  push(line: InputLine, records: CsvRecord[], recordsMax = Number.POSITIVE_INFINITY): boolean {
    if (this.pendingLinesCount === 0 && this.#begin(line, records)) return true
    this.#end += line.text.length + 1
    this.#lines.push({ line, end: this.#end, continued: null })
    this.#next = Math.max(this.#next, this.#first + 1)
    return this.advance(records, recordsMax)
  }

  /** The input has ended: appends the remaining records. False: there are more than `recordsMax`, which a further call appends. */
  end(records: CsvRecord[], recordsMax = Number.POSITIVE_INFINITY): boolean {
    const until = records.length + recordsMax
    while (records.length < until && this.advance(records, until - records.length)) {
      if (this.#open === null) return true
      this.#giveUp(records)
    }
    return false
  }

  /** Appends what the lines so far complete and was not appended yet. Gives the same. */
  advance(records: CsvRecord[], recordsMax = Number.POSITIVE_INFINITY): boolean {
    for (const until = records.length + recordsMax; records.length < until; ) {
      const isAtEnd = this.#open === null ? !this.#beginPending(records) : !this.#continue(this.#open, records)
      if (isAtEnd) return true
    }
    return false
  }

  /** Begins a record with a line. True: it is done, and appended. */
  #begin(line: InputLine, records: CsvRecord[]): boolean {
    const read = line.isTooLong ? BROKEN_CELLS : parseCells(line.text, this.#delimiter, false)
    if (read.kind === "whole") records.push({ cells: read.cells, fault: null, lineCount: 1 })
    else if (read.kind === "broken") records.push(this.#faultyRecord(line))
    else this.#open = read
    return this.#open === null
  }

  /** Begins a record with the first pending line. False: there is none. */
  #beginPending(records: CsvRecord[]): boolean {
    this.#dropDone()
    const first = this.#lines[this.#first]
    if (first === undefined) return false
    if (this.#begin(first.line, records)) this.#first++
    this.#next = Math.max(this.#next, this.#first + 1)
    return true
  }

  /** Continues the open record by a line, or ends it. False: the line has not come yet. */
  #continue(open: LineCells, records: CsvRecord[]): boolean {
    const next = this.#lines[this.#next]
    const isTooLong = this.#openLength() > LINE_BYTES_MAX
    if (next === undefined && !isTooLong) return false
    const kind = next === undefined || isTooLong ? "broken" : this.#continuedCells(next).kind
    if (kind === "open") this.#next++
    else if (kind === "whole") this.#complete(open, records)
    else this.#giveUp(records)
    return true
  }

  #continuedCells(pending: PendingLine): LineCells {
    const { text, isTooLong } = pending.line
    pending.continued ??= isTooLong ? BROKEN_CELLS : parseCells(text, this.#delimiter, true)
    return pending.continued
  }

  /** The length of the open record so far. */
  #openLength(): number {
    const [first, last] = [this.#lines[this.#first], this.#lines[this.#next - 1]]
    return first === undefined || last === undefined ? 0 : last.end - first.end + first.line.text.length + 1
  }

  /** The next line ends the open record: joins their cells. */
  #complete(beginning: LineCells, records: CsvRecord[]): void {
    const cells = [...beginning.cells]
    for (let at = this.#first + 1; at <= this.#next; at++) {
      const continued = this.#lines[at]?.continued?.cells ?? []
      cells[cells.length - 1] += `\n${continued[0] ?? ""}`
      for (let index = 1; index < continued.length; index++) cells.push(continued[index] ?? "")
    }
    records.push({ cells, fault: null, lineCount: this.#next + 1 - this.#first })
    this.#open = null
    this.#first = this.#next + 1
  }

  /** The first line of the open record becomes a record of its own. */
  #giveUp(records: CsvRecord[]): void {
    const first = this.#lines[this.#first]
    if (first !== undefined) records.push(this.#faultyRecord(first.line))
    this.#open = null
    this.#first++
  }

  /** Drops the lines that are in records. Dropping each at once would move all others. */
  #dropDone(): void {
    if (this.#first < Math.min(DROPPED_LINES_MIN, this.#lines.length) || this.#first * 2 < this.#lines.length) return
    this.#lines = this.#lines.slice(this.#first)
    this.#next -= this.#first
    this.#first = 0
  }

  /** The line as a record, split without regard to quotes. */
  #faultyRecord({ text, isTooLong }: InputLine): CsvRecord {
    const cells = stripCarriageReturn(text).split(this.#delimiter)
    return { cells, fault: isTooLong ? "too_long" : "invalid_syntax", lineCount: 1 }
  }
}

/** The records that whole lines are. */
export function parseRecords(lines: readonly InputLine[], delimiter: string): readonly CsvRecord[] {
  const parser = new CsvRecordParser(delimiter)
  const records: CsvRecord[] = []
  for (const line of lines) parser.push(line, records)
  parser.end(records)
  return records
}

/** The first record of lines; undefined: there is none. */
export function firstRecord(lines: readonly InputLine[], delimiter: string): CsvRecord | undefined {
  const parser = new CsvRecordParser(delimiter)
  const records: CsvRecord[] = []
  for (const line of lines) {
    parser.push(line, records, 1)
    if (records.length > 0) return records[0]
  }
  parser.end(records, 1)
  return records[0]
}
