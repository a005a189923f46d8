/** Bits for each hash: of those that were not added at most one in eight passes. */
const BITS_PER_HASH = 8

/** A Bloom filter of 32-bit hashes. It fits the processor's cache, and rules out nearly all hashes that are in no table. */
export class HashFilter {
  /** Signed: what may be more than an integer of 31 bits is a floating-point number to the runtime, which compiles its readers anew. */
  readonly #words: Int32Array

  constructor(hashesMax: number) {
    const bits = Math.max(32, hashesMax * BITS_PER_HASH)
    this.#words = new Int32Array(2 ** Math.ceil(Math.log2(bits / 32)))
  }

  add(hash: number): void {
    const word = this.#wordOf(hash)
    this.#words[word] = (this.#words[word] ?? 0) | bitOf(hash)
  }

  /** False: the hash was not added. */
  mayHave(hash: number): boolean {
    return ((this.#words[this.#wordOf(hash)] ?? 0) & bitOf(hash)) !== 0
  }

  #wordOf(hash: number): number {
    return (hash >>> 8) & (this.#words.length - 1)
  }
}

/** The upper bits of a hash say which bit of a word it has. */
const bitOf = (hash: number): number => 1 << (hash >>> 27)
