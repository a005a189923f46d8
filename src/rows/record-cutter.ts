import type { ReadingRule } from "../contract/reading.ts"
import { type CsvRecord, CsvRecordParser } from "./csv-reader.ts"
import { decodeLine, LINE_BYTES_MAX } from "./line-splitter.ts"

/** Whole rows of a file, as bytes. `rowCount` counts the header of a CSV file and the lines above it too. */
export type Block = { readonly bytes: Uint8Array; readonly rowCount: number }

type CutterRule = Pick<ReadingRule, "format" | "delimiter" | "skippedLines">

/** A block has at most so many rows, however short they are. */
const BLOCK_ROWS_MAX = 2048
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
  /** The parser of a CSV file; null: each line is a row. */
  readonly #records: CsvRecordParser | null
  /** How many lines stand above the table and were not looked at yet. Each counts as a row, whatever quotes it has. */
  #linesAbove: number
  /** Bytes that are not cut off yet, how many of them were looked at, and how many are those of whole rows. */
  #pending: Buffer = Buffer.alloc(0)
  #examined = 0
  #whole = 0
  /** How many of the lines that were looked at are in no whole row, and how many whole rows there are. */
  #openLines = 0
  #rowCount = 0
  /** What came after the bytes of a line that has not ended. */
  #lineParts: Uint8Array[] = []
  #linePartsBytes = 0

  constructor({ format, delimiter, skippedLines }: CutterRule) {
    this.#records = format === "csv" ? new CsvRecordParser(delimiter) : null
    this.#linesAbove = skippedLines
  }

  /** Takes the next chunk, and gives the rows that are complete. Null: others may work before the next piece. */
  *push(chunk: Uint8Array): Generator<Block | null, undefined> {
    const lineEnd = chunk.indexOf(LINE_FEED)
    this.#addToLine(chunk.subarray(0, lineEnd < 0 ? chunk.length : lineEnd))
    if (lineEnd < 0) return
    this.#join(chunk.subarray(lineEnd))
    yield* this.#needsParser() ? this.#examineRecords() : this.#examineLines()
    yield* this.#cutOff(0)
  }

  /** The input has ended: gives the rest in the same way. */
  *end(): Generator<Block | null, undefined> {
    this.#join(new Uint8Array())
    const end = this.#pending.length
    const found: CsvRecord[] = []
    if (this.#examined < end) this.#examineLine(end, end, found)
    this.#linesAbove = 0
    for (let isDone = false; !isDone; yield* this.#cutOff(isDone ? 0 : BLOCK_ROWS_MAX)) {
      isDone = this.#records?.end(found, PIECE_ROWS_MAX) ?? true
      this.#countRows(found.splice(0).length)
    }
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

  #needsParser(): boolean {
    if (this.#records === null) return false
    const isBetweenRecords = this.#records.pendingLinesCount === 0
    return !isBetweenRecords || this.#linesAbove > 0 || this.#pending.includes(QUOTE, this.#examined)
  }

  /** Every line is a row. */
  *#examineLines(): Generator<Block | null, undefined> {
    for (let end = this.#nextLineEnd(); end > 0; end = this.#nextLineEnd()) {
      this.#rowCount++
      if (this.#linesAbove > 0) this.#linesAbove--
      this.#examined = end
      this.#whole = end
      if (this.#rowCount === BLOCK_ROWS_MAX) yield* this.#cutOff(BLOCK_ROWS_MAX)
    }
  }

  *#examineRecords(): Generator<Block | null, undefined> {
    let count = 0
    const found: CsvRecord[] = []
    for (let end = this.#nextLineEnd(); end > 0; end = this.#nextLineEnd()) {
      let isDone = this.#examineLine(end - 1, end, found)
      this.#countRows(found.splice(0).length)
      while (!isDone || ++count % PIECE_ROWS_MAX === 0) {
        yield* this.#cutOff(BLOCK_ROWS_MAX)
        isDone = this.#records?.advance(found, PIECE_ROWS_MAX) ?? true
        this.#countRows(found.splice(0).length)
      }
    }
  }

  /** Looks at a line of CSV and appends the records that it completes. False: there are more. */
  #examineLine(end: number, next: number, found: CsvRecord[]): boolean {
    const bytes = this.#pending.subarray(this.#examined, end)
    this.#examined = next
    this.#openLines++
    const isAbove = this.#linesAbove > 0
    if (isAbove) this.#linesAbove--
    if (isAbove || this.#records === null || (this.#records.pendingLinesCount === 0 && !bytes.includes(QUOTE))) {
      this.#countRows(1)
      return true
    }
    return this.#records.push(decodeLine(bytes, 0, bytes.length), found, PIECE_ROWS_MAX)
  }

  /** 0: no further line has ended. */
  #nextLineEnd(): number {
    return this.#pending.indexOf(LINE_FEED, this.#examined) + 1
  }

  /** Counts rows that are whole now, with their lines. */
  #countRows(count: number): void {
    this.#rowCount += count
    const openLines = this.#records?.pendingLinesCount ?? 0
    if (openLines === 0) this.#whole = this.#examined
    else
      for (let lines = this.#openLines; lines > openLines; lines--)
        this.#whole = this.#pending.indexOf(LINE_FEED, this.#whole) + 1
    this.#openLines = openLines
  }

  /** Gives the whole rows if they are at least so many, and one; null: they are not. */
  #cutOff(rowsMin: number): readonly (Block | null)[] {
    // The first block has all lines above the first row.
    if (this.#linesAbove > 0 || this.#whole === 0 || this.#rowCount < Math.max(rowsMin, 1)) return [null]
    const block = { bytes: this.#pending.subarray(0, this.#whole), rowCount: this.#rowCount }
    this.#pending = this.#pending.subarray(this.#whole)
    this.#examined -= this.#whole
    this.#whole = 0
    this.#rowCount = 0
    return [block]
  }
}

/**
 * The bytes of a file, in UTF-8, as blocks of whole rows. Null: others may work before the next piece, which takes a few milliseconds at
 * most.
 */
export async function* cutBlocks(
  chunks: AsyncIterable<Uint8Array>,
  rule: CutterRule,
): AsyncGenerator<Block | null, undefined> {
  const cutter = new RecordCutter(rule)
  for await (const chunk of chunks) {
    yield* cutter.push(chunk)
    yield null
  }
  yield* cutter.end()
}
