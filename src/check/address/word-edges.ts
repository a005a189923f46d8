import { HASH_START, isDigit, isSeparator, mixed, placeAmong } from "./word-hash.ts"

/** Slots of a filter, a power of two: with a thousand words one name in fifteen or so is looked at in vain. */
const SLOTS = 16_384

const STARTS = 1
const ENDS = 2

/**
 * Tells most names that hold no word at their edges without cutting them: three in four names are people's, and to look
 * their parts up takes 0.3 µs of a check that takes 2. It may take a name for one that holds a word, never the other way.
 */
export class WordEdges {
  readonly #slots = new Uint8Array(SLOTS)

  /** Words are in parts with `-`, `.` or `_` between. */
  constructor(words: Iterable<string>) {
    for (const word of words) {
      const starts = slotOf(startHash(word))
      const ends = slotOf(endHash(word))
      this.#slots[starts] = (this.#slots[starts] ?? 0) | STARTS
      this.#slots[ends] = (this.#slots[ends] ?? 0) | ENDS
    }
  }

  /** False: the first part of the name, with its last one or two digits or without, starts no word, and its last part ends none. */
  mayBeIn(name: string): boolean {
    return this.#mayStart(name) || this.#has(endHash(name), ENDS)
  }

  #mayStart(name: string): boolean {
    // The hashes of the part up to one character and two characters before.
    let hash = HASH_START
    let shorter = hash
    let shortest = hash
    let at = 0
    for (; at < name.length && !isSeparator(name.charCodeAt(at)); at++) {
      shortest = shorter
      shorter = hash
      hash = mixed(hash, name.charCodeAt(at))
    }
    if (this.#has(hash, STARTS)) return true
    if (!isDigit(name.charCodeAt(at - 1))) return false
    return this.#has(shorter, STARTS) || (isDigit(name.charCodeAt(at - 2)) && this.#has(shortest, STARTS))
  }

  #has(hash: number, edge: number): boolean {
    return ((this.#slots[slotOf(hash)] ?? 0) & edge) !== 0
  }
}

/** Of the first part, forwards. */
function startHash(name: string): number {
  let hash = HASH_START
  for (let at = 0; at < name.length && !isSeparator(name.charCodeAt(at)); at++) hash = mixed(hash, name.charCodeAt(at))
  return hash
}

/** Of the last part, backwards. */
function endHash(name: string): number {
  let hash = HASH_START
  for (let at = name.length - 1; at >= 0 && !isSeparator(name.charCodeAt(at)); at--)
    hash = mixed(hash, name.charCodeAt(at))
  return hash
}

const slotOf = (hash: number): number => placeAmong(hash, SLOTS)
