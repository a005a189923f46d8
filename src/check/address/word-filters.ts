/** Each word sets one bit. With 64 bits a word, at most one name in twenty that is not a word passes the filter. */
const BITS_PER_WORD = 64
const BITS_MIN = 32

/**
 * A Bloom filter with one hash for complete words. It rejects most names that are not words by reading the name once and
 * one bit of a table that fits the processor's cache. It has false positives, but no false negatives.
 */
export class WordFilter {
  readonly #bits: Uint32Array
  readonly #bitCount: number

  /** The parts of a word are separated by `-`, `.` or `_`. */
  constructor(words: ReadonlySet<string>) {
    this.#bitCount = 2 ** Math.ceil(Math.log2(Math.max(BITS_MIN, words.size * BITS_PER_WORD)))
    this.#bits = new Uint32Array(this.#bitCount / 32)
    for (const word of words) {
      let hash = FNV_OFFSET_BASIS
      for (let index = 0; index < word.length; index++) hash = fnv1aStep(hash, normalizedCode(word, index))
      const bit = slotIndex(hash, this.#bitCount)
      this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << (bit & 31))
    }
  }

  /** False: the name is not a word, neither as it is nor without one or two trailing digits and a separator before them. */
  mayContain(name: string): boolean {
    // The hashes of the name without its last one, two and three characters.
    let hash = FNV_OFFSET_BASIS
    let before1 = hash
    let before2 = hash
    let before3 = hash
    for (let index = 0; index < name.length; index++) {
      before3 = before2
      before2 = before1
      before1 = hash
      hash = fnv1aStep(hash, normalizedCode(name, index))
    }
    if (this.#has(hash)) return true
    const { length } = name
    if (!isDigitCode(name.charCodeAt(length - 1))) return false
    if (!isDigitCode(name.charCodeAt(length - 2)))
      return this.#has(hasSeparatorAt(name, length - 2) ? before2 : before1)
    return this.#has(hasSeparatorAt(name, length - 3) ? before3 : before2)
  }

  #has(hash: number): boolean {
    const bit = slotIndex(hash, this.#bitCount)
    return ((this.#bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0
  }
}

const hasSeparatorAt = (name: string, index: number): boolean => isSeparatorCode(name.charCodeAt(index))

/** The code unit, with `-` for every separator. */
function normalizedCode(text: string, index: number): number {
  const code = text.charCodeAt(index)
  return isSeparatorCode(code) ? 45 : code
}

/** The hash of the empty text. */
const FNV_OFFSET_BASIS: number = 0x811c9dc5 | 0

/** Extends a hash by one code unit (FNV-1a). */
const fnv1aStep = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193)

/** Maps a hash to one of `slotCount` slots, a power of two. */
const slotIndex = (hash: number, slotCount: number): number => (hash ^ (hash >>> 15)) & (slotCount - 1)

/** Whether the code unit separates the parts of a word: `-`, `.` or `_`. */
const isSeparatorCode = (code: number): boolean => code === 45 || code === 46 || code === 95

const isDigitCode = (code: number): boolean => code >= 48 && code <= 57

/** A power of two. With a thousand words about one name in fifteen without a word passes the filter. */
const SLOT_COUNT = 32_768
const STARTS_A_WORD = 1
const ENDS_A_WORD = 2
/** The first or last letters of names: what every name has several of, so a second slot confirms it. */
const STARTS_A_NAME = 4
const ENDS_A_NAME = 8
const BEFORE_A_ROLE = 16
const AFTER_A_ROLE = 32
const CONFIRMS_A_START = 64
const CONFIRMS_AN_END = 128

/** Bits of `AffixFilter.edgesOf`: a word may be at an edge of the name, or a role word beside or joined with another. */
export const MAY_HAVE_WORD = 1
export const MAY_HAVE_ROLE = 2

/** A word that is joined with another has at least so many letters. */
const JOINED_LETTERS_MIN = 4

/** The words of an `AffixFilter`. The parts of a word are separated by `-`, `.` or `_`. */
export type AffixWords = {
  /** Words at the start or the end of a name. */
  readonly words: Iterable<string>
  /** Words of one part that stand before or after a role word, with a separator. */
  readonly besideRoles: Iterable<string>
  /** Words of four letters or more that stand before or after another without a separator. */
  readonly joinable: Iterable<string>
}

/**
 * A Bloom filter for words at the start or the end of a name. It rejects most names without splitting them: three in four
 * are names of people, and looking up their parts takes 0.3 µs of a check that takes 2 µs. It has false positives, but
 * no false negatives.
 */
export class AffixFilter {
  readonly #slots = new Uint8Array(SLOT_COUNT)

  constructor({ words, besideRoles, joinable }: AffixWords) {
    for (const word of words) {
      this.#add(firstPartHash(word), STARTS_A_WORD)
      this.#add(lastPartHash(word), ENDS_A_WORD)
    }
    for (const word of joinable) this.#addTwice(word, STARTS_A_NAME, ENDS_A_NAME)
    for (const word of besideRoles) this.#addTwice(word, BEFORE_A_ROLE, AFTER_A_ROLE)
  }

  /**
   * Bits that say what the edges of a name may be. `MAY_HAVE_WORD` is missing: no word starts with the first part of the
   * name, with or without one or two trailing digits, and no word ends with its last part. `MAY_HAVE_ROLE` is missing: no
   * word that stands beside roles is the first or the last part, and the name neither starts nor ends with a joinable word;
   * a number of one or two digits at its end does not count.
   */
  edgesOf(name: string): number {
    const edges = this.#startOf(name) | this.#endOf(name, name.length)
    if (!isDigitCode(name.charCodeAt(name.length - 1))) return edges
    return edges | (this.#endOf(name, unnumberedLength(name)) & MAY_HAVE_ROLE)
  }

  #startOf(name: string): number {
    // The hashes of the first part without its last one and two characters.
    let hash = FNV_OFFSET_BASIS
    let before1 = hash
    let before2 = hash
    let end = 0
    let edges = 0
    for (; end < name.length && !isSeparatorCode(name.charCodeAt(end)); end++) {
      before2 = before1
      before1 = hash
      hash = fnv1aStep(hash, name.charCodeAt(end))
      if (end >= JOINED_LETTERS_MIN - 1 && this.#hasTwice(hash, STARTS_A_NAME, CONFIRMS_A_START)) edges = MAY_HAVE_ROLE
    }
    if (end < name.length && this.#hasTwice(hash, BEFORE_A_ROLE, CONFIRMS_A_START)) edges = MAY_HAVE_ROLE
    const isWord =
      this.#has(hash, STARTS_A_WORD) ||
      (isDigitCode(name.charCodeAt(end - 1)) &&
        (this.#has(before1, STARTS_A_WORD) ||
          (isDigitCode(name.charCodeAt(end - 2)) && this.#has(before2, STARTS_A_WORD))))
    return isWord ? edges | MAY_HAVE_WORD : edges
  }

  #endOf(name: string, length: number): number {
    let hash = FNV_OFFSET_BASIS
    let edges = 0
    let index = length - 1
    for (; index >= 0 && !isSeparatorCode(name.charCodeAt(index)); index--) {
      hash = fnv1aStep(hash, name.charCodeAt(index))
      if (index <= length - JOINED_LETTERS_MIN && this.#hasTwice(hash, ENDS_A_NAME, CONFIRMS_AN_END))
        edges = MAY_HAVE_ROLE
    }
    if (index >= 0 && this.#hasTwice(hash, AFTER_A_ROLE, CONFIRMS_AN_END)) edges = MAY_HAVE_ROLE
    return this.#has(hash, ENDS_A_WORD) ? edges | MAY_HAVE_WORD : edges
  }

  #add(hash: number, edge: number): void {
    const slot = slotOfHash(hash)
    this.#slots[slot] = (this.#slots[slot] ?? 0) | edge
  }

  #addTwice(word: string, starts: number, ends: number): void {
    const [first, last] = [firstPartHash(word), lastPartHash(word)]
    this.#add(first, starts)
    this.#add(last, ends)
    this.#slots[confirmingSlot(first)] = (this.#slots[confirmingSlot(first)] ?? 0) | CONFIRMS_A_START
    this.#slots[confirmingSlot(last)] = (this.#slots[confirmingSlot(last)] ?? 0) | CONFIRMS_AN_END
  }

  #has(hash: number, edge: number): boolean {
    return ((this.#slots[slotOfHash(hash)] ?? 0) & edge) !== 0
  }

  #hasTwice(hash: number, edge: number, confirms: number): boolean {
    return this.#has(hash, edge) && ((this.#slots[confirmingSlot(hash)] ?? 0) & confirms) !== 0
  }
}

/** The length of a name without one or two digits at its end and a separator before them. */
function unnumberedLength(name: string): number {
  const digits = isDigitCode(name.charCodeAt(name.length - 2)) ? 2 : 1
  const length = name.length - digits
  return hasSeparatorAt(name, length - 1) ? length - 1 : length
}

/** The hash of the first part, read forwards. */
function firstPartHash(name: string): number {
  let hash = FNV_OFFSET_BASIS
  for (let index = 0; index < name.length && !isSeparatorCode(name.charCodeAt(index)); index++)
    hash = fnv1aStep(hash, name.charCodeAt(index))
  return hash
}

/** The hash of the last part, read backwards. */
function lastPartHash(name: string): number {
  let hash = FNV_OFFSET_BASIS
  for (let index = name.length - 1; index >= 0 && !isSeparatorCode(name.charCodeAt(index)); index--)
    hash = fnv1aStep(hash, name.charCodeAt(index))
  return hash
}

/** A slot that depends on other bits of the hash. */
const confirmingSlot = (hash: number): number => (hash >>> 18) ^ ((hash << 5) & (SLOT_COUNT - 1))

const slotOfHash = (hash: number): number => slotIndex(hash, SLOT_COUNT)
