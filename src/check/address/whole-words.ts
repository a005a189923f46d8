import { HASH_START, isDigit, isSeparator, mixed, placeAmong } from "./word-hash.ts"

/** So many bits a word, of which it sets one: a name that is none is looked up in vain once in ten times or less. */
const BITS_A_WORD = 32
const BITS_MIN = 32

/**
 * Tells most names that are none of many words without looking them up: it reads a name once, and one bit of a table that
 * stays in the processor's cache. It may take a name for a word, never the other way.
 */
export class WholeWords {
  readonly #bits: Uint32Array
  readonly #bitsCount: number

  /** Words are in parts with `-`, `.` or `_` between. */
  constructor(words: ReadonlySet<string>) {
    this.#bitsCount = 2 ** Math.ceil(Math.log2(Math.max(BITS_MIN, words.size * BITS_A_WORD)))
    this.#bits = new Uint32Array(this.#bitsCount / 32)
    for (const word of words) {
      let hash = HASH_START
      for (let at = 0; at < word.length; at++) hash = mixed(hash, codeOf(word, at))
      const bit = placeAmong(hash, this.#bitsCount)
      this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << (bit & 31))
    }
  }

  /** False: the name is no word, neither as it is nor without its last one or two digits and a separator before them. */
  mayBe(name: string): boolean {
    // The hashes of the name up to one character, two and three before its end.
    let hash = HASH_START
    let before1 = hash
    let before2 = hash
    let before3 = hash
    for (let at = 0; at < name.length; at++) {
      before3 = before2
      before2 = before1
      before1 = hash
      hash = mixed(hash, codeOf(name, at))
    }
    if (this.#has(hash)) return true
    const { length } = name
    if (!isDigit(name.charCodeAt(length - 1))) return false
    if (!isDigit(name.charCodeAt(length - 2))) return this.#has(isSeparatorAt(name, length - 2) ? before2 : before1)
    return this.#has(isSeparatorAt(name, length - 3) ? before3 : before2)
  }

  #has(hash: number): boolean {
    const bit = placeAmong(hash, this.#bitsCount)
    return ((this.#bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0
  }
}

const isSeparatorAt = (name: string, at: number): boolean => isSeparator(name.charCodeAt(at))

/** Separators are all the same. */
function codeOf(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return isSeparator(code) ? 45 : code
}
