import { assert } from "../../base/errors.ts"
import { HashFilter } from "../../base/hash-filter.ts"
import { recurringEnd, textHash } from "../../base/text.ts"
import { foldedHash, looksLike } from "./confusables.ts"

/** A known name that others mistype or imitate. */
export type LookalikeTarget = {
  /** The registered name as A-labels, lower case. */
  readonly name: string
  readonly kind: "provider" | "organisation"
}

/** A name split into its first label and the text after its dot (empty if the name is a single label): `amazon` and `co.uk`. */
export type SplitName = { readonly name: string; readonly label: string; readonly suffix: string }

/** Splits a name. */
export function splitName(name: string): SplitName {
  const dot = name.indexOf(".")
  return dot < 0
    ? { name, label: name, suffix: "" }
    : { name, label: name.slice(0, dot), suffix: recurringEnd(name, dot + 1) }
}

/** A target as it is split. */
export type KnownName = LookalikeTarget &
  SplitName & {
    /** Index in the order of the targets, 0 for the first. */
    readonly rank: number
  }

/** A label with the known names that have it, most popular first. */
export type KnownLabel = { readonly label: string; readonly names: readonly [KnownName, ...KnownName[]] }

/** The suffix of a registered name, such as `co.uk` or `com`; `acme.com` does not match. */
const SUFFIX_PATTERN = /^([a-z]{2,4}\.)?[a-z]{2,}$/

/**
 * The known names, found by name, by label and by look. The tables are flat arrays of ranks, and an object is made for a name
 * only when it is found: twenty thousand names as objects would take ten times the memory.
 *
 * Names that are not a label under a suffix have no label here, and neither have A-labels.
 */
export class KnownNames {
  readonly #targets: readonly LookalikeTarget[]
  /** By rank: the length of the label; 0: the name has none. */
  readonly #labelLengths: Uint8Array
  /** By rank: one more than the rank of the next name with the same label; 0: it is the last. */
  readonly #nextRanks: Uint32Array
  /** The rank of the first name of each label, in order. */
  readonly #firstRanks: readonly number[]
  readonly #byName: RankTable
  /** The rank of the first name of each label, by the look of the label. */
  readonly #byLook: RankTable
  /** The looks of the first labels of all targets. */
  readonly #looks: HashFilter
  readonly #found = new Map<number, KnownName>()
  readonly #foundLabels = new Map<number, KnownLabel>()

  constructor(targets: readonly LookalikeTarget[]) {
    const { length } = targets
    this.#targets = targets
    this.#labelLengths = new Uint8Array(length)
    this.#nextRanks = new Uint32Array(length)
    this.#byName = new RankTable(length)
    this.#byLook = new RankTable(length)
    this.#looks = new HashFilter(length)
    const firstRanks: number[] = []
    const lastRanks = new Uint32Array(length)
    for (const [rank, { name }] of targets.entries()) {
      this.#byName.add(textHash(name), rank)
      const { label, suffix } = splitName(name)
      const look = lookOf(label)
      this.#looks.add(look)
      if (!SUFFIX_PATTERN.test(suffix) || label.startsWith("xn--")) continue
      this.#labelLengths[rank] = label.length
      const first = this.firstRankOf(label)
      if (first < 0) {
        firstRanks.push(rank)
        this.#byLook.add(look, rank)
      } else this.#nextRanks[lastRanks[first] ?? 0] = rank + 1
      lastRanks[first < 0 ? rank : first] = rank
    }
    this.#firstRanks = firstRanks
  }

  /** Whether it is the name of a target. */
  hasName(name: string): boolean {
    return this.#rankOf(name) >= 0
  }

  /** The target with exactly this name, if it has a label. */
  nameOf(text: string): KnownName | null {
    const rank = this.#rankOf(text)
    return rank < 0 || this.#labelLengths[rank] === 0 ? null : this.at(rank)
  }

  /**
   * False: no target has this first label, or one that looks like it. One bit says that of nearly every other label, so that the
   * tables are not searched.
   */
  mayLookKnown(label: string): boolean {
    return this.#looks.mayHave(lookOf(label))
  }

