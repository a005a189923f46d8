import type { Subject } from "../check/address/subject.ts"

/** So many different inputs are told apart: some 200 MB. A million take 25 MB. */
export const DISTINCT_INPUTS_MAX = 12_000_000

/** An address in its canonical form, which is the `normalized_email` of the API; null: the input is no valid address. */
export const canonicalAddress = ({ kind, fault, normalized }: Subject): string | null =>
  kind === "email" && fault === null ? normalized : null

/** What is the same in two rows with the same input: the mailbox without its tag, or the domain; null: the row has no valid input. */
export const canonicalInput = ({ fault, mailbox, normalized, domain }: Subject): string | null =>
  fault === null ? (mailbox ?? normalized ?? domain) : null

/** The tables by the first byte of a hash: each grows alone, which takes a millisecond or two at most. */
const TABLES_COUNT = 256
/** A slot of a table: two halves of the hash, and the number of the row. 0: the slot is free. */
const SLOT_WORDS = 3
const SLOTS_AT_FIRST = 16
/** How full a table may be. */
const FULL_SHARE = 0.75

type HashTable = { words: Uint32Array; count: number }

const emptyTable = (slots: number): HashTable => ({ words: new Uint32Array(slots * SLOT_WORDS), count: 0 })

/**
 * Remembers which row had an input first, by hashes of 64 bits: of ten million inputs two share one with a probability of three in a million.
 * It holds no text.
 */
export class DuplicateTable {
  readonly #tables: readonly HashTable[] = Array.from({ length: TABLES_COUNT }, () => emptyTable(SLOTS_AT_FIRST))
  readonly #inputsMax: number
  #count = 0

  /** Whether an input was not remembered, so that duplicates of it are not told. */
  isFull = false

  constructor(inputsMax = DISTINCT_INPUTS_MAX) {
    this.#inputsMax = inputsMax
  }

  /** The first row with the same input as a row, which counts from one; null: it is the first that is known, or has no valid input. */
  firstOf(subject: Subject | null, row: number): number | null {
    const input = subject === null ? null : canonicalInput(subject)
    const first = input === null ? null : this.firstRow(input, row)
    // A row may be read again.
    return first === row ? null : first
  }

  /** The row that had the input before; null: none is known, and `row` has it from now on. */
  firstRow(input: string, row: number): number | null {
    const low = Bun.hash.xxHash32(input, 1)
    const high = Bun.hash.xxHash32(input, 2)
    const table = this.#tables[high >>> 24] ?? emptyTable(SLOTS_AT_FIRST)
    const at = slotOf(table.words, low, high)
    const first = table.words[at + 2] ?? 0
    if (first !== 0) return first
    if (this.#count >= this.#inputsMax) {
      this.isFull = true
      return null
    }
    write(table.words, at, low, high, row)
    table.count++
    this.#count++
    if (table.count * SLOT_WORDS > table.words.length * FULL_SHARE) grow(table)
    return null
  }
}

/** Where the slot of a hash begins, or the free one for it. A table always has free slots. */
function slotOf(words: Uint32Array, low: number, high: number): number {
  const slots = words.length / SLOT_WORDS // a power of two
  for (let slot = low & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
    const at = slot * SLOT_WORDS
    if (words[at + 2] === 0 || (words[at] === low && words[at + 1] === high)) return at
  }
}

function write(words: Uint32Array, at: number, low: number, high: number, row: number): void {
  words[at] = low
  words[at + 1] = high
  words[at + 2] = row
}

function grow(table: HashTable): void {
  const { words: before } = table
  const words = new Uint32Array(before.length * 2)
  for (let at = 0; at < before.length; at += SLOT_WORDS) {
    if (before[at + 2] === 0) continue
    const [low = 0, high = 0, row = 0] = [before[at], before[at + 1], before[at + 2]]
    write(words, slotOf(words, low, high), low, high, row)
  }
  table.words = words
}
