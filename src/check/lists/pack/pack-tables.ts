import { LISTING_RULE_NAMES } from "../listing-rules.ts"
import { SET_NAMES, SUFFIX_SETS_MASK } from "../sets.ts"
import type { Listing } from "./pack-contents.ts"
import * as format from "./pack-format.ts"
import {
  ANCHOR_BIT,
  BUCKET_ENTRY_BYTES,
  bucketIndex,
  CLASS_ENTRY_BYTES,
  CLASS_NUMBER_BYTES,
  decodeDay,
  FNV_OFFSET_BASIS,
  filterBitIndex,
  LISTING_ENTRY_BYTES,
  mixHash,
  prependToHash,
} from "./pack-format.ts"

const DOT = 46
const NON_ASCII = ~0x7f
const SETS_MASK = ANCHOR_BIT - 1
const SUFFIX_MASK = SUFFIX_SETS_MASK | ANCHOR_BIT
const ALL_MASK = SETS_MASK | ANCHOR_BIT

/** The character codes of the name in the current lookup. One array serves all lookups, since a lookup is synchronous. */
const queryCodes = new Uint8Array(format.PACK_NAME_LENGTH_MAX)

/**
 * The names of a pack, read in place. Only the table of lengths (3 KB) and the masks of the classes (2 bytes each) are
 * copied. A lookup returns the class of a name; `ClassTable` has the listings of a class.
 */
export class NameTable {
  readonly #bytes: Uint8Array
  /** For each name length: bucket count, offset of the buckets, offset of the rows. */
  readonly #lengths: Int32Array
  readonly #filter: Uint8Array
  readonly #filterShift: number
  /** For each class: the bits of its sets, and the anchor bit. */
  readonly #masks: Uint16Array

  /** `lengths` and `filter` are sections of the pack `bytes`; `masks` are those of its classes. */
  constructor(bytes: Uint8Array, lengths: Uint8Array, filter: Uint8Array, masks: Uint16Array) {
    this.#bytes = bytes
    this.#masks = masks
    this.#filter = filter
    // The number of bits is a power of two, so its leading zeros give its logarithm.
    this.#filterShift = Math.clz32(filter.length * 8) + 1
    const view = new DataView(lengths.buffer, lengths.byteOffset, lengths.byteLength)
    this.#lengths = new Int32Array((format.PACK_NAME_LENGTH_MAX + 1) * 3)
    for (let index = 0; index < format.PACK_NAME_LENGTH_MAX * 3; index++)
      this.#lengths[index + 3] = view.getUint32(index * 4, true)
  }

  /**
   * The most specific level of `domain` that is in a set, encoded in one number so that a lookup allocates nothing: the
   * mask of the sets (bits 0 to 14), whether a level is an anchor (bit 15), and the index at which the level starts (bits
   * 16 and up). Levels shorter than `nameLengthMin` match suffix sets only. 0: no match, or the domain is not ASCII. The
   * domain must not be longer than 253 characters.
   */
  deepestMatch(domain: string, nameLengthMin: number): number {
    const bytes = this.#bytes
    const lengths = this.#lengths
    const filter = this.#filter
    const shift = this.#filterShift
    const masks = this.#masks
    let hash = FNV_OFFSET_BASIS
    let allBits = 0
    let deepest = 0
    let anchors = 0
    for (let index = domain.length - 1; ; index--) {
      const char = index < 0 ? DOT : domain.charCodeAt(index)
      if (char === DOT) {
        const mix = mixHash(hash)
        const number = isFilteredOut(filter, mix, shift)
          ? -1
          : findClass(bytes, lengths, index + 1, domain.length - index - 1, mix)
        const mask = number < 0 ? 0 : classMask(masks, number, domain.length - index > nameLengthMin)
        anchors |= mask & ANCHOR_BIT
        deepest = deeperMatch(deepest, mask & SETS_MASK, index + 1)
      }
      if (index < 0) break
      allBits |= char
      hash = prependToHash(hash, char)
      queryCodes[index] = char
    }
    return (allBits & NON_ASCII) !== 0 ? 0 : deepest | anchors
  }

