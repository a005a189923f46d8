import { assert } from "./errors.ts"

/**
 * How many values a block has. Measured on evidence of 480 bytes, with the hash table: 42 bytes a value and 10 µs a hit. With 8 it would be
 * 63 bytes and 9 µs, with 32 it would be 31 bytes and 12 µs. A higher level of compression saves nothing.
 */
const VALUES_PER_BLOCK = 16
const ZSTD_LEVEL = 1
/** A block of longer values has fewer, since who reads one of them unpacks all. */
const BLOCK_CHARS_MAX = 32_768

/** Blocks lie on pages, since an array of its own for each would take as much again as the block. A longer block has a page of its own. */
const PAGE_BYTES = 65_536
/** Where a block begins is counted in so many bytes over all pages, dropped ones too, so that 32 bits suffice for 64 GiB. */
const STEP_BYTES = 16
/** The length of a block stands before it. */
const LENGTH_BYTES = 4
const STEPS_MAX = 2 ** 32

/** The hash table has room for so many keys at first, and is three quarters full at most. */
const INITIAL_SLOTS = 1024
const SLOTS_SHARE_MAX = 0.75
/** How full it is at most when it was built again without growing. */
const SLOTS_SHARE_REBUILT = 0.7
const SLOT_BYTES = 8

/** `firstStep`: where it begins. `keys`: how many keys have their value in its blocks. */
type Page = { readonly firstStep: number; readonly bytes: Buffer<ArrayBuffer>; usedBytes: number; keys: number }

/**
 * A cache of many small JSON values in few bytes: those of alike values lie compressed in one block, at less than a tenth of the memory that
 * objects take, and outside of the garbage collector's heap. The oldest page of blocks is dropped when pages and hash table take more than
 * `bytesMax`. A value that is read from the older half of the pages, when these are many, goes to the newest. Of two keys with one hash it
 * has the value of the one that was cached last.
 */
export class CompressedCache<V> {
  readonly #bytesMax: number
  readonly #stepsMax: number
  /** The newest values as lines, which make no block yet. */
  readonly #newest = new Map<string, string>()
  #newestChars = 0
  /** The oldest first. */
  #pages: Page[] = []
  #pagesBytes = 0
  /** A hash table with open addressing: the hash of a key and the step where its block begins; 0: free. */
  #hashes = new Uint32Array(INITIAL_SLOTS)
  #steps = new Uint32Array(INITIAL_SLOTS)
  #used = 0

  /** When it has written `stepsMax`, it forgets everything. */
  constructor(bytesMax: number, stepsMax = STEPS_MAX) {
    this.#bytesMax = bytesMax
    this.#stepsMax = stepsMax
  }

  /** How many bytes the pages and the hash table take. */
  get bytes(): number {
    return this.#pagesBytes + this.#hashes.byteLength + this.#steps.byteLength
  }

  /** A copy of the cached value for the key, if any. */
  get(key: string): V | undefined {
    const line = this.#newest.get(key) ?? this.#lineInBlocks(key)
    return line === undefined ? undefined : JSON.parse(line.slice(key.length + 1)) // written by `set`
  }

  #add(key: string, line: string): void {
    this.#newest.set(key, line)
    this.#newestChars += line.length
    if (this.#newest.size >= VALUES_PER_BLOCK || this.#newestChars >= BLOCK_CHARS_MAX) this.#compressNewest()
  }

  /** Caches the value, which JSON must be able to say. The key holds neither a tab nor a line break. */
  set(key: string, value: V): void {
    assert(!/[\t\n]/.test(key), "a key is one word or several")
    this.#add(key, `${key}\t${JSON.stringify(value)}`)
  }

  #compressNewest(): void {
    const block = Bun.zstdCompressSync(`\n${[...this.#newest.values()].join("\n")}\n`, { level: ZSTD_LEVEL })
    const step = this.#append(block, this.#newest.size)
    for (const key of this.#newest.keys()) this.#index(Bun.hash.xxHash32(key), step)
    this.#newest.clear()
    this.#newestChars = 0
    while (this.bytes > this.#bytesMax && this.#pages.length > 1) this.#dropOldest()
  }

  /** Copies the block onto the last page, and gives the step where it begins. */
  #append(block: Uint8Array, keys: number): number {
    const takenBytes = Math.ceil((LENGTH_BYTES + block.byteLength) / STEP_BYTES) * STEP_BYTES
    const last = this.#pages.at(-1)
    const page =
      last !== undefined && last.usedBytes + takenBytes <= last.bytes.length ? last : this.#addPage(takenBytes)
    const step = page.firstStep + page.usedBytes / STEP_BYTES
    page.bytes.writeUInt32LE(block.byteLength, page.usedBytes)
    page.bytes.set(block, page.usedBytes + LENGTH_BYTES)
    page.usedBytes += takenBytes
    page.keys += keys
    return step
  }

