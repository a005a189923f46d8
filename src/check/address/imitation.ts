import { byLabel, LabelIndex, split, type Target } from "./label-index.ts"
import { adorned, disguised, fronted } from "./lookalike.ts"
import { Suggestions } from "./suggestion.ts"

/**
 * Knows the names that people mistype and imitate. The order of the targets is their weight: where several fit, the
 * first is what is imitated, and a suggestion comes only from the one that is used far more. Both answers depend on
 * nothing but the targets and the arguments. The tables are built when the first answer is asked for, in some 25 ms for
 * 20 000 targets, so that a start does not wait for them.
 */
export class Imitations {
  readonly #targets: readonly Target[]
  #built: Tables | null = null

  constructor(targets: readonly Target[]) {
    this.#targets = targets
  }

  /**
   * The provider that `domain` is one likely slip away from (decisions §3, `did_you_mean`). Null: none; always for a
   * target and what stands under one. Both names are A-labels in lower case; `registrable` ends `domain`.
   */
  suggestion(domain: string, registrable: string): string | null {
    const { names, suggestions } = this.#tables()
    return isListed(names, domain, registrable) ? null : suggestions.find(domain, registrable)
  }

  /**
   * The listed name that `domain` imitates (decisions §3, `is_lookalike`). Null: none; always for a target and what
   * stands under one. A listed label under another suffix, and a plain slip of the keys, are no imitation.
   */
  imitated(domain: string, registrable: string): string | null {
    const { names, index } = this.#tables()
    if (isListed(names, domain, registrable)) return null
    const [label, suffix] = split(registrable)
    const found =
      disguised(index, label, suffix) ?? adorned(index, label, suffix) ?? fronted(index, domain, registrable)
    return found?.name ?? null
  }

  #tables(): Tables {
    this.#built ??= tablesOf(this.#targets)
    return this.#built
  }
}

type Tables = {
  readonly names: ReadonlySet<string>
  readonly index: LabelIndex
  readonly suggestions: Suggestions
}

function tablesOf(targets: readonly Target[]): Tables {
  const labels = byLabel(targets)
  const index = new LabelIndex(labels)
  return { names: new Set(targets.map(({ name }) => name)), index, suggestions: new Suggestions(labels, index) }
}

/** Whether the domain, or a parent down to the registrable one, is a target. */
function isListed(names: ReadonlySet<string>, domain: string, registrable: string): boolean {
  if (names.has(registrable) || names.has(domain)) return true
  const front = domain.endsWith(`.${registrable}`) ? domain.length - registrable.length : 0
  for (let start = 0; start < front; start = domain.indexOf(".", start) + 1) {
    if (names.has(domain.slice(start))) return true
  }
  return false
}
