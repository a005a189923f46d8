import * as format from "./pack-format.ts"
import {
  ANCHOR_BIT,
  BUCKET_ENTRY_BYTES,
  bucketOf,
  CLASS_NUMBER_BYTES,
  filterBitOf,
  HASH_SEED,
  hashBefore,
  mixed,
} from "./pack-format.ts"
import { SUFFIX_SETS_MASK } from "./sets.ts"

const DOT = 46
const NON_ASCII = ~0x7f
const SETS_BITS = ANCHOR_BIT - 1
const SUFFIX_BITS = SUFFIX_SETS_MASK | ANCHOR_BIT
const ALL_BITS = SETS_BITS | ANCHOR_BIT

/** The codes of the name that is being looked up: read once, compared often. A lookup is never interrupted. */
const host = new Uint8Array(format.NAME_LENGTH_MAX)

/**
 * The names of a pack, read where they lie. Only the table of lengths (3 KB) and the masks of the classes (2 bytes
 * each) are copied. A name answers with its class; what sources say about a class is told by ClassTable.
 */
export class NameTable {
  readonly #bytes: Uint8Array
  /** For each name length: bucket count, offset of the buckets, offset of the rows. */
  readonly #lengths: Int32Array
  readonly #filter: Uint8Array
  readonly #filterShift: number
  /** For each class: the bits of its sets, and the anchor bit. */
  readonly #masks: Uint16Array

  /** Reads the names of the pack `bytes`, whose sections `lengths` and `filter` are given, with the masks of its classes. */
  constructor(bytes: Uint8Array, lengths: Uint8Array, filter: Uint8Array, masks: Uint16Array) {
    this.#bytes = bytes
    this.#masks = masks
    this.#filter = filter
    // The bits are a power of two: counting the leading zeros of their number gives its logarithm.
    this.#filterShift = Math.clz32(filter.length * 8) + 1
    const view = new DataView(lengths.buffer, lengths.byteOffset, lengths.byteLength)
    this.#lengths = new Int32Array((format.NAME_LENGTH_MAX + 1) * 3)
    for (let at = 0; at < format.NAME_LENGTH_MAX * 3; at++) this.#lengths[at + 3] = view.getUint32(at * 4, true)
  }

  /**
   * The deepest level of `domain` that a set holds, in one number that no lookup has to allocate: the mask of the sets
   * (bits 0 to 14), whether a parent is an anchor (bit 15), and where the level starts (from bit 16 on). Levels shorter
   * than `nameLengthMin` count for suffix sets only. 0: no set holds it, or it is not ASCII. At most 253 characters.
   */
  deepest(domain: string, nameLengthMin: number): number {
    const bytes = this.#bytes
    const lengths = this.#lengths
    const filter = this.#filter
    const shift = this.#filterShift
    const masks = this.#masks
    let hash = HASH_SEED
    let seen = 0
    let deepest = 0
    let anchors = 0
    for (let at = domain.length - 1; ; at--) {
      const char = at < 0 ? DOT : domain.charCodeAt(at)
      if (char === DOT) {
        const mix = mixed(hash)
        const number = isFiltered(filter, mix, shift)
          ? -1
          : classAt(bytes, lengths, at + 1, domain.length - at - 1, mix)
        const mask = number < 0 ? 0 : maskOf(masks, number, domain.length - at > nameLengthMin)
        anchors |= mask & ANCHOR_BIT
        deepest = deeper(deepest, mask & SETS_BITS, at + 1)
      }
      if (at < 0) break
      seen |= char
      hash = hashBefore(hash, char)
      host[at] = char
    }
    return (seen & NON_ASCII) !== 0 ? 0 : deepest | anchors
  }

  /** The class of exactly `name`; -1 when it is not there. */
  classOf(name: string): number {
    if (name.length > format.NAME_LENGTH_MAX || /[^\0-\x7f]/.test(name)) return -1
    for (let at = 0; at < name.length; at++) host[at] = name.charCodeAt(at)
    const mix = mixed(format.hashOf(name))
    if (isFiltered(this.#filter, mix, this.#filterShift)) return -1
    return classAt(this.#bytes, this.#lengths, 0, name.length, mix)
  }

  /** Every name with its class, shortest first. It reads the whole table: for lists and tests, not for a request. */
  *[Symbol.iterator](): Generator<readonly [name: string, classNumber: number]> {
    const buffer = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength)
    for (let length = 1; length <= format.NAME_LENGTH_MAX; length++) {
      const [buckets = 0, bucketsAt = 0, rowsAt = 0] = this.#lengths.subarray(length * 3, length * 3 + 3)
      const rowCount = buckets === 0 ? 0 : threeBytes(this.#bytes, bucketsAt + buckets * BUCKET_ENTRY_BYTES)
      const width = length + CLASS_NUMBER_BYTES
      for (let row = rowsAt; row < rowsAt + rowCount * width; row += width) {
        const name = buffer.toString("latin1", row, row + length)
        yield [name, twoBytes(this.#bytes, row + length)]
      }
    }
  }
}

/** The class of the `length` characters of `host` from `start` on, whose mixed hash is `mix`; -1 when they are no name. */
function classAt(bytes: Uint8Array, lengths: Int32Array, start: number, length: number, mix: number): number {
  const buckets = lengths[length * 3] ?? 0
  if (buckets === 0) return -1
  const entry = (lengths[length * 3 + 1] ?? 0) + bucketOf(mix, buckets) * BUCKET_ENTRY_BYTES
  const width = length + CLASS_NUMBER_BYTES
  const rowsAt = lengths[length * 3 + 2] ?? 0
  const end = rowsAt + threeBytes(bytes, entry + BUCKET_ENTRY_BYTES) * width
  for (let row = rowsAt + threeBytes(bytes, entry) * width; row < end; row += width) {
    let same = 0
    while (same < length && bytes[row + same] === host[start + same]) same++
    if (same === length) return twoBytes(bytes, row + length)
  }
  return -1
}

/** Whether the filter tells that no name has this mixed hash. */
function isFiltered(filter: Uint8Array, mix: number, shift: number): boolean {
  const bit = filterBitOf(mix, shift)
  return ((filter[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0
}

/** The bits of a class that count at a level; none for class -1. */
const maskOf = (masks: Uint16Array, number: number, isName: boolean): number =>
  number < 0 ? 0 : (masks[number] ?? 0) & (isName ? ALL_BITS : SUFFIX_BITS)

const deeper = (before: number, mask: number, start: number): number => (mask === 0 ? before : mask | (start << 16))

const twoBytes = (bytes: Uint8Array, at: number): number => (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)

const threeBytes = (bytes: Uint8Array, at: number): number => twoBytes(bytes, at) | ((bytes[at + 2] ?? 0) << 16)
