/** So many bits a word, of which it sets one: a name that is none is looked up in vain once in ten times or less. */
const BITS_PER_WORD = 32
const BITS_MIN = 32

/**
 * Tells most names that are none of many words without looking them up: it reads a name once, and one bit of a table that
 * stays in the processor's cache. It may take a name for a word, never the other way.
 */
export class WordFilter {
  readonly #bits: Uint32Array
  readonly #bitCount: number

  /** Words are in parts with `-`, `.` or `_` between. */
  constructor(words: ReadonlySet<string>) {
    this.#bitCount = 2 ** Math.ceil(Math.log2(Math.max(BITS_MIN, words.size * BITS_PER_WORD)))
    this.#bits = new Uint32Array(this.#bitCount / 32)
    for (const word of words) {
      let hash = FNV_OFFSET_BASIS
      for (let at = 0; at < word.length; at++) hash = fnv1aStep(hash, normalizedCode(word, at))
      const bit = slotIndex(hash, this.#bitCount)
      this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << (bit & 31))
    }
  }

  /** False: the name is no word, neither as it is nor without its last one or two digits and a separator before them. */
  mayContain(name: string): boolean {
    // The hashes of the name up to one character, two and three before its end.
    let hash = FNV_OFFSET_BASIS
    let before1 = hash
    let before2 = hash
    let before3 = hash
    for (let at = 0; at < name.length; at++) {
      before3 = before2
      before2 = before1
      before1 = hash
      hash = fnv1aStep(hash, normalizedCode(name, at))
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

const hasSeparatorAt = (name: string, at: number): boolean => isSeparatorCode(name.charCodeAt(at))

/** Separators are all the same. */
function normalizedCode(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return isSeparatorCode(code) ? 45 : code
}

/** The hash of no characters. */
const FNV_OFFSET_BASIS: number = 0x811c9dc5 | 0

/** The hash of a text with one more code unit (FNV-1a). */
const fnv1aStep = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193)

/** A place for a hash among so many, a power of two. */
const slotIndex = (hash: number, places: number): number => (hash ^ (hash >>> 15)) & (places - 1)

/** Whether the code unit stands between the parts of a word: `-`, `.` or `_`. */
const isSeparatorCode = (code: number): boolean => code === 45 || code === 46 || code === 95

/** Whether the code unit is an ASCII digit. */
const isDigitCode = (code: number): boolean => code >= 48 && code <= 57

/** Slots of a filter, a power of two: with a thousand words one name in fifteen or so is looked at in vain. */
const SLOT_COUNT = 16_384

const STARTS_A_WORD = 1
const ENDS_A_WORD = 2

/**
 * Tells most names that hold no word at their edges without cutting them: three in four names are people's, and to look
 * their parts up takes 0.3 µs of a check that takes 2. It may take a name for one that holds a word, never the other way.
 */
export class AffixFilter {
  readonly #slots = new Uint8Array(SLOT_COUNT)

  /** Words are in parts with `-`, `.` or `_` between. */
  constructor(words: Iterable<string>) {
    for (const word of words) {
      const starts = slotOfHash(firstPartHash(word))
      const ends = slotOfHash(lastPartHash(word))
      this.#slots[starts] = (this.#slots[starts] ?? 0) | STARTS_A_WORD
      this.#slots[ends] = (this.#slots[ends] ?? 0) | ENDS_A_WORD
    }
  }

  /** False: the first part of the name, with its last one or two digits or without, starts no word, and its last part ends none. */
  mayMatch(name: string): boolean {
    return this.#mayStartWord(name) || this.#has(lastPartHash(name), ENDS_A_WORD)
  }

  #mayStartWord(name: string): boolean {
    // The hashes of the part up to one character and two characters before.
    let hash = FNV_OFFSET_BASIS
    let shorter = hash
    let shortest = hash
    let at = 0
    for (; at < name.length && !isSeparatorCode(name.charCodeAt(at)); at++) {
      shortest = shorter
      shorter = hash
      hash = fnv1aStep(hash, name.charCodeAt(at))
    }
    if (this.#has(hash, STARTS_A_WORD)) return true
    if (!isDigitCode(name.charCodeAt(at - 1))) return false
    return (
      this.#has(shorter, STARTS_A_WORD) || (isDigitCode(name.charCodeAt(at - 2)) && this.#has(shortest, STARTS_A_WORD))
    )
  }

  #has(hash: number, edge: number): boolean {
    return ((this.#slots[slotOfHash(hash)] ?? 0) & edge) !== 0
  }
}

/** Of the first part, forwards. */
function firstPartHash(name: string): number {
  let hash = FNV_OFFSET_BASIS
  for (let at = 0; at < name.length && !isSeparatorCode(name.charCodeAt(at)); at++)
    hash = fnv1aStep(hash, name.charCodeAt(at))
  return hash
}

/** Of the last part, backwards. */
function lastPartHash(name: string): number {
  let hash = FNV_OFFSET_BASIS
  for (let at = name.length - 1; at >= 0 && !isSeparatorCode(name.charCodeAt(at)); at--)
    hash = fnv1aStep(hash, name.charCodeAt(at))
  return hash
}

const slotOfHash = (hash: number): number => slotIndex(hash, SLOT_COUNT)
