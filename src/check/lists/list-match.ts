import { SET_BITS, type SetName, setsOfMask } from "./sets.ts"

/** Which sets hold a domain, at the most specific of its levels that any set holds. */
export class ListMatch {
  /** The bits (`SET_BITS`) of the sets. 0: no set holds the domain. */
  readonly mask: number
  readonly #entryText: string
  readonly #entryStart: number

  /** The entry is `entry` from `from` on: it is cut out only when somebody asks, since most do not. */
  constructor(mask: number, entry: string, from: number) {
    this.mask = mask
    this.#entryText = entry
    this.#entryStart = from
  }

  /** Whether the set holds the domain at that level. */
  has(set: SetName): boolean {
    return (this.mask & SET_BITS[set]) !== 0
  }

  /** The same without the sets of `mask`; the same object where none of them is in it. */
  without(mask: number): ListMatch {
    if ((this.mask & mask) === 0) return this
    return new ListMatch(this.mask & ~mask, this.#entryText, this.#entryStart)
  }

  /** The entry that matched: the domain, a parent, or a suffix pattern. Null when no set holds the domain. */
  get entry(): string | null {
    return this.mask === 0 ? null : this.#entryText.slice(this.#entryStart)
  }

  /** The sets, in order. */
  get sets(): readonly SetName[] {
    return setsOfMask(this.mask)
  }
}

/** The answer for a domain that no set holds; always the same object. */
export const NO_LIST_MATCH: ListMatch = new ListMatch(0, "", 0)
Object.freeze(NO_LIST_MATCH)

/** An answer made up for a test address: in one set, or in none. Its entry is the empty text. */
export const matchInSet = (set: SetName | null): ListMatch =>
  set === null ? NO_LIST_MATCH : new ListMatch(SET_BITS[set], "", 0)
