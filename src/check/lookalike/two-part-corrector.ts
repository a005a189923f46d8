import type { EditDistanceIndex } from "./edit-distance-index.ts"
import { keyingDistance } from "./keying-distance.ts"
import type { KnownName, KnownNames } from "./known-names.ts"
import { nearestBySuffix, type ProviderLabel, type ProviderLabels } from "./provider-labels.ts"
import { findTypo } from "./typo.ts"
import {
  isCompoundName,
  isLikelyTypo,
  isUnmistakable,
  isWidelyUsed,
  mayHaveTwoSlips,
  usageTierIndex,
} from "./typo-likelihood.ts"

/** A provider's name and how many slips are between its label and the typed one. */
type Candidate = { readonly name: KnownName; readonly slips: 1 | 2 }

/** An unlikely edit counts as two slips in a label of six letters or more, and never in a shorter one. */
const unlikelyEditCost = ({ length }: string): number => (length >= 6 ? 2 : 3)

/** With fewer letters, a typed label is near to too many words. */
const TYPED_LETTERS_MIN_TWO_SLIPS = 5

/** Two slips leave a typed label under an existing suffix so many letters at least. */
const TYPED_LETTERS_MIN_UNMISTAKABLE = 5

/** Two slips of the fingers and no edit that none makes. */
const FINGER_SLIPS = { unlikely: 3, max: 2 }

/** A shorter label is one slip away from many other names. */
const ANY_SLIP_LETTERS_MIN = 5

/**
 * Corrects a domain under a top-level domain that does not exist: nobody can be there, so the label may have up to two
 * slips besides those of the suffix, if exactly one provider is near (`DECISIONS 4`).
 */
export class TwoPartCorrector {
  readonly #providers: ProviderLabels
  readonly #nearbyLabels: EditDistanceIndex
  readonly #longProviders: readonly ProviderLabel[]
  /** Names that two slips leave unmistakable under their own suffix, by that suffix: about a dozen at most. */
  readonly #unmistakable: ReadonlyMap<string, readonly KnownName[]>

  constructor(knownNames: KnownNames, providers: ProviderLabels, nearbyLabels: EditDistanceIndex) {
    this.#providers = providers
    this.#nearbyLabels = nearbyLabels
    const ranks = providers.ranks()
    const longLabels = new Set<string>()
    for (const rank of ranks) {
      const name = knownNames.read(rank)
      if (mayHaveTwoSlips(name)) longLabels.add(name.label)
    }
    this.#longProviders = [...longLabels].map(label => providers.find(label)).filter(provider => provider !== null)
    const names = ranks.filter(rank => isUnmistakable(knownNames.read(rank))).map(rank => knownNames.at(rank))
    this.#unmistakable = Map.groupBy(names, ({ suffix }) => suffix)
  }

  /**
   * The provider under this suffix whose long label two slips of the fingers turn into the typed one: `outlokk` is
   * `outlook`. Null: none, several, or the typed label is made of words. The top-level domain exists, so that any other
   * edit may be another name.
   */
  correctTwoSlips(typed: string, suffix: string): KnownName | null {
    if (typed.length < TYPED_LETTERS_MIN_UNMISTAKABLE) return null
    let meant: KnownName | null = null
    for (const name of this.#unmistakable.get(suffix) ?? NO_NAMES) {
      if (!startsAlike(typed, name.label) || keyingDistance(typed, name.label, FINGER_SLIPS) > 2) continue
      if (meant !== null) return null
      meant = name
    }
    return meant === null || isCompoundName(typed) ? null : meant
  }

  /** The provider meant by a mistyped label under a suffix that does not exist; null: none, or several are as likely. */
  correct(label: string, suffix: string): KnownName | null {
    const near = [...this.#withOneSlip(label, suffix), ...this.#withTwoSlips(label, suffix)]
    const [nearest] = near.filter(one => near.every(other => other === one || isNearer(one, other)))
    return nearest?.name ?? null
  }

  #withOneSlip(typed: string, suffix: string): readonly Candidate[] {
    return this.#nearbyLabels.candidates(typed).flatMap(index => {
      const provider = this.#providers.at(index)
      const typo = provider === null ? null : findTypo(typed, provider.label)
      if (provider === null || typo === null) return []
      // A letter that moved past two others was swapped twice.
      const slips = typo.kind === "moved" ? 2 : 1
      const isLikely = (name: KnownName) =>
        slips === 2 ? mayHaveTwoSlips(name) : isLikelyTypo(typed, { name, typo }) || mayHaveAnySlip(typed, name)
      return nearestBySuffix(provider.names, suffix)
        .filter(isLikely)
        .map(name => ({ name, slips }))
    })
  }

  #withTwoSlips(typed: string, suffix: string): readonly Candidate[] {
    if (typed.length < TYPED_LETTERS_MIN_TWO_SLIPS || isCompoundName(typed)) return []
    return this.#longProviders.flatMap(({ label, names }) => {
      if (!startsAlike(typed, label)) return []
      if (keyingDistance(typed, label, { unlikely: unlikelyEditCost(label), max: 2 }) > 2) return []
      const long = nearestBySuffix(names, suffix).filter(mayHaveTwoSlips)
      return long.map(name => ({ name, slips: 2 as const }))
    })
  }
}

const NO_NAMES: readonly KnownName[] = []

/** Whether one slip of any kind after the first letter is likelier than another name: no name is under this suffix. */
const mayHaveAnySlip = (typed: string, name: KnownName): boolean =>
  name.label.length >= ANY_SLIP_LETTERS_MIN &&
  isWidelyUsed(name) &&
  startsAlike(typed, name.label) &&
  !isCompoundName(typed)

/** Whether a candidate is nearer than another label's and used as much, or as near and used far more. */
function isNearer(one: Candidate, other: Candidate): boolean {
  if (one.name === other.name) return one.slips <= other.slips
  const tiers = usageTierIndex(one.name) - usageTierIndex(other.name)
  return one.slips < other.slips ? tiers <= 0 : one.slips === other.slips && tiers < 0
}

/** Whether the first letters are equal or swapped: people notice a wrong first letter. */
const startsAlike = (typed: string, label: string): boolean =>
  typed.charAt(0) === label.charAt(0) || (typed.charAt(0) === label.charAt(1) && typed.charAt(1) === label.charAt(0))
