import { assert } from "../../../base/errors.ts"
import type { CallerHash } from "../caller-hash.ts"
import type { InFlightLimiter } from "./in-flight-limiter.ts"

/** An entry of a column is a fingerprint and a count, two words. A bucket fills one cache line of the processor. */
const ENTRY_WORDS = 2
const BUCKET_WORDS = 8 * ENTRY_WORDS
const BUCKETS = 1024
const COLUMN_WORDS = BUCKETS * BUCKET_WORDS

/** The size of the column of one process, in bytes. */
export const COLUMN_BYTES = COLUMN_WORDS * Int32Array.BYTES_PER_ELEMENT

/** The caller's entry in this process. */
type CallerEntry = {
  count: number
  /** The offset of the caller's bucket in a column. */
  readonly bucketOffset: number
  readonly fingerprint: number
  /** The index at which other processes read the count; null: the bucket is full, and they do not see it. */
  readonly index: number | null
}

/**
 * Counts over several processes in shared memory: each writes a column of its own and reads those of the others.
 *
 *     | column of slot 0 | column of slot 1 | …        column: | bucket 0: 8 × (fingerprint, count) | bucket 1 | …
 *
 * The column of a process that has died is cleared at once. A request is counted first and then summed over all columns, so there are
 * never more than `max`: of two requests that compete for the last place at one instant, both are refused rather than both admitted.
 * Eight thousand callers of a process can have requests in flight. Beyond that a bucket may be full; then the process limits a caller
 * by its own count.
 */
export class SharedInFlightLimiter implements InFlightLimiter {
  readonly #columns: Int32Array
  readonly #ownOffset: number
  readonly #hash: CallerHash
  readonly #entries = new Map<string, CallerEntry>()

  /** `memory` starts as zeros and has `COLUMN_BYTES` for each slot. Only this process writes the column of `slot`. */
  constructor(memory: Uint8Array, hash: CallerHash, slot: number) {
    this.#columns = new Int32Array(memory.buffer, memory.byteOffset, memory.byteLength / Int32Array.BYTES_PER_ELEMENT)
    this.#ownOffset = slot * COLUMN_WORDS
    this.#hash = hash
  }

  /** Adds a request of the caller. False, and nothing is added, when `max` are in flight already. */
  tryAcquire(caller: string, max: number): boolean {
    const entry = this.#entries.get(caller) ?? this.#createEntry(caller)
    this.#setCount(entry, entry.count + 1)
    if (entry.count + this.#countElsewhere(entry) <= max) return true
    this.release(caller)
    return false
  }

  /** Ends a request for which `tryAcquire` was true. */
  release(caller: string): void {
    const entry = this.#entries.get(caller)
    assert(entry !== undefined, "only an acquired request is released")
    this.#setCount(entry, entry.count - 1)
    if (entry.count === 0) this.#entries.delete(caller)
  }

  /** How many callers have a request in flight in this process. */
  get callersCount(): number {
    return this.#entries.size
  }

  #createEntry(caller: string): CallerEntry {
    const { fingerprint, bucket } = this.#hash(caller)
    const bucketOffset = (bucket % BUCKETS) * BUCKET_WORDS
    const index = this.#freeEntry(this.#ownOffset + bucketOffset)
    if (index !== null) Atomics.store(this.#columns, index, fingerprint)
    const entry = { count: 0, bucketOffset, fingerprint, index }
    this.#entries.set(caller, entry)
    return entry
  }

  #freeEntry(first: number): number | null {
    for (let index = first; index < first + BUCKET_WORDS; index += ENTRY_WORDS)
      if (Atomics.load(this.#columns, index + 1) === 0) return index
    return null
  }

  #setCount(entry: CallerEntry, count: number): void {
    entry.count = count
    if (entry.index !== null) Atomics.store(this.#columns, entry.index + 1, count)
  }

  /** How many requests of the caller are in flight in other processes. */
  #countElsewhere({ bucketOffset, fingerprint }: CallerEntry): number {
    let sum = 0
    for (let column = 0; column < this.#columns.length; column += COLUMN_WORDS)
      if (column !== this.#ownOffset) sum += this.#countIn(column + bucketOffset, fingerprint)
    return sum
  }

  /** The count of the fingerprint in a bucket. Entries are filled from the first on, so an unused one ends the search. */
  #countIn(first: number, fingerprint: number): number {
    for (let index = first; index < first + BUCKET_WORDS; index += ENTRY_WORDS) {
      const stored = Atomics.load(this.#columns, index)
      if (stored === 0) return 0
      const count = stored === fingerprint ? Atomics.load(this.#columns, index + 1) : 0
      if (count > 0) return count
    }
    return 0
  }
}
