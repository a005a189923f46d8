import { type CsvRecord, CsvRecordParser } from "./csv-reader.ts"
import type { InputLine } from "./input-rows.ts"
import { LINE_BYTES_MAX, LineSplitter } from "./line-splitter.ts"

/** Whole rows of a file, as bytes. `rowCount` counts the header of a CSV file too, and of the last block only the rows that have ended. */
export type Block = { readonly bytes: Uint8Array; readonly rowCount: number }

const LINE_FEED = 10
const QUOTE = 34

/**
 * Cuts the bytes of a file between rows, so that each block can be read without those before it. In CSV a row is a record, which
 * may have line feeds between quotes. Holds a chunk and an incomplete row at most, of a line that is too long only as much as
 * shows that.
 */
export class RecordCutter {
  readonly #records: CsvRecordParser | null
  /** Rows that are not cut off yet, and how many of their bytes and lines were looked at. */
  #pending: Buffer = Buffer.alloc(0)
  #examined = 0
  #rowCount = 0
  /** How many of these rows end at the last place where a block can end. */
  #cutRowCount = 0
  #isFirst = true

  /** `delimiter`: of a CSV file, null: it is detected. `isCsv` false: a row is a line. */
  constructor(isCsv: boolean, delimiter: string | null) {
    this.#records = isCsv ? new CsvRecordParser(delimiter) : null
  }

  /** Takes the next chunk. Gives the rows that are complete; null: there is none. */
  push(chunk: Uint8Array): Block | null {
    this.#append(chunk)
    const lastFeed = this.#pending.lastIndexOf(LINE_FEED)
    if (lastFeed < this.#examined) return null
    const cut = this.#needsParser() ? this.#examineRecords(lastFeed) : this.#examineLines(lastFeed)
    return cut === 0 ? null : this.#cutOff(cut)
  }

  /** The input has ended: gives the rest; null: there is none. */
  end(): Block | null {
    this.#cutRowCount = this.#rowCount
    return this.#pending.length === 0 ? null : this.#cutOff(this.#pending.length)
  }

  #append(chunk: Uint8Array): void {
    const lineStart = this.#examined
    const openBytes = this.#pending.length - lineStart
    const feed = chunk.indexOf(LINE_FEED)
    // Of a line that is too long, only as much is kept as shows that.
    const room = Math.max(0, LINE_BYTES_MAX + 1 - openBytes)
    const lineRest = chunk.subarray(0, Math.min(feed < 0 ? chunk.length : feed, room))
    const after = feed < 0 ? new Uint8Array() : chunk.subarray(feed)
    this.#pending = Buffer.concat([this.#pending, lineRest, after])
  }

  #needsParser(): boolean {
    if (this.#records === null) return false
    return this.#isFirst || this.#records.isOpen || this.#pending.includes(QUOTE, this.#examined)
  }

  /** Every line is a row. Gives where the last one ends. */
  #examineLines(lastFeed: number): number {
    for (
      let at = this.#pending.indexOf(LINE_FEED, this.#examined);
      at >= 0;
      at = this.#pending.indexOf(LINE_FEED, at + 1)
    )
      this.#rowCount++
    this.#examined = lastFeed + 1
    this.#cutRowCount = this.#rowCount
    return this.#examined
  }

  /** Gives where the last record ends; 0: none has ended. */
  #examineRecords(lastFeed: number): number {
    const records = this.#records
    let cut = 0
    for (let from = this.#examined; from <= lastFeed; ) {
      const end = this.#pending.indexOf(LINE_FEED, from) + 1
      if (records !== null) this.#examineLine(records, this.#pending.subarray(from, end))
      from = end
      this.#examined = end
      if (records?.isOpen === true) continue
      cut = end
      this.#cutRowCount = this.#rowCount
    }
    return cut
  }

  #examineLine(records: CsvRecordParser, bytes: Buffer): void {
    if (!this.#isFirst && !records.isOpen && !bytes.includes(QUOTE)) {
      this.#rowCount++
      return
    }
    const found: CsvRecord[] = []
    for (const line of linesOf(bytes, this.#isFirst)) records.push(line, found)
    this.#isFirst = false
    this.#rowCount += found.length
  }

  #cutOff(length: number): Block {
    const bytes = this.#pending.subarray(0, length)
    const rowCount = this.#cutRowCount
    this.#pending = this.#pending.subarray(length)
    this.#examined = Math.max(0, this.#examined - length)
    // Rows that a line with a wrong quote gave stand behind the place if a later quote is open.
    this.#rowCount -= rowCount
    this.#cutRowCount = 0
    return { bytes, rowCount }
  }
}

/** The lines of whole rows. `isAtStart`: they are the first of a file. */
export function linesOf(bytes: Uint8Array, isAtStart: boolean): readonly InputLine[] {
  const splitter = new LineSplitter(isAtStart)
  const lines: InputLine[] = []
  splitter.push(bytes, lines)
  splitter.end(lines)
  return lines
}
