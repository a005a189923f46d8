import { assert } from "../../../base/errors.ts"
import type { CallerHash } from "../caller-hash.ts"
import type { InFlightLimiter } from "./in-flight-limiter.ts"

/** Entries of a column: a mark and a count, two words. A bucket fills one line of the processor's cache. */
const ENTRY_WORDS = 2
const BUCKET_WORDS = 8 * ENTRY_WORDS
const BUCKETS = 1024
const COLUMN_WORDS = BUCKETS * BUCKET_WORDS

/** How many bytes of memory the column of one process takes. */
export const COLUMN_BYTES = COLUMN_WORDS * Int32Array.BYTES_PER_ELEMENT

/** The caller's entry in this process. */
type CallerEntry = {
  count: number
  /** The caller's bucket, and what it is known by there. */
  readonly bucket: number
  readonly mark: number
  /** Where the others read the count; null: the bucket is full, and they do not know of it. */
  readonly at: number | null
}

/**
 * Counts over several processes in memory that they share: each writes a column of its own and reads those of the others.
 *
 *     | column of seat 0 | column of seat 1 | …        column: | bucket 0: 8 × (mark, count) | bucket 1 | …
 *
 * So a column is cleared as a whole when its process has died. Never more than `max` are under way: a request is counted
 * first and then looked for in all columns, so of two that come for the last place at the same instant both are refused
 * rather than both let in. Eight thousand callers of a process may have requests under way at once; beyond, a bucket may be
 * full, and then the process limits a caller by itself.
 */
export class SharedInFlightLimiter implements InFlightLimiter {
  readonly #columns: Int32Array
  readonly #ownOffset: number
  readonly #hash: CallerHash
  readonly #entries = new Map<string, CallerEntry>()

  /** `memory`, all zeros at first, has `COLUMN_BYTES` for each seat. Nobody else writes the column of `seat`. */
  constructor(memory: Uint8Array, hash: CallerHash, seat: number) {
    this.#columns = new Int32Array(memory.buffer, memory.byteOffset, memory.byteLength / Int32Array.BYTES_PER_ELEMENT)
    this.#ownOffset = seat * COLUMN_WORDS
    this.#hash = hash
  }

  /** Counts one more request of the caller, unless `max` are under way: then it counts nothing and gives false. */
  tryAcquire(caller: string, max: number): boolean {
    const held = this.#entries.get(caller) ?? this.#createEntry(caller)
    this.#setCount(held, held.count + 1)
    if (held.count + this.#countElsewhere(held) <= max) return true
    this.release(caller)
    return false
  }

  /** Ends one request of the caller that has entered. */
  release(caller: string): void {
    const held = this.#entries.get(caller)
    assert(held !== undefined, "only a request that has entered leaves")
    this.#setCount(held, held.count - 1)
    if (held.count === 0) this.#entries.delete(caller)
  }

  /** How many callers have a request under way in this process. */
  get callersCount(): number {
    return this.#entries.size
  }

  #createEntry(caller: string): CallerEntry {
    const { mark, bucket } = this.#hash(caller)
    const offset = (bucket % BUCKETS) * BUCKET_WORDS
    const at = this.#freeEntry(this.#ownOffset + offset)
    if (at !== null) Atomics.store(this.#columns, at, mark)
    const held = { count: 0, bucket: offset, mark, at }
    this.#entries.set(caller, held)
    return held
  }

  #freeEntry(first: number): number | null {
    for (let at = first; at < first + BUCKET_WORDS; at += ENTRY_WORDS)
      if (Atomics.load(this.#columns, at + 1) === 0) return at
    return null
  }

  #setCount(held: CallerEntry, count: number): void {
    held.count = count
    if (held.at !== null) Atomics.store(this.#columns, held.at + 1, count)
  }

  /** How many requests of the caller the others have under way. */
  #countElsewhere({ bucket, mark }: CallerEntry): number {
    let sum = 0
    for (let column = 0; column < this.#columns.length; column += COLUMN_WORDS)
      if (column !== this.#ownOffset) sum += this.#countIn(column + bucket, mark)
    return sum
  }

  /** The count of the mark in a bucket. Entries are taken from the first on, so one that never was taken ends the search. */
  #countIn(first: number, mark: number): number {
    for (let at = first; at < first + BUCKET_WORDS; at += ENTRY_WORDS) {
      const held = Atomics.load(this.#columns, at)
      if (held === 0) return 0
      const count = held === mark ? Atomics.load(this.#columns, at + 1) : 0
      if (count > 0) return count
    }
    return 0
  }
}
