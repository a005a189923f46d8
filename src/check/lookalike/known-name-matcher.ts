import { KnownNames, type LookalikeTarget, splitLabel } from "./known-names.ts"
import { matchCombosquat, matchHomoglyph, matchLevelsquat } from "./lookalike.ts"
import { TypoCorrector } from "./typo-corrector.ts"

/**
 * Finds the known name that a domain mistypes or imitates. Targets are ordered by weight: if several match, the first is
 * the imitated one, and a suggestion is made only if one of them is used far more than the others. Both results depend
 * only on the targets and the arguments. The tables are built on first use, in about 25 ms for 20 000 targets, so that
 * the start of the server does not wait for them.
 */
export class KnownNameMatcher {
  readonly #targets: readonly LookalikeTarget[]
  #builtTables: MatcherTables | null = null

  constructor(targets: readonly LookalikeTarget[]) {
    this.#targets = targets
  }

  /**
   * The provider that `domain` probably mistypes (`did_you_mean`, `DECISIONS 4`). Null: none; always for a target and its
   * subdomains. Both arguments are A-labels in lower case; `domain` ends with `registrable`.
   */
  suggestionFor(domain: string, registrable: string): string | null {
    const { knownNames, typoCorrector } = this.#tables()
    return isKnownName(knownNames, domain, registrable) ? null : typoCorrector.correct(domain, registrable)
  }

  /**
   * The known name that `domain` imitates (`is_lookalike`, `DECISIONS 4`). Null: none; always for a target and its
   * subdomains. A known label under another suffix and a plain typing error are not look-alikes.
   */
  lookalikeOf(domain: string, registrable: string): string | null {
    const { knownNames } = this.#tables()
    if (isKnownName(knownNames, domain, registrable)) return null
    const [label, suffix] = splitLabel(registrable)
    const match =
      matchHomoglyph(knownNames, label, suffix) ??
      matchCombosquat(knownNames, label, suffix) ??
      matchLevelsquat(knownNames, domain, registrable)
    return match?.name ?? null
  }

  #tables(): MatcherTables {
    this.#builtTables ??= buildTables(this.#targets)
    return this.#builtTables
  }
}

type MatcherTables = {
  readonly knownNames: KnownNames
  readonly typoCorrector: TypoCorrector
}

function buildTables(targets: readonly LookalikeTarget[]): MatcherTables {
  const knownNames = new KnownNames(targets)
  return { knownNames, typoCorrector: new TypoCorrector(knownNames) }
}

/** Whether the domain or a parent of it, down to the registrable one, is a target. */
function isKnownName(names: KnownNames, domain: string, registrable: string): boolean {
  if (names.hasName(registrable) || names.hasName(domain)) return true
  const registrableStart = domain.endsWith(`.${registrable}`) ? domain.length - registrable.length : 0
  for (let start = 0; start < registrableStart; start = domain.indexOf(".", start) + 1) {
    if (names.hasName(domain.slice(start))) return true
  }
  return false
}