  #addPage(bytesMin: number): Page {
    const bytes = Buffer.alloc(Math.max(PAGE_BYTES, bytesMin))
    const last = this.#pages.at(-1)
    // No block begins at step 0, which stands for a free slot.
    let firstStep = last === undefined ? 1 : last.firstStep + last.bytes.length / STEP_BYTES
    if (firstStep + bytes.length / STEP_BYTES >= this.#stepsMax) {
      this.#forgetAll()
      firstStep = 1
    }
    const page = { firstStep, bytes, usedBytes: 0, keys: 0 }
    this.#pages.push(page)
    this.#pagesBytes += page.bytes.length
    return page
  }

  #forgetAll(): void {
    this.#pages = []
    this.#pagesBytes = 0
    this.#hashes = new Uint32Array(INITIAL_SLOTS)
    this.#steps = new Uint32Array(INITIAL_SLOTS)
    this.#used = 0
  }

  #dropOldest(): void {
    this.#pagesBytes -= this.#pages.shift()?.bytes.length ?? 0
  }

  #lineInBlocks(key: string): string | undefined {
    const step = this.#steps[this.#slotOf(Bun.hash.xxHash32(key))] ?? 0
    const line = step === 0 ? undefined : this.#lineInBlock(key, step)
    if (line !== undefined && this.#isOld(step)) this.#add(key, line)
    return line
  }

  /** Whether the value is in the half of the pages that is dropped first, and pages are dropped soon. */
  #isOld(step: number): boolean {
    const middle = this.#pages[this.#pages.length >> 1]
    return this.bytes > this.#bytesMax / 2 && middle !== undefined && step < middle.firstStep
  }

  #lineInBlock(key: string, step: number): string | undefined {
    const block = this.#blockAt(step)
    if (block === undefined) return undefined
    const text = Bun.zstdDecompressSync(block)
    const start = text.indexOf(`\n${key}\t`) + 1
    return start === 0 ? undefined : text.toString("utf8", start, text.indexOf("\n", start))
  }

  /** The block that begins at the step; undefined: its page was dropped. */
  #blockAt(step: number): Uint8Array<ArrayBuffer> | undefined {
    const page = this.#pageOf(step)
    if (page === undefined) return undefined
    const at = (step - page.firstStep) * STEP_BYTES
    const start = at + LENGTH_BYTES
    return page.bytes.subarray(start, start + page.bytes.readUInt32LE(at))
  }

  #pageOf(step: number): Page | undefined {
    return this.#pages.findLast(({ firstStep }) => firstStep <= step)
  }

  /** A hash has one slot, so that a key that is cached again and again costs no more than any other. */
  #index(hash: number, step: number): void {
    if (this.#used + 1 > SLOTS_SHARE_MAX * this.#steps.length) this.#rebuild()
    const slot = this.#slotOf(hash)
    const before = this.#steps[slot] ?? 0
    if (before === 0) this.#used++
    else {
      const page = this.#pageOf(before)
      if (page !== undefined) page.keys--
    }
    this.#hashes[slot] = hash
    this.#steps[slot] = step
  }

  /** Forgets the keys of dropped pages, and makes room for others. */
  #rebuild(): void {
    const [hashes, steps] = [this.#hashes, this.#steps]
    const length = this.#slotsForMore()
    const firstStep = this.#pages[0]?.firstStep ?? 1
    this.#hashes = new Uint32Array(length)
    this.#steps = new Uint32Array(length)
    this.#used = 0
    // An iterator over the slots would leave an array for each of a million behind.
    for (let slot = 0; slot < steps.length; slot++) {
      const step = steps[slot] ?? 0
      if (step >= firstStep) this.#index(hashes[slot] ?? 0, step)
    }
  }

  /** Twice as many slots as keys, or as many as now: where a larger table would displace a page, the oldest page makes room for keys. */
  #slotsForMore(): number {
    const now = this.#steps.length
    const doubled = Math.max(INITIAL_SLOTS, 2 ** Math.ceil(Math.log2(2 * (this.#keptKeys() + 1))))
    if (this.#pagesBytes + SLOT_BYTES * doubled <= this.#bytesMax) return doubled
    while (this.#keptKeys() > SLOTS_SHARE_REBUILT * now && this.#pages.length > 1) this.#dropOldest()
    return this.#keptKeys() > SLOTS_SHARE_REBUILT * now ? doubled : now
  }

  /** How many keys have their value on a page. */
  #keptKeys(): number {
    return this.#pages.reduce((keys, page) => keys + page.keys, 0)
  }

  /** The slot of the hash, or the free one for it. */
  #slotOf(hash: number): number {
    const last = this.#steps.length - 1
    let slot = hash & last
    while (this.#steps[slot] !== 0 && this.#hashes[slot] !== hash) slot = (slot + 1) & last
    return slot
  }
}
