import { assert } from "./errors.ts"

/**
 * How many values a block has. Measured on evidence of 640 bytes: 70 bytes a value and 11 µs a hit, which leaves 5 kB of garbage. With 32
 * it would be 31 bytes, 18 µs and 20 kB. A higher level of compression saves nothing.
 */
const VALUES_PER_BLOCK = 8
const ZSTD_LEVEL = 1

const INITIAL_SLOTS = 1024

/**
 * A cache of many small JSON values in few bytes: those of alike values lie compressed in one block, at less than a tenth of the memory that
 * objects take, and outside of the garbage collector's heap. The oldest block is dropped when all of them take more than `bytesMax`.
 */
export class CompressedCache<V> {
  readonly #bytesMax: number
  /** The newest values as lines, which make no block yet. */
  readonly #newest = new Map<string, string>()
  /** Blocks by number. Those before `#firstBlock` were dropped. */
  readonly #blocks = new Map<number, Uint8Array>()
  #firstBlock = 1
  #nextBlock = 1
  #bytes = 0
  /** A hash table with open addressing, at most half full: the hash of a key and the number of its block; 0: free. */
  #hashes = new Uint32Array(INITIAL_SLOTS)
  #numbers = new Uint32Array(INITIAL_SLOTS)
  #used = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** About how many bytes the values take. */
  get bytes(): number {
    return this.#bytes
  }

  /** A copy of the cached value for the key, if any. */
  get(key: string): V | undefined {
    const line = this.#newest.get(key) ?? this.#lineInBlocks(key)
    return line === undefined ? undefined : JSON.parse(line.slice(key.length + 1)) // written by `set`
  }

  /** Caches the value, which JSON must be able to say. The key holds neither a tab nor a line break. */
  set(key: string, value: V): void {
    assert(!/[\t\n]/.test(key), "a key is one word or several")
    this.#newest.set(key, `${key}\t${JSON.stringify(value)}`)
    if (this.#newest.size >= VALUES_PER_BLOCK) this.#compressNewest()
  }

  #compressNewest(): void {
    const block = Bun.zstdCompressSync(`\n${[...this.#newest.values()].join("\n")}\n`, { level: ZSTD_LEVEL })
    this.#blocks.set(this.#nextBlock, block)
    this.#bytes += block.byteLength
    for (const key of this.#newest.keys()) this.#index(Bun.hash.xxHash32(key), this.#nextBlock)
    this.#nextBlock++
    this.#newest.clear()
    while (this.#bytes > this.#bytesMax) this.#dropOldest()
  }

  #dropOldest(): void {
    this.#bytes -= this.#blocks.get(this.#firstBlock)?.byteLength ?? 0
    this.#blocks.delete(this.#firstBlock++)
  }

  /** The line of the key in the newest block that has one. */
  #lineInBlocks(key: string): string | undefined {
    const hash = Bun.hash.xxHash32(key)
    let found: { readonly number: number; readonly line: string } | undefined
    for (let slot = this.#firstSlot(hash); this.#numbers[slot] !== 0; slot = this.#slotAfter(slot)) {
      const number = this.#numbers[slot] ?? 0
      if (this.#hashes[slot] !== hash || number <= (found?.number ?? 0)) continue
      const line = this.#lineInBlock(key, number)
      if (line !== undefined) found = { number, line }
    }
    return found?.line
  }

  #lineInBlock(key: string, number: number): string | undefined {
    const block = this.#blocks.get(number)
    if (block === undefined) return undefined
    const text = Bun.zstdDecompressSync(block)
    const start = text.indexOf(`\n${key}\t`) + 1
    return start === 0 ? undefined : text.toString("utf8", start, text.indexOf("\n", start))
  }

  #index(hash: number, number: number): void {
    if (2 * (this.#used + 1) > this.#numbers.length) this.#rebuild()
    let slot = this.#firstSlot(hash)
    while (this.#numbers[slot] !== 0) slot = this.#slotAfter(slot)
    this.#hashes[slot] = hash
    this.#numbers[slot] = number
    this.#used++
  }

  /** Forgets the keys of dropped blocks, and makes the table large enough for twice the others. */
  #rebuild(): void {
    const [hashes, numbers] = [this.#hashes, this.#numbers]
    const isKept = (number: number): boolean => number >= this.#firstBlock
    const kept = numbers.reduce((count, number) => count + (isKept(number) ? 1 : 0), 0)
    const length = Math.max(INITIAL_SLOTS, 2 ** Math.ceil(Math.log2(4 * (kept + 1))))
    this.#hashes = new Uint32Array(length)
    this.#numbers = new Uint32Array(length)
    this.#used = 0
    for (const [slot, number] of numbers.entries()) if (isKept(number)) this.#index(hashes[slot] ?? 0, number)
  }

  readonly #firstSlot = (hash: number): number => hash & (this.#numbers.length - 1)
  readonly #slotAfter = (slot: number): number => (slot + 1) & (this.#numbers.length - 1)
}
