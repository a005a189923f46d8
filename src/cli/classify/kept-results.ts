import type { Streams } from "../../base/byte-stream.ts"
import type { Subject } from "../../check/address/subject.ts"
import type { ResultForm } from "./results.ts"
import type { Row } from "./row.ts"

/** What an earlier run has left in its file. */
export type Left = {
  /** How many whole results. */
  readonly results: number
  /** How many bytes they take, with what stands before them. */
  readonly bytes: number
  /** How the last of them begins; empty when there is none. */
  readonly last: Uint8Array
  /** How the one begins that is torn; empty when none is. */
  readonly torn: Uint8Array
}

/** How many bytes of a result are compared at most. */
const COMPARED_BYTES = 1_048_576

const LINE_FEED = 10
const QUOTE = 34

/**
 * Reads what is left in a file: a result ends at a line feed, in CSV at one outside of quotes. Null: the file does not
 * begin with the head of this form. No file, and one that is torn within its head, leave nothing.
 */
export async function leftIn(
  streams: Streams,
  path: string,
  { head }: ResultForm,
  isCsv: boolean,
): Promise<Left | null> {
  if ((await streams.size(path)) === null) return NOTHING
  const ends = await resultEnds(streams, path, isCsv)
  const headBytes = Buffer.from(head)
  const beginning = await bytesFrom(streams, path, 0, headBytes.length)
  if (!isPrefix(beginning, headBytes)) return null
  if (beginning.length < headBytes.length) return NOTHING
  const results = head === "" ? ends.count : ends.count - 1
  const last =
    results > 0
      ? await bytesFrom(streams, path, ends.lastFrom, Math.min(ends.to - ends.lastFrom, COMPARED_BYTES))
      : EMPTY
  return { results, bytes: ends.to, last, torn: await bytesFrom(streams, path, ends.to, COMPARED_BYTES) }
}

const EMPTY = new Uint8Array()
const NOTHING: Left = { results: 0, bytes: 0, last: EMPTY, torn: EMPTY }

/** How many records end in a file, where the last of them begins, and where it ends. */
async function resultEnds(streams: Streams, path: string, isCsv: boolean) {
  const { parts } = await streams.source(path)
  let isQuoted = false
  let [count, lastFrom, to, before] = [0, 0, 0, 0]
  for await (const part of parts) {
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

/** So many bytes of a file, or as many as there are. */
async function bytesFrom(streams: Streams, path: string, from: number, count: number): Promise<Uint8Array> {
  let bytes: Uint8Array = EMPTY
  const { parts } = await streams.source(path, from)
  for await (const part of parts) {
    bytes = Buffer.concat([bytes, part])
    if (bytes.length >= count) break
  }
  return bytes.subarray(0, count)
}

/** Whether one of them begins with the other. */
const isPrefix = (one: Uint8Array, other: Uint8Array): boolean => {
  const length = Math.min(one.length, other.length)
  return Buffer.compare(one.subarray(0, length), other.subarray(0, length)) === 0
}

/** Passes over the rows whose results are there. A row is known again by how its result begins. */
export class KeptResults {
  /** What is left. */
  readonly left: Left
  readonly #beginning: (row: Row) => Uint8Array
  #passed = 0
  #isTornKnown: boolean

  constructor(left: Left, form: ResultForm, subjectOf: (row: Row) => Subject) {
    this.left = left
    this.#beginning = row => Buffer.from(form.beginning(row, subjectOf(row)))
    this.#isTornKnown = left.torn.length === 0
  }

  /** The rows of these that have no result. Null: the results that are there are not those of the rows. */
  rest(rows: readonly Row[]): readonly Row[] | null {
    const { results, last, torn } = this.left
    const count = Math.min(rows.length, results - this.#passed)
    const lastRow = rows[count - 1]
    this.#passed += count
    if (lastRow !== undefined && this.#passed === results && !isWith(last, this.#beginning(lastRow))) return null
    const [next] = count === 0 ? rows : rows.slice(count, count + 1)
    if (next !== undefined && !this.#isTornKnown) {
      if (!isPrefix(torn, this.#beginning(next))) return null
      this.#isTornKnown = true
    }
    return count === 0 ? rows : rows.slice(count)
  }

  /** Whether every result that is there, whole or torn, is that of a row that was passed. */
  get isAllKnown(): boolean {
    return this.#passed === this.left.results && this.#isTornKnown
  }
}

const isWith = (bytes: Uint8Array, beginning: Uint8Array): boolean =>
  isPrefix(bytes, beginning) && bytes.length >= Math.min(beginning.length, COMPARED_BYTES)
