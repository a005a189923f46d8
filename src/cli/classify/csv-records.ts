import { type OpenCells, readCells } from "./csv-cells.ts"
import { LINE_BYTES_MAX } from "./line-splitter.ts"
import type { Line, Row } from "./row.ts"
import { withoutReturn } from "./text-rows.ts"

/** One record of a CSV file. With a fault, its cells are what could be made out of one line. */
export type CsvRecord = { readonly cells: readonly string[]; readonly fault: Row["fault"] }

/** A record whose last quote is open, with the lines that it has so far, to go back to. */
type OpenRecord = { readonly lines: Line[]; readonly cells: OpenCells; readonly length: number }

/** What may stand between cells. */
const DELIMITERS = [",", ";", "\t"] as const

/**
 * Reads the records of a CSV file (RFC 4180) from its lines. The delimiter is the first of comma, semicolon and tab that
 * the first line has.
 *
 * A quote that is not closed within the longest line there may be costs one line, and so does one that closes in the
 * middle of a cell: that line is a record with a fault, and reading goes on after it.
 */
export class CsvRecords {
  #delimiter: string | null = null
  #open: OpenRecord | null = null

  /** What stands between cells; a comma until the first line is taken. */
  get delimiter(): string {
    return this.#delimiter ?? DELIMITERS[0]
  }

  /** Takes the next line and appends the records that are whole by it. */
  take(line: Line, records: CsvRecord[]): void {
    this.#delimiter ??= DELIMITERS.find(delimiter => line.text.includes(delimiter)) ?? null
    // The lines of a broken record are read again, the next one last. They are few: a line that another line's quote has
    // swallowed has no quote of its own that could stay open.
    const left = [line]
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      for (const again of this.#takeOne(next, records).reverse()) left.push(again)
    }
  }

  /** There are no more lines: appends what is left. */
  end(records: CsvRecord[]): void {
    while (this.#open !== null) {
      for (const line of this.#broken(this.#open.lines, records)) this.take(line, records)
    }
  }

  /** Gives the lines that must be taken again. */
  #takeOne(line: Line, records: CsvRecord[]): Line[] {
    const open = this.#open
    if (line.isTooLong) {
      if (open !== null) return [...this.#broken(open.lines, records), line]
      records.push({ cells: this.#cellsOf(line), fault: "too_long" })
      return []
    }
    const read = readCells(line.text, this.delimiter, open === null ? null : open.cells)
    if (read.kind === "whole") {
      this.#open = null
      records.push({ cells: read.cells, fault: null })
      return []
    }
    const lines = open === null ? [] : open.lines
    lines.push(line)
    const length = (open === null ? 0 : open.length) + line.text.length + 1
    if (read.kind === "broken" || length > LINE_BYTES_MAX) return this.#broken(lines, records)
    this.#open = { lines, cells: read, length }
    return []
  }

  #broken([first, ...rest]: readonly Line[], records: CsvRecord[]): Line[] {
    this.#open = null
    if (first !== undefined) records.push({ cells: this.#cellsOf(first), fault: "invalid_syntax" })
    return rest
  }

  /** Its cells without a look at quotes. */
  #cellsOf({ text }: Line): readonly string[] {
    return withoutReturn(text).split(this.delimiter)
  }
}
