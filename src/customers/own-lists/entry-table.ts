import { storedEntry } from "./own-list-entry.ts"
import type { OwnList } from "./own-lists.ts"

// What is kept of a name, in bits:
//   1 2   on the block list, on the allow list
//   4 8   the same for all names below it
//   16    an address at this very name is on one of the lists
const BITS: { readonly [L in OwnList]: number } = { block: 1, allow: 2 }
const ON_LISTS = 3
const BELOW_SHIFT = 2
const HAS_ADDRESS = 16

/** What the lists of one owner say, in bits; zero: nothing. To be read with `isOn` and `mayHaveAddress`. */
type Coverage = number

/** Whether the coverage says that the name or the address is on the list. */
export const isOn = (coverage: Coverage, list: OwnList): boolean => (coverage & BITS[list]) !== 0

/** Whether the coverage of a domain leaves open what an address at it has: `ofAddress` knows. */
export const mayHaveAddress = (coverage: Coverage): boolean => (coverage & HAS_ADDRESS) !== 0

/** The block and the allow list of one owner, to look names up in: one search a label answers both lists. */
export class EntryTable {
  readonly #names = new Map<string, number>()
  /** By kept form. */
  readonly #addresses = new Map<string, number>()
  /** How many entries it was made from. */
  readonly entryCount: number

  constructor(rows: readonly { readonly list: OwnList; readonly entry: string }[]) {
    this.entryCount = rows.length
    for (const { list, entry } of rows) this.#add(BITS[list], entry)
  }

  /** What the lists say of a domain by itself and by its parents. */
  ofDomain(domain: string): Coverage {
    if (this.#names.size === 0) return 0
    let coverage = (this.#names.get(domain) ?? 0) & (ON_LISTS | HAS_ADDRESS)
    for (let dot = domain.indexOf("."); dot >= 0; dot = domain.indexOf(".", dot + 1))
      coverage |= ((this.#names.get(domain.slice(dot + 1)) ?? 0) >> BELOW_SHIFT) & ON_LISTS
    return coverage
  }

  /** What the lists say of an address by itself, given in its kept form. */
  ofAddress(kept: string): Coverage {
    return this.#addresses.get(kept) ?? 0
  }

  #add(bit: number, entry: string): void {
    const { kind, domain, kept } = storedEntry(entry)
    if (kind === "address") this.#addresses.set(kept, (this.#addresses.get(kept) ?? 0) | bit)
    const below = bit << BELOW_SHIFT
    const bits = { address: HAS_ADDRESS, domain: bit | below, subdomains: below }[kind]
    this.#names.set(domain, (this.#names.get(domain) ?? 0) | bits)
  }
}
