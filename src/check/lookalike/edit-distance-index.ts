import { assert } from "../../base/errors.ts"
import { LIMITS } from "../../contract/limits.ts"

/** A factor of the hash: any odd number whose bits are well mixed. */
const HASH_FACTOR = 0x2c1b3c6d

/** Hashes of the beginnings of the text in hand: used anew by every call, so that none makes an array. */
const prefixHashes = new Int32Array(LIMITS.labelBytesMax + 1)

/**
 * Finds labels one slip away from a text without walking all of them: labels and text are hashed whole and with each
 * one letter left out, and one slip apart they share a hash. Layout: an open table of slots, each the upper half of a
 * hash and the place of its label plus one (0: free).
 */
export class EditDistanceIndex {
  readonly #slots: Uint32Array

  /** The place of a label is its number in this order, from 0. */
  constructor(labels: readonly string[]) {
    assert(labels.length < 0xffff, "a slot has room for the places of 65 534 labels")
    const hashCount = labels.reduce((sum, { length }) => sum + length + 1, 0)
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(hashCount * 2 + 1)))
    for (const [place, label] of labels.entries()) forEachDeletionHash(label, hash => this.#add(hash, place))
  }

  /**
   * The places of labels that may be one letter left out, added, replaced or moved away from the text, or the text
   * itself, in no order, each once. A place in many thousands is there by chance.
   */
  candidates(text: string): readonly number[] {
    let found = NO_CANDIDATES
    if (text.length > LIMITS.labelBytesMax) return found
    forEachDeletionHash(text, hash => {
      found = this.#collect(hash, found)
    })
    return found
  }

  #collect(hash: number, before: readonly number[]): readonly number[] {
    let found = before
    const last = this.#slots.length - 1
    for (let slot = hash & last; ; slot = (slot + 1) & last) {
      const held = this.#slots[slot] ?? 0
      if (held === 0) return found
      const place = (held & 0xffff) - 1
      if (held >>> 16 === hash >>> 16 && !found.includes(place)) found = [...found, place]
    }
  }

  #add(hash: number, place: number): void {
    const last = this.#slots.length - 1
    let slot = hash & last
    while (this.#slots[slot] !== 0) slot = (slot + 1) & last
    this.#slots[slot] = ((hash & 0xffff0000) | (place + 1)) >>> 0
  }
}

const NO_CANDIDATES: readonly number[] = []

/**
 * Hands over the hash of a text, then those of the text with each letter left out; of a run of equal letters one is
 * left out. The hash is a polynomial, so that each takes the same few steps, however long the text.
 */
function forEachDeletionHash(text: string, take: (hash: number) => void): void {
  let whole = 0
  for (let at = 0; at < text.length; at++) {
    prefixHashes[at] = whole
    whole = (Math.imul(whole, HASH_FACTOR) + text.charCodeAt(at)) | 0
  }
  take(mixHash(whole))
  let behind = 1
  let next = whole
  for (let at = text.length - 1; at >= 0; at--) {
    const head = prefixHashes[at] ?? 0
    if (text.charCodeAt(at) !== text.charCodeAt(at - 1)) take(mixHash((whole - Math.imul(next - head, behind)) | 0))
    next = head
    behind = Math.imul(behind, HASH_FACTOR)
  }
}

/** Spreads a hash over all its bits: short texts fill the lower ones only. */
function mixHash(hash: number): number {
  const folded = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
  return folded ^ (folded >>> 13)
}