  /** The class of exactly `name`; -1 if it is not in the pack. */
  classOf(name: string): number {
    if (name.length > format.PACK_NAME_LENGTH_MAX || /[^\0-\x7f]/.test(name)) return -1
    for (let index = 0; index < name.length; index++) queryCodes[index] = name.charCodeAt(index)
    const mix = mixHash(format.hashName(name))
    if (isFilteredOut(this.#filter, mix, this.#filterShift)) return -1
    return findClass(this.#bytes, this.#lengths, 0, name.length, mix)
  }

  /** Every name with its class, shortest first. It reads the complete table, so no request may use it. */
  *[Symbol.iterator](): Generator<readonly [name: string, classNumber: number]> {
    const buffer = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength)
    for (let length = 1; length <= format.PACK_NAME_LENGTH_MAX; length++) {
      const [buckets = 0, bucketsAt = 0, rowsAt = 0] = this.#lengths.subarray(length * 3, length * 3 + 3)
      const rowCount = buckets === 0 ? 0 : readUint24(this.#bytes, bucketsAt + buckets * BUCKET_ENTRY_BYTES)
      const width = length + CLASS_NUMBER_BYTES
      for (let row = rowsAt; row < rowsAt + rowCount * width; row += width) {
        const name = buffer.toString("latin1", row, row + length)
        yield [name, readUint16(this.#bytes, row + length)]
      }
    }
  }
}

/** The class of the name in `queryCodes` that starts at `start` and has the mixed hash `mix`; -1 if it is not in the pack. */
function findClass(bytes: Uint8Array, lengths: Int32Array, start: number, length: number, mix: number): number {
  const buckets = lengths[length * 3] ?? 0
  if (buckets === 0) return -1
  const entry = (lengths[length * 3 + 1] ?? 0) + bucketIndex(mix, buckets) * BUCKET_ENTRY_BYTES
  const width = length + CLASS_NUMBER_BYTES
  const rowsAt = lengths[length * 3 + 2] ?? 0
  const end = rowsAt + readUint24(bytes, entry + BUCKET_ENTRY_BYTES) * width
  for (let row = rowsAt + readUint24(bytes, entry) * width; row < end; row += width) {
    let same = 0
    while (same < length && bytes[row + same] === queryCodes[start + same]) same++
    if (same === length) return readUint16(bytes, row + length)
  }
  return -1
}

/** Whether the filter proves that no name has this mixed hash. */
function isFilteredOut(filter: Uint8Array, mix: number, shift: number): boolean {
  const bit = filterBitIndex(mix, shift)
  return ((filter[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0
}

/** The bits of a class that apply at a level; none for class -1. */
const classMask = (masks: Uint16Array, number: number, isName: boolean): number =>
  number < 0 ? 0 : (masks[number] ?? 0) & (isName ? ALL_MASK : SUFFIX_MASK)

const deeperMatch = (before: number, mask: number, start: number): number =>
  mask === 0 ? before : mask | (start << 16)

/** The little-endian number of two bytes; bytes past the end read as 0. */
export const readUint16 = (bytes: Uint8Array, offset: number): number =>
  (bytes[offset] ?? 0) | ((bytes[offset + 1] ?? 0) << 8)
/** The little-endian number of three bytes; bytes past the end read as 0. */
export const readUint24 = (bytes: Uint8Array, offset: number): number =>
  readUint16(bytes, offset) | ((bytes[offset + 2] ?? 0) << 16)

/** The classes of a pack, by number. A number out of range has no sets and no listings. */
export class ClassTable {
  /** For each class: the bits of its sets, and the anchor bit. */
  readonly masks: Uint16Array
  readonly #classes: Uint8Array
  readonly #listings: Uint8Array
  readonly #sources: readonly string[]

  /** Reads the two sections in place; only the masks are copied. */
  constructor(classes: Uint8Array, listings: Uint8Array, sources: readonly string[]) {
    this.#classes = classes
    const view = new DataView(classes.buffer, classes.byteOffset, classes.byteLength)
    const count = Math.floor(classes.length / CLASS_ENTRY_BYTES)
    this.masks = Uint16Array.from({ length: count }, (_, number) => view.getUint16(number * CLASS_ENTRY_BYTES, true))
    this.#listings = listings
    this.#sources = sources
  }

  /** The listings of every name of this class. */
  listingsOf(number: number): readonly Listing[] {
    const offset = number * CLASS_ENTRY_BYTES
    if (number < 0 || offset + CLASS_ENTRY_BYTES > this.#classes.length) return []
    const view = new DataView(this.#classes.buffer, this.#classes.byteOffset + offset, CLASS_ENTRY_BYTES)
    const first = view.getUint32(4, true)
    const listings = Array.from({ length: view.getUint16(2, true) }, (_, index) => this.#listingAt(first + index))
    return listings.filter(listing => listing !== null)
  }

  #listingAt(index: number): Listing | null {
    const offset = index * LISTING_ENTRY_BYTES
    const [setNumber = -1, sourceNumber = -1, outcomeNumber = -1] = this.#listings.subarray(offset, offset + 3)
    const set = SET_NAMES[setNumber]
    const source = this.#sources[sourceNumber]
    const outcome = outcomeNumber === 0 ? "kept" : LISTING_RULE_NAMES[outcomeNumber - 1]
    if (set === undefined || source === undefined || outcome === undefined) return null
    const lastSeen = decodeDay(readUint16(this.#listings, offset + 5))
    const since = decodeDay(readUint16(this.#listings, offset + 3))
    return { set, source, outcome, since, ...(lastSeen === null ? {} : { lastSeen }) }
  }
}
