import { FoldedLabelIndex, groupByLabel, type LookalikeTarget, splitLabel } from "./label-index.ts"
import { matchCombosquat, matchHomoglyph, matchLevelsquat } from "./lookalike.ts"
import { TypoCorrector } from "./typo-corrector.ts"

/**
 * Knows the names that people mistype and imitate. The order of the targets is their weight: where several fit, the
 * first is what is imitated, and a suggestion comes only from the one that is used far more. Both answers depend on
 * nothing but the targets and the arguments. The tables are built when the first answer is asked for, in some 25 ms for
 * 20 000 targets, so that a start does not wait for them.
 */
export class KnownNameMatcher {
  readonly #targets: readonly LookalikeTarget[]
  #builtTables: MatcherTables | null = null

  constructor(targets: readonly LookalikeTarget[]) {
    this.#targets = targets
  }

  /**
   * The provider that `domain` is one likely slip away from (decisions §3, `did_you_mean`). Null: none; always for a
   * target and what stands under one. Both names are A-labels in lower case; `registrable` ends `domain`.
   */
  suggestionFor(domain: string, registrable: string): string | null {
    const { knownNames, typoCorrector } = this.#tables()
    return isKnownName(knownNames, domain, registrable) ? null : typoCorrector.correct(domain, registrable)
  }

  /**
   * The listed name that `domain` imitates (decisions §3, `is_lookalike`). Null: none; always for a target and what
   * stands under one. A listed label under another suffix, and a plain slip of the keys, are no imitation.
   */
  lookalikeOf(domain: string, registrable: string): string | null {
    const { knownNames, labelIndex } = this.#tables()
    if (isKnownName(knownNames, domain, registrable)) return null
    const [label, suffix] = splitLabel(registrable)
    const found =
      matchHomoglyph(labelIndex, label, suffix) ??
      matchCombosquat(labelIndex, label, suffix) ??
      matchLevelsquat(labelIndex, domain, registrable)
    return found?.name ?? null
  }

  #tables(): MatcherTables {
    this.#builtTables ??= buildTables(this.#targets)
    return this.#builtTables
  }
}

type MatcherTables = {
  readonly knownNames: ReadonlySet<string>
  readonly labelIndex: FoldedLabelIndex
  readonly typoCorrector: TypoCorrector
}

function buildTables(targets: readonly LookalikeTarget[]): MatcherTables {
  const labels = groupByLabel(targets)
  const labelIndex = new FoldedLabelIndex(labels)
  return {
    knownNames: new Set(targets.map(({ name }) => name)),
    labelIndex,
    typoCorrector: new TypoCorrector(labels, labelIndex),
  }
}

/** Whether the domain, or a parent down to the registrable one, is a target. */
function isKnownName(names: ReadonlySet<string>, domain: string, registrable: string): boolean {
  if (names.has(registrable) || names.has(domain)) return true
  const front = domain.endsWith(`.${registrable}`) ? domain.length - registrable.length : 0
  for (let start = 0; start < front; start = domain.indexOf(".", start) + 1) {
    if (names.has(domain.slice(start))) return true
  }
  return false
}
