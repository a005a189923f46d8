import { SET_BITS, type SetName, setsIn } from "./sets.ts"

/** Which sets hold a domain, at the most specific of its levels that any set holds. */
export class Listed {
  /** The bits (`SET_BITS`) of the sets. 0: no set holds the domain. */
  readonly mask: number
  readonly #text: string
  readonly #from: number

  /** The entry is `entry` from `from` on: it is cut out only when somebody asks, since most do not. */
  constructor(mask: number, entry: string, from: number) {
    this.mask = mask
    this.#text = entry
    this.#from = from
  }

  /** Whether the set holds the domain at that level. */
  has(set: SetName): boolean {
    return (this.mask & SET_BITS[set]) !== 0
  }

  /** The same without the sets of `mask`; the same object where none of them is in it. */
  without(mask: number): Listed {
    if ((this.mask & mask) === 0) return this
    return new Listed(this.mask & ~mask, this.#text, this.#from)
  }

  /** The entry that matched: the domain, a parent, or a suffix pattern. Null when no set holds the domain. */
  get entry(): string | null {
    return this.mask === 0 ? null : this.#text.slice(this.#from)
  }

  /** The sets, in order. */
  get sets(): readonly SetName[] {
    return setsIn(this.mask)
  }
}

/** The answer for a domain that no set holds; always the same object. */
export const NOWHERE: Listed = new Listed(0, "", 0)
Object.freeze(NOWHERE)

/** An answer made up for a test address: in one set, or in none. Its entry is the empty text. */
export const listedIn = (set: SetName | null): Listed => (set === null ? NOWHERE : new Listed(SET_BITS[set], "", 0))
