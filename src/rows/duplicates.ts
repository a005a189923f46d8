import type { Subject } from "../check/address/subject.ts"

/** Beyond so many different inputs no further one is remembered: the table has some 100 MB then. */
const ENTRIES_MAX = 4_194_304
/** A table of which more is taken is made twice as large. */
const FILLED_SHARE_MAX = 0.5
const SLOTS_FIRST = 1024

/**
 * Remembers which row had an input first, by a hash of 64 bits: of four million inputs two different ones are taken for the same once in two
 * million lists. A row takes some 24 to 48 bytes.
 */
export class DuplicateTable {
  /** The two halves of each hash, and the row, which counts from one; 0: the slot is free. */
  #slots = new Uint32Array(3 * SLOTS_FIRST)
  #count = 0

  /** Whether an input was not remembered, so that duplicates of it are not told. */
  isFull = false

  /** The row that had the input before; null: none is known, and `row` has it from now on. */
  firstRow(key: string, row: number): number | null {
    const hash = BigInt.asUintN(64, Bun.hash.xxHash64(key))
    const [high, low] = [Number(hash >> 32n), Number(hash & 0xffff_ffffn)]
    const at = this.#find(high, low)
    const first = this.#slots[at + 2] ?? 0
    if (first > 0) return first
    if (this.#count >= ENTRIES_MAX) this.isFull = true
    else this.#put(at, high, low, row)
    return null
  }

  /** The slot of a hash, or the free one for it. */
  #find(high: number, low: number): number {
    const mask = this.#slots.length / 3 - 1
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const at = 3 * slot
      const isFree = this.#slots[at + 2] === 0
      if (isFree || (this.#slots[at] === high && this.#slots[at + 1] === low)) return at
    }
  }

  #put(at: number, high: number, low: number, row: number): void {
    this.#slots.set([high, low, row], at)
    this.#count++
    if (this.#count > (this.#slots.length / 3) * FILLED_SHARE_MAX) this.#grow()
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Uint32Array(2 * before.length)
    for (let at = 0; at < before.length; at += 3)
      if (before[at + 2] !== 0)
        this.#slots.set(before.subarray(at, at + 3), this.#find(before[at] ?? 0, before[at + 1] ?? 0))
  }
}

/** What is the same in two rows with the same input: the mailbox without its tag, or the domain; null: the row has no valid input. */
export const canonicalInput = ({ fault, mailbox, normalized, domain }: Subject): string | null =>
  fault === null ? (mailbox ?? normalized ?? domain) : null
