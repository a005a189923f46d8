import { type ListingStrength, SET_BITS, type SetName, STRENGTH_BITS, setsOfMask } from "./sets.ts"

/** The sets that match a domain, at the most specific of its levels that any set matches. */
export class ListMatch {
  /** The bits of the sets (`SET_BITS`) and of the strength (`STRENGTH_BITS`). 0: no set matches the domain. */
  readonly mask: number
  readonly #entryText: string
  readonly #entryStart: number

  /** The entry is `text` from `start` on. It is sliced only on demand, since most callers do not read it. */
  constructor(mask: number, text: string, start: number) {
    this.mask = mask
    this.#entryText = text
    this.#entryStart = start
  }

  /** Whether the set matches the domain at that level. */
  has(set: SetName): boolean {
    return (this.mask & SET_BITS[set]) !== 0
  }

  /** What calls the domain disposable; null: no list does. */
  get strength(): ListingStrength | null {
    if ((this.mask & SET_BITS.disposable) === 0) return null
    if ((this.mask & STRENGTH_BITS.weak) !== 0) return "weak"
    return (this.mask & STRENGTH_BITS.single) !== 0 ? "single" : "strong"
  }

  /** This match without the sets of `mask`; the same object if it has none of them. */
  without(mask: number): ListMatch {
    if ((this.mask & mask) === 0) return this
    return new ListMatch(this.mask & ~mask, this.#entryText, this.#entryStart)
  }

  /** The entry that matched: the domain, a parent, or a suffix pattern. Null if no set matches the domain. */
  get entry(): string | null {
    return this.mask === 0 ? null : this.#entryText.slice(this.#entryStart)
  }

  /** The sets, in order. */
  get sets(): readonly SetName[] {
    return setsOfMask(this.mask)
  }
}

/** The match of a domain that is in no set. Always the same object. */
export const NO_LIST_MATCH: ListMatch = new ListMatch(0, "", 0)
Object.freeze(NO_LIST_MATCH)

/** A fixed match in one set or none, for test addresses (`DECISIONS 12`). Its entry is the empty text. */
export const matchInSet = (set: SetName | null, strength: ListingStrength = "strong"): ListMatch =>
  set === null ? NO_LIST_MATCH : new ListMatch(SET_BITS[set] | STRENGTH_BITS[strength], "", 0)
