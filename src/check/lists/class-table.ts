import { LISTING_RULE_NAMES } from "./listing-rules.ts"
import type { Listing } from "./pack-contents.ts"
import { CLASS_ENTRY_BYTES, dayOfNumber, LISTING_ENTRY_BYTES } from "./pack-format.ts"
import { SET_NAMES } from "./sets.ts"

/** What the class numbers of a pack mean. A number out of range means nothing: no set, no listing. */
export class ClassTable {
  /** For each class: the bits of the sets that hold its names, and the anchor bit. */
  readonly masks: Uint16Array
  readonly #classes: Uint8Array
  readonly #listings: Uint8Array
  readonly #sources: readonly string[]

  /** Reads the two sections where they lie; only the masks are copied. */
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
    const at = number * CLASS_ENTRY_BYTES
    if (number < 0 || at + CLASS_ENTRY_BYTES > this.#classes.length) return []
    const view = new DataView(this.#classes.buffer, this.#classes.byteOffset + at, CLASS_ENTRY_BYTES)
    const first = view.getUint32(4, true)
    const found = Array.from({ length: view.getUint16(2, true) }, (_, nth) => this.#listingAt(first + nth))
    return found.filter(listing => listing !== null)
  }

  #listingAt(index: number): Listing | null {
    const [setNumber = -1, sourceNumber = -1, outcomeNumber = -1, dayLow = 0, dayHigh = 0] = this.#listings.subarray(
      index * LISTING_ENTRY_BYTES,
      (index + 1) * LISTING_ENTRY_BYTES,
    )
    const set = SET_NAMES[setNumber]
    const source = this.#sources[sourceNumber]
    const outcome = outcomeNumber === 0 ? "kept" : LISTING_RULE_NAMES[outcomeNumber - 1]
    if (set === undefined || source === undefined || outcome === undefined) return null
    return { set, source, outcome, since: dayOfNumber(dayLow | (dayHigh << 8)) }
  }
}
