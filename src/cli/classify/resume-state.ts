import type { Streams } from "../../base/streams.ts"
import type { InputRow, ReadRow } from "../../rows/input-rows.ts"
import type { ResultFormat } from "../../rows/result-format.ts"

/** The results of an earlier run in the file. */
export type PartialResults = {
  /** The number of complete results. */
  readonly count: number
  /** Their bytes, with the header. */
  readonly bytes: number
  /** The beginning of the last one; empty: there is none. */
  readonly last: Uint8Array
  /** The beginning of an incomplete result at the end; empty: there is none. */
  readonly incomplete: Uint8Array
}

/** How many bytes of a result are compared. */
const COMPARED_BYTES_MAX = 1_048_576

const LINE_FEED = 10
const QUOTE = 34

/**
 * Reads the results in a file. A result ends at a line feed, in CSV at one outside of quotes. Null: the file does not begin with
 * the header of this format. A missing file and one with an incomplete header have no results.
 */
export async function readPartial(
  streams: Streams,
  path: string,
  { header }: ResultFormat,
  isCsv: boolean,
): Promise<PartialResults | null> {
  if ((await streams.size(path)) === null) return NO_RESULTS
  const headBytes = Buffer.from(header)
  const beginning = await readBytes(streams, path, 0, headBytes.length)
  if (!sharePrefix(beginning, headBytes)) return null
  if (beginning.length < headBytes.length) return NO_RESULTS
  const ends = await findResultEnds(streams, path, headBytes.length, isCsv)
  const last =
    ends.count > 0
      ? await readBytes(streams, path, ends.lastFrom, Math.min(ends.to - ends.lastFrom, COMPARED_BYTES_MAX))
      : EMPTY
  return {
    count: ends.count,
    bytes: ends.to,
    last,
    incomplete: await readBytes(streams, path, ends.to, COMPARED_BYTES_MAX),
  }
}

const EMPTY = new Uint8Array()
const NO_RESULTS: PartialResults = { count: 0, bytes: 0, last: EMPTY, incomplete: EMPTY }

/** The number of complete records from a byte on, and where the last one begins and ends. */
async function findResultEnds(streams: Streams, path: string, from: number, isCsv: boolean) {
  const { chunks } = await streams.openSource(path, from)
  let isQuoted = false
  let [count, lastFrom, to, before] = [0, from, from, from]
  for await (const part of chunks) {
    for (let at = 0; at < part.length; at++) {
      const byte = part[at]
      if (byte === QUOTE) isQuoted = isCsv && !isQuoted
      if (byte !== LINE_FEED || isQuoted) continue
      count++
      lastFrom = to
      to = before + at + 1
    }
    before += part.length
  }
  return { count, lastFrom, to }
}

/** Reads so many bytes of a file, or as many as there are. */
async function readBytes(streams: Streams, path: string, from: number, count: number): Promise<Uint8Array> {
  let bytes: Uint8Array = EMPTY
  const { chunks } = await streams.openSource(path, from)
  for await (const part of chunks) {
    bytes = Buffer.concat([bytes, part])
    if (bytes.length >= count) break
  }
  return bytes.subarray(0, count)
}

/** Whether one of them is a prefix of the other. */
const sharePrefix = (one: Uint8Array, other: Uint8Array): boolean => {
  const length = Math.min(one.length, other.length)
  return Buffer.compare(one.subarray(0, length), other.subarray(0, length)) === 0
}

/** Skips the rows that have a result. Rows are matched with results by the beginning of the result. */
export class ResumeState {
  readonly partial: PartialResults
  readonly #resultPrefix: (row: InputRow) => Uint8Array
  #skippedCount = 0
  #isIncompleteMatched: boolean

  constructor(left: PartialResults, form: ResultFormat, read: (row: InputRow) => ReadRow) {
    this.partial = left
    this.#resultPrefix = row => Buffer.from(form.prefix(read(row)))
    this.#isIncompleteMatched = left.incomplete.length === 0
  }

  /** The rows without a result. Null: the results belong to other rows. */
  unfinishedRows(rows: readonly InputRow[]): readonly InputRow[] | null {
    const { count: results, last, incomplete } = this.partial
    const count = Math.min(rows.length, results - this.#skippedCount)
    const lastRow = rows[count - 1]
    this.#skippedCount += count
    if (lastRow !== undefined && this.#skippedCount === results && !matchesPrefix(last, this.#resultPrefix(lastRow)))
      return null
    const [next] = count === 0 ? rows : rows.slice(count, count + 1)
    if (next !== undefined && !this.#isIncompleteMatched) {
      if (!sharePrefix(incomplete, this.#resultPrefix(next))) return null
      this.#isIncompleteMatched = true
    }
    return count === 0 ? rows : rows.slice(count)
  }

  /** Whether every result, complete or not, was matched with a row. */
  get isFullyMatched(): boolean {
    return this.#skippedCount === this.partial.count && this.#isIncompleteMatched
  }
}

const matchesPrefix = (bytes: Uint8Array, beginning: Uint8Array): boolean =>
  sharePrefix(bytes, beginning) && bytes.length >= Math.min(beginning.length, COMPARED_BYTES_MAX)
