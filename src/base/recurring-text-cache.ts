import { isEndOf, textHash } from "./text.ts"

/** How many hashes are remembered for each value that may be cached. */
const SEEN_PER_ENTRY = 4

/**
 * A cache of values by text that takes a text from its second sight on: most domains of a long list come once, and values that are cached
 * for them are most of what the garbage collector has to look at. A text can stand in one of two places, and a new one
 * replaces the one that was read longer ago. A text may be the end of another one, so that nothing is cut out for a hit.
 */
export class RecurringTextCache<V> {
  readonly #texts: (string | null)[]
  readonly #values: (V | null)[]
  /** The last hash that was seen, by its lower bits. */
  readonly #seen: Int32Array

  /** About `entries` values are cached, and twice as many at most. */
  constructor(entries: number) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(2, entries)))
    this.#texts = Array<string | null>(size).fill(null)
    this.#values = Array<V | null>(size).fill(null)
    this.#seen = new Int32Array(size * SEEN_PER_ENTRY)
  }

  /** The cached value of the text that begins at an index; undefined: there is none. */
  get(text: string, from = 0): V | undefined {
    const hash = hashFrom(text, from)
    const place = this.#placeOf(hash)
    if (!isEndOf(this.#texts[place] ?? null, text, from)) {
      if (!isEndOf(this.#texts[place + 1] ?? null, text, from)) return undefined
      this.#putFirst(place, this.#texts[place + 1] ?? null, this.#values[place + 1] ?? null)
    }
    // What is asked next is asked of the cached text.
    remember(this.#texts[place] ?? "", 0, hash)
    return this.#values[place] ?? undefined
  }

  /** Caches the value of a text for which there is none, if the text was seen before. Gives whether it was. */
  offer(text: string, value: V): boolean {
    const hash = hashFrom(text, 0)
    const at = hash & (this.#seen.length - 1)
    const isSeen = this.#seen[at] === hash
    this.#seen[at] = hash
    if (isSeen) this.#putFirst(this.#placeOf(hash), text, value)
    return isSeen
  }

  #placeOf(hash: number): number {
    return (hash & ((this.#texts.length >> 1) - 1)) << 1
  }

  /** Gives the first place of two to a text. The one that had it moves to the second. */
  #putFirst(place: number, text: string | null, value: V | null): void {
    this.#texts[place + 1] = this.#texts[place] ?? null
    this.#values[place + 1] = this.#values[place] ?? null
    this.#texts[place] = text
    this.#values[place] = value
  }
}

/** The hash that was made last: several caches are asked for the same text in turn, first as the end of another one. */
let lastText = ""
let lastFrom = 0
let lastHash = textHash("")

function hashFrom(text: string, from: number): number {
  if (text !== lastText || from !== lastFrom) remember(text, from, textHash(text, from))
  return lastHash
}

/** The text from an index on. Where it was asked for before, its hash is not made again. */
export function cutOut(text: string, from: number): string {
  const end = text.slice(from)
  if (text === lastText && from === lastFrom) remember(end, 0, lastHash)
  return end
}

function remember(text: string, from: number, hash: number): void {
  lastText = text
  lastFrom = from
  lastHash = hash
}
