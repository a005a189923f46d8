import { type CsvRecord, CsvRecordParser } from "./csv-reader.ts"
import type { InputLine } from "./input-rows.ts"
import { decodeLine, LINE_BYTES_MAX, LineSplitter, withoutByteOrderMark } from "./line-splitter.ts"

/** Whole rows of a file, as bytes. `rowCount` counts the header of a CSV file too, and of the last block only the rows that have ended. */
export type Block = { readonly bytes: Uint8Array; readonly rowCount: number }

/** A block has at most so many rows, however short they are. */
const BLOCK_ROWS_MAX = 4096
/** So many lines or records are examined in one piece. */
const PIECE_ROWS_MAX = 256

const LINE_FEED = 10
const QUOTE = 34

/**
 * Cuts the bytes of a file between rows, so that each block can be read without those before it. In CSV a row is a record, which
 * may have line feeds between quotes. Holds a chunk, an open record and an incomplete line at most, of a line that is too long only as
 * much as shows that.
 */
export class RecordCutter {
  readonly #records: CsvRecordParser | null
  /** Bytes that are not cut off yet, and how many of them were looked at. */
  #pending: Buffer = Buffer.alloc(0)
  #examined = 0
  /** What came after them of a line that has not ended. */
  #lineParts: Uint8Array[] = []
  #linePartsBytes = 0
  #rowCount = 0
  #isFirst = true

  /** `delimiter`: of a CSV file, null: it is detected. `isCsv` false: a row is a line. */
  constructor(isCsv: boolean, delimiter: string | null) {
    this.#records = isCsv ? new CsvRecordParser(delimiter) : null
  }

  /** Takes the next chunk, and gives the rows that are complete. Null: others may work before the next piece. */
  *push(chunk: Uint8Array): Generator<Block | null, undefined> {
    const lineEnd = chunk.indexOf(LINE_FEED)
    this.#addToLine(chunk.subarray(0, lineEnd < 0 ? chunk.length : lineEnd))
    if (lineEnd < 0) return
    this.#join(chunk.subarray(lineEnd))
    yield* this.#records !== null && this.#needsParser(this.#records)
      ? this.#examineRecords(this.#records)
      : this.#examineLines()
    yield* this.#cutOff(this.#doneBytes())
  }

  /** The input has ended: gives the rest; null: there is none. */
  end(): Block | null {
    this.#join(new Uint8Array())
    const [rest = null] = this.#cutOff(this.#pending.length)
    return rest
  }

  /** Of a line that is too long, only as much is kept as shows that. */
  #addToLine(bytes: Uint8Array): void {
    const room = LINE_BYTES_MAX + 1 - (this.#pending.length - this.#examined) - this.#linePartsBytes
    if (room <= 0 || bytes.length === 0) return
    // A copy, because the memory of the chunk is reused.
    this.#lineParts.push(new Uint8Array(bytes.subarray(0, room)))
    this.#linePartsBytes += Math.min(bytes.length, room)
  }

  #join(rest: Uint8Array): void {
    this.#pending = Buffer.concat([this.#pending, ...this.#lineParts, rest])
    this.#lineParts = []
    this.#linePartsBytes = 0
  }

  #needsParser({ pendingLinesCount }: CsvRecordParser): boolean {
    return this.#isFirst || pendingLinesCount > 0 || this.#pending.includes(QUOTE, this.#examined)
  }

  /** Every line is a row. */
  *#examineLines(): Generator<Block, undefined> {
    for (let end = this.#nextLineEnd(); end > 0; end = this.#nextLineEnd()) {
      this.#rowCount++
      this.#examined = end
      if (this.#rowCount >= BLOCK_ROWS_MAX) yield* this.#cutOff(end)
    }
  }

  *#examineRecords(records: CsvRecordParser): Generator<Block | null, undefined> {
    let count = 0
    for (let end = this.#nextLineEnd(); end > 0; end = this.#nextLineEnd()) {
      const found: CsvRecord[] = []
      let isDone = this.#examineLine(records, end, found)
      this.#rowCount += found.length
      while (!isDone || ++count % PIECE_ROWS_MAX === 0) {
        if (this.#rowCount < BLOCK_ROWS_MAX) yield null
        else yield* this.#cutOff(this.#doneBytes())
        const more: CsvRecord[] = []
        isDone = records.advance(more, PIECE_ROWS_MAX)
        this.#rowCount += more.length
      }
    }
  }

  /** False: the line completes more records. */
  #examineLine(records: CsvRecordParser, end: number, found: CsvRecord[]): boolean {
    const bytes = this.#pending.subarray(this.#examined, end - 1)
    this.#examined = end
    if (!this.#isFirst && records.pendingLinesCount === 0 && !bytes.includes(QUOTE)) {
      this.#rowCount++
      return true
    }
    const line = decodeLine(bytes, 0, bytes.length)
    const isDone = records.push(this.#isFirst ? withoutByteOrderMark(line) : line, found, PIECE_ROWS_MAX)
    this.#isFirst = false
    return isDone
  }

  /** 0: no further line has ended. */
  #nextLineEnd(): number {
    return this.#pending.indexOf(LINE_FEED, this.#examined) + 1
  }

  /** Where the last record ends. */
  #doneBytes(): number {
    let end = this.#examined
    for (let lines = this.#records?.pendingLinesCount ?? 0; lines > 0; lines--)
      end = end < 2 ? 0 : this.#pending.lastIndexOf(LINE_FEED, end - 2) + 1
    return end
  }

  #cutOff(length: number): readonly Block[] {
    if (length === 0) return []
    const block = { bytes: this.#pending.subarray(0, length), rowCount: this.#rowCount }
    this.#pending = this.#pending.subarray(length)
    this.#examined = Math.max(0, this.#examined - length)
    this.#rowCount = 0
    return [block]
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
