import { assert } from "../../base/errors.ts"
import { HashFilter } from "../../base/hash-filter.ts"
import { LIMITS } from "../../contract/limits.ts"

/** The base of the polynomial hash: any odd number whose bits are well mixed. */
const HASH_FACTOR = 0x2c1b3c6d

/** Hashes of the prefixes of the current text, and those of `deletionHashes`. The arrays are reused by all calls, so that none allocates. */
const prefixHashes = new Int32Array(LIMITS.labelBytesMax + 1)
const hashes = new Int32Array(LIMITS.labelBytesMax + 1)
/** Whose hashes they are: several indexes are asked for the same label in turn. */
let hashedText: string | null = null
let hashedCount = 0

/**
 * Finds labels within one edit of a text without comparing all of them (symmetric deletion): labels and text are hashed
 * as they are and with each single letter deleted; two texts one edit apart share a hash. A hash table with open
 * addressing; a slot holds the upper half of a hash and the index of its label plus one, 0 if it is free.
 */
export class EditDistanceIndex {
  readonly #slots: Int32Array
  readonly #filter: HashFilter

  constructor(labels: readonly string[]) {
    assert(labels.length < 0xffff, "a slot has room for the indexes of 65 534 labels")
    const hashCount = labels.reduce((sum, { length }) => sum + length + 1, 0)
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(hashCount * 2 + 1)))
    this.#filter = new HashFilter(hashCount)
    for (const [index, label] of labels.entries()) {
      const count = deletionHashes(label)
      for (let at = 0; at < count; at++) this.#add(hashes[at] ?? 0, index)
    }
  }

  /**
   * The indexes of labels that may be within one deletion, insertion, substitution or move of the text, in no particular
   * order, without duplicates. One result in many thousands is a hash collision.
   */
  candidates(text: string): readonly number[] {
    let candidates = NO_CANDIDATES
    if (text.length > LIMITS.labelBytesMax) return candidates
    const count = deletionHashes(text)
    for (let at = 0; at < count; at++) {
      const hash = hashes[at] ?? 0
      if (this.#filter.mayHave(hash)) candidates = this.#collect(hash, candidates)
    }
    return candidates
  }

  #collect(hash: number, before: readonly number[]): readonly number[] {
    let candidates = before
    const last = this.#slots.length - 1
    for (let slot = hash & last; ; slot = (slot + 1) & last) {
      const entry = this.#slots[slot] ?? 0
      if (entry === 0) return candidates
      const index = (entry & 0xffff) - 1
      if (entry >>> 16 === hash >>> 16 && !candidates.includes(index)) candidates = [...candidates, index]
    }
  }

  #add(hash: number, index: number): void {
    const last = this.#slots.length - 1
    let slot = hash & last
    while (this.#slots[slot] !== 0) slot = (slot + 1) & last
    this.#slots[slot] = (hash & 0xffff0000) | (index + 1)
    this.#filter.add(hash)
  }
}

const NO_CANDIDATES: readonly number[] = []

/**
 * Writes into `hashes` the hash of a text, then the hashes of the text without each letter; of a run of equal letters one
 * is deleted. Returns how many they are. The hash is a polynomial, so each deletion takes constant time.
 */
function deletionHashes(text: string): number {
  if (text === hashedText) return hashedCount
  let complete = 0
  for (let index = 0; index < text.length; index++) {
    prefixHashes[index] = complete
    complete = (Math.imul(complete, HASH_FACTOR) + text.charCodeAt(index)) | 0
  }
  hashes[0] = mixHash(complete)
  let count = 1
  let factor = 1
  let next = complete
  for (let index = text.length - 1; index >= 0; index--) {
    const prefix = prefixHashes[index] ?? 0
    const isRunStart = index === 0 || text.charCodeAt(index) !== text.charCodeAt(index - 1)
    if (isRunStart) hashes[count++] = mixHash((complete - Math.imul(next - prefix, factor)) | 0)
    next = prefix
    factor = Math.imul(factor, HASH_FACTOR)
  }
  hashedText = text
  hashedCount = count
  return count
}

/** Mixes the bits of a hash: short texts use only the lower ones. */
function mixHash(hash: number): number {
  const folded = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
  return folded ^ (folded >>> 13)
}
