import { keyingDistance } from "./keying-distance.ts"
import type { KnownName, KnownNames } from "./known-names.ts"
import { findTypo, isOneEditApart } from "./typo.ts"
import { isFarMoreUsed } from "./typo-likelihood.ts"

/** A label with the provider names that have it, most popular first. */
export type ProviderLabel = { readonly label: string; readonly names: readonly [KnownName, ...KnownName[]] }

/** The labels that a provider has, by their index. */
export class ProviderLabels {
  readonly #knownNames: KnownNames
  /** By index: the rank of the first name with the label. */
  readonly #firstRanks: readonly number[]
  readonly #found = new Map<number, ProviderLabel>()

  constructor(knownNames: KnownNames) {
    this.#knownNames = knownNames
    const isProvider = (rank: number) => knownNames.kindAt(rank) === "provider"
    this.#firstRanks = knownNames.firstRanks.filter(first => knownNames.ranksFrom(first).some(isProvider))
  }

  /** The labels as texts. */
  texts(): readonly string[] {
    return this.#firstRanks.map(rank => this.#knownNames.labelAt(rank))
  }

  /** The ranks of all provider names that have a label. */
  ranks(): readonly number[] {
    return this.#firstRanks.flatMap(first => this.#providerRanks(first))
  }

  /** The label with this index. */
  at(index: number): ProviderLabel | null {
    const first = this.#firstRanks[index]
    return first === undefined ? null : this.#found.getOrInsertComputed(first, () => this.#read(first))
  }

  /** The label; null: no provider has it. */
  find(label: string): ProviderLabel | null {
    const first = this.#knownNames.firstRankOf(label)
    if (first < 0) return null
    const isProviders = this.#found.has(first) || this.#providerRanks(first).length > 0
    return isProviders ? this.#found.getOrInsertComputed(first, () => this.#read(first)) : null
  }

  #providerRanks(first: number): readonly number[] {
    return this.#knownNames.ranksFrom(first).filter(rank => this.#knownNames.kindAt(rank) === "provider")
  }

  #read(first: number): ProviderLabel {
    const names = this.#providerRanks(first).map(rank => this.#knownNames.at(rank))
    return { label: this.#knownNames.labelAt(first), names: names as [KnownName, ...KnownName[]] } // one at least is a provider
  }
}

/**
 * The names whose suffix is one edit away from the typed one. If some are a typo away, only those (`dw` is `de`, not
 * `dk`); if one of these is used far more, only that one. If none is one edit away, those that are two slips away
 * (`nry` is `net`). Several: they are equally likely.
 */
export function nearestBySuffix(names: readonly KnownName[], suffix: string): readonly KnownName[] {
  const edits = names.filter(name => isOneEditApart(suffix, name.suffix))
  const typos = edits.filter(name => findTypo(suffix, name.suffix) !== null)
  const near = edits.length === 0 ? names.filter(name => isTwoSlipsApart(suffix, name.suffix)) : edits
  const [first, second, ...others] = typos.length > 0 ? typos : near
  if (first === undefined || second === undefined) return first === undefined ? [] : [first]
  return isFarMoreUsed(first, second) ? [first] : [first, second, ...others]
}

/** Two slips in a suffix of two letters would make it any other. */
const isTwoSlipsApart = (typed: string, meant: string): boolean =>
  meant.length >= 3 && keyingDistance(typed, meant, { unlikely: 3, max: 2 }) <= 2
