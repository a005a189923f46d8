import { secureRandom } from "../base/outside-world.ts"
import { A_SUITE, canonicalEmail } from "../check/address/canonical-email.ts"
import type { Subject } from "../check/address/subject.ts"
import { mailOperatorOf } from "../check/result/result.ts"
import type { RowOutcome } from "./row-checker.ts"

/** So many different inputs are told apart at most. One with a tag counts as two. */
export const DISTINCT_INPUTS_MAX = 12_000_000

/** An input takes 16 to 32 bytes. */
const INPUT_BYTES = 24

/** How many different inputs are told apart in so much memory, and at most. */
export const distinctInputsWithin = (bytes: number, inputsMax = DISTINCT_INPUTS_MAX): number =>
  Math.min(inputsMax, Math.floor(bytes / INPUT_BYTES))

/** The part of the memory of the machine or the control group that a command may take for it: 2.8 million inputs of 256 MiB. */
const COMMAND_SHARE = 1 / 4

/** The table of a command. */
export const commandDuplicates = ({ limitBytes }: { readonly limitBytes: () => number }): DuplicateTable =>
  new DuplicateTable(distinctInputsWithin(limitBytes() * COMMAND_SHARE))

/**
 * What is the same in two rows of the same mailbox or domain. `own`: as long as no suite is known to run the domain's mail; null: the row has no
 * valid input. `behindTag`: what else it would be the same with if one were; null: nothing.
 */
export function duplicateKeys(subject: Subject): { readonly own: string | null; readonly behindTag: string | null } {
  const { fault, mailbox, tagged, domain } = subject
  if (fault !== null) return { own: null, behindTag: null }
  const own = canonicalEmail(subject, null) ?? tagged ?? mailbox ?? domain
  const behindTag = tagged !== null && canonicalEmail(subject, A_SUITE) !== own ? mailbox : null
  return { own, behindTag }
}

const isSuite = (operatedBy: string | null): boolean => operatedBy === A_SUITE || operatedBy === "suite_b"

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
 * Each table has a secret seed, since without one anybody can make an address that counts as a duplicate of another, or thousands that share a
 * slot. It holds no text.
 */
export class DuplicateTable {
  readonly #tables: readonly HashTable[] = Array.from({ length: TABLES_COUNT }, () => emptyTable(SLOTS_AT_FIRST))
  readonly #inputsMax: number
  readonly #seed = new DataView(secureRandom(8).buffer).getBigUint64(0)
  #count = 0

  /** Whether an input was not remembered, so that duplicates of it are not told. */
  isFull = false

  constructor(inputsMax = DISTINCT_INPUTS_MAX) {
    this.#inputsMax = inputsMax
  }

  /**
   * The first row with the same mailbox or domain as a row, which counts from one; null: it is the first that is known, or has no valid input.
   * `operatedBy`: who is known to run the mail of its domain. What is remembered of a row does not depend on that, so a row that is only read
   * again is remembered as one that is checked.
   */
  firstOf(subject: Subject | null, operatedBy: string | null, row: number): number | null {
    const { own, behindTag } = subject === null ? NO_KEYS : duplicateKeys(subject)
    if (own === null) return null
    const known = [this.firstRow(own, row)]
    if (behindTag !== null) {
      const first = this.firstRow(TAG_OFF + behindTag, row)
      if (isSuite(operatedBy)) known.push(first, this.#find(behindTag))
    } else if (isSuite(operatedBy)) known.push(this.#find(TAG_OFF + own))
    const first = known.reduce(
      (least, each) => (each !== null && (least === null || each < least) ? each : least),
      null,
    )
    // A row may be read again.
    return first === null || first >= row ? null : first
  }

  /** The row that had the input; null: none is known. */
  #find(input: string): number | null {
    const [low, high] = hashesOf(input, this.#seed)
    const { words } = this.#tableOf(high)
    return words[slotOf(words, low, high) + 2] || null
  }

  #tableOf(high: number): HashTable {
    return this.#tables[high >>> 24] ?? emptyTable(SLOTS_AT_FIRST)
  }

  /** The row that had the input before; null: none is known, and `row` has it from now on. */
  firstRow(input: string, row: number): number | null {
    const [low, high] = hashesOf(input, this.#seed)
    const table = this.#tableOf(high)
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

/** The same for a row that was checked. Null too: duplicates are not told, or the row has no input. */
export const firstOfOutcome = (table: DuplicateTable | null, outcome: RowOutcome, row: number): number | null =>
  table === null || outcome === null ? null : table.firstOf(outcome.subject, mailOperatorOf(outcome.judged), row)

const NO_KEYS = { own: null, behindTag: null } as const
/** Stands before the address without its tag of a row that has one: no address begins so. */
const TAG_OFF = "\0"

/** The halves of one hash: two hashes of 32 bits with different seeds are often the same together, where inputs are short. */
function hashesOf(input: string, seed: bigint): readonly [low: number, high: number] {
  const hash = Bun.hash.wyhash(input, seed)
  return [Number(BigInt.asUintN(32, hash)), Number(hash >> 32n)]
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
