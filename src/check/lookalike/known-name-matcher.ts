import { classifySuffix } from "../address/public-suffix.ts"
import type { BrandMatcher } from "./brands/brand-matcher.ts"
import { skeletonOf } from "./confusables.ts"
import { type KnownName, KnownNames, type LookalikeTarget, type SplitName, splitName } from "./known-names.ts"
import { matchCombosquat, matchHomoglyph, matchLevelsquat, registrableStart } from "./lookalike.ts"
import { TypoCorrector } from "./typo-corrector.ts"
import { isWidelyUsed } from "./typo-likelihood.ts"

/** The known names that a domain is near to. */
export type NameMatch = {
  /** The provider that the domain probably mistypes (`did_you_mean`, `DECISIONS 4`); null: none. */
  readonly suggestion: string | null
  /** Whether very many people use that provider. */
  readonly isHouseholdSlip: boolean
  /** The known name that the domain imitates (`is_lookalike`, `DECISIONS 4`); null: none. */
  readonly lookalikeOf: string | null
}

/** A domain that is near to no known name, or is one. */
export const NO_NAME_MATCH: NameMatch = { suggestion: null, isHouseholdSlip: false, lookalikeOf: null }

/**
 * Finds the known name that a domain mistypes or imitates. Targets are ordered by weight: if several match, the first is
 * the imitated one, and a suggestion is made only if one of them is used far more than the others. The result depends
 * only on the targets and the arguments. The tables are built on first use, in about 25 ms for 20 000 targets, so that
 * the start of the server does not wait for them.
 */
export class KnownNameMatcher {
  readonly #targets: readonly LookalikeTarget[]
  readonly #brands: (() => BrandMatcher) | null
  #builtTables: MatcherTables | null = null

  /** `brands`: finds imitations of household brands too; made on first use. */
  constructor(targets: readonly LookalikeTarget[], brands: (() => BrandMatcher) | null = null) {
    this.#targets = targets
    this.#brands = brands
  }

  /**
   * What `domain` mistypes or imitates: nothing if it is a target or a subdomain of one, other than a household name with a dot in its
   * label (`g.mail.com`). A known label under another suffix
   * and a plain typing error are not look-alikes. Both arguments are A-labels in lower case; `domain` ends with `registrable`.
   */
  match(domain: string, registrable: string): NameMatch {
    const { knownNames, typoCorrector } = this.#tables()
    const split = splitName(registrable)
    const { label, suffix } = split
    const skeleton = skeletonOf(label)
    const mayBeKnown = skeleton !== null || knownNames.mayLookKnown(label)
    const isKnown = mayBeKnown && knownNames.hasName(registrable)
    if (isKnown || isUnderKnownName(knownNames, domain, registrable))
      return domain === registrable ? NO_NAME_MATCH : this.matchSplitLabel(domain)
    const homoglyph = mayBeKnown ? matchHomoglyph(knownNames, label, suffix, skeleton) : null
    const imitated =
      homoglyph ??
      matchCombosquat(knownNames, label, suffix, skeleton) ??
      matchLevelsquat(knownNames, domain, registrable)
    const meant = typoCorrector.correct(domain, split, homoglyph)
    return meant === null && this.#brands !== null
      ? imitationOf(this.#brandImitated(this.#brands(), imitated, split))
      : matchOf(meant, imitated)
  }

  /** The household name that a subdomain of a provider is with a dot in its label (`g.mail.com`). Nothing else is looked for. */
  matchSplitLabel(domain: string): NameMatch {
    return matchOf(this.#tables().typoCorrector.correctSplitLabel(domain), null)
  }

  /** The name that one that is no typo imitates, given what it imitates of the targets. */
  #brandImitated(brands: BrandMatcher, imitated: KnownName | null, { name, label }: SplitName): string | null {
    if (imitated !== null) return brands.owns(name) ? null : imitated.name
    return brands.match(name, label, part => this.#tables().knownNames.firstRankOf(part) >= 0)
  }

  /** The provider that a domain is or mistypes, after its punctuation was put right. */
  matchMended(mended: string): NameMatch {
    const named = this.#tables().knownNames.nameOf(mended)
    if (named?.kind === "provider") return matchOf(named, null)
    return { ...this.match(mended, classifySuffix(mended).registrable), lookalikeOf: null }
  }

  #tables(): MatcherTables {
    this.#builtTables ??= buildTables(this.#targets)
    return this.#builtTables
  }
}

/** The match of a provider that was meant and a name that was imitated. */
function matchOf(meant: KnownName | null, imitated: KnownName | null): NameMatch {
  if (imitated === null && meant === null) return NO_NAME_MATCH
  const isHouseholdSlip = meant !== null && isWidelyUsed(meant)
  return { suggestion: meant?.name ?? null, isHouseholdSlip, lookalikeOf: imitated?.name ?? null }
}

const imitationOf = (lookalikeOf: string | null): NameMatch =>
  lookalikeOf === null ? NO_NAME_MATCH : { ...NO_NAME_MATCH, lookalikeOf }

type MatcherTables = {
  readonly knownNames: KnownNames
  readonly typoCorrector: TypoCorrector
}

function buildTables(targets: readonly LookalikeTarget[]): MatcherTables {
  const knownNames = new KnownNames(targets)
  return { knownNames, typoCorrector: new TypoCorrector(knownNames) }
}

/** Whether the domain or a parent of it, above the registrable one, is a target. */
function isUnderKnownName(names: KnownNames, domain: string, registrable: string): boolean {
  const end = registrableStart(domain, registrable)
  for (let start = 0; start < end; start = domain.indexOf(".", start) + 1) {
    if (names.hasName(domain.slice(start))) return true
  }
  return false
}