  /** The rank of the first name with the label; -1: none has it. */
  firstRankOf(label: string): number {
    const look = lookOf(label)
    if (!this.#looks.mayHave(look)) return -1
    return this.#byLook.find(
      look,
      rank => this.#labelLengths[rank] === label.length && this.#targets[rank]?.name.startsWith(label) === true,
    )
  }

  /** The rank of the first name of each label. */
  get firstRanks(): readonly number[] {
    return this.#firstRanks
  }

  /** The ranks of the names that have the same label as the first one, in order. */
  ranksFrom(first: number): readonly number[] {
    const ranks = [first]
    for (let next = this.#nextRanks[first] ?? 0; next !== 0; next = this.#nextRanks[next - 1] ?? 0) ranks.push(next - 1)
    return ranks
  }

  /** The known labels that look like `text.slice(start, end)`, most popular first; usually none. */
  labelsLike(text: string, start: number, end: number): readonly KnownLabel[] {
    let labels = NO_LABELS
    this.#byLook.find(foldedHash(text, start, end), rank => {
      if (looksLike(this.labelAt(rank), text.slice(start, end))) labels = [...labels, this.#label(rank)]
      return false
    })
    return labels
  }

  /** The kind of the name with this rank. */
  kindAt(rank: number): LookalikeTarget["kind"] {
    return this.#target(rank).kind
  }

  /** The label of the name with this rank. */
  labelAt(rank: number): string {
    return this.#target(rank).name.slice(0, this.#labelLengths[rank])
  }

  /** The name with this rank, which has a label: always the same object. */
  at(rank: number): KnownName {
    return this.#found.getOrInsertComputed(rank, () => this.read(rank))
  }

  /** As `at`, for a look at every name: a new object each time. */
  read(rank: number): KnownName {
    const { name, kind } = this.#target(rank)
    return { ...splitName(name), kind, rank }
  }

  /** The label whose first name has this rank: always the same object. */
  #label(first: number): KnownLabel {
    return this.#foundLabels.getOrInsertComputed(first, () => {
      const names = this.ranksFrom(first).map(rank => this.at(rank))
      return { label: this.labelAt(first), names: names as [KnownName, ...KnownName[]] } // the first name is one
    })
  }

  #target(rank: number): LookalikeTarget {
    const target = this.#targets[rank]
    assert(target !== undefined, "a rank is the index of a target")
    return target
  }

  #rankOf(name: string): number {
    return this.#byName.find(textHash(name), rank => this.#targets[rank]?.name === name)
  }
}

const NO_LABELS: readonly KnownLabel[] = []

/** The bits of a slot that hold a rank plus one; the others hold those of the hash. */
const RANK_BITS = 0xfffff

/**
 * Ranks by a hash, with open addressing; a slot holds the upper bits of a hash and a rank plus one, 0 if it is free. So hardly
 * a text that is not there is compared with one that is.
 */
export class RankTable {
  readonly #slots: Int32Array

  /** At most half of the slots are used. */
  constructor(entriesMax: number) {
    assert(entriesMax < RANK_BITS, "a slot has room for the ranks of a million names")
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(1, entriesMax) * 2)))
  }

  add(hash: number, rank: number): void {
    const last = this.#slots.length - 1
    let slot = hash & last
    while (this.#slots[slot] !== 0) slot = (slot + 1) & last
    this.#slots[slot] = (hash & ~RANK_BITS) | (rank + 1)
  }

  /** The first of the ranks that may have the hash, in the order in which they were added, that the caller accepts; -1: none. */
  find(hash: number, accepts: (rank: number) => boolean): number {
    const last = this.#slots.length - 1
    for (let slot = hash & last; ; slot = (slot + 1) & last) {
      const entry = this.#slots[slot] ?? 0
      if (entry === 0) return -1
      const isSameHash = ((entry ^ hash) & ~RANK_BITS) === 0
      if (isSameHash && accepts((entry & RANK_BITS) - 1)) return (entry & RANK_BITS) - 1
    }
  }
}

/** The label whose hash was made last: several steps look at the same one in turn. */
let lastLabel = ""
let lastLook = foldedHash("", 0, 0)

/** A hash that labels share if they look alike. */
function lookOf(label: string): number {
  if (label !== lastLabel) {
    lastLook = foldedHash(label, 0, label.length)
    lastLabel = label
  }
  return lastLook
}
