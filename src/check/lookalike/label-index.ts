import { foldConfusables, foldedHash } from "./confusables.ts"

/** A known name that others mistype or imitate. */
export type LookalikeTarget = {
  /** The registered name as A-labels, lower case. */
  readonly name: string
  readonly kind: "provider" | "organisation"
}

/** A target split into label and suffix: `amazon` and `co.uk`. */
export type KnownName = LookalikeTarget & {
  readonly label: string
  readonly suffix: string
  /** Index in the order of the targets, 0 for the first. */
  readonly rank: number
}

/** The first label of a name, and the text after its dot (empty if the name is a single label). */
export function splitLabel(name: string): readonly [label: string, suffix: string] {
  const dot = name.indexOf(".")
  return dot < 0 ? [name, ""] : [name.slice(0, dot), name.slice(dot + 1)]
}

/** A label with the known names that have it, most popular first. */
export type KnownLabel = { readonly label: string; readonly names: readonly [KnownName, ...KnownName[]] }

/** The suffix of a registered name, such as `co.uk` or `com`; `acme.com` does not match. */
const SUFFIX_PATTERN = /^([a-z]{2,4}\.)?[a-z]{2,}$/

/**
 * Groups targets by their label, in order of rank. Names that are not a label under a suffix are left out, and so are
 * A-labels.
 */
export function groupByLabel(targets: readonly LookalikeTarget[]): readonly KnownLabel[] {
  const groups = new Map<string, { label: string; names: [KnownName, ...KnownName[]] }>()
  for (const [rank, target] of targets.entries()) {
    const [label, suffix] = splitLabel(target.name)
    if (!SUFFIX_PATTERN.test(suffix) || label.startsWith("xn--")) continue
    const name = { ...target, label, suffix, rank }
    const group = groups.get(label)
    if (group === undefined) groups.set(label, { label, names: [name] })
    else group.names.push(name)
  }
  return [...groups.values()]
}

/**
 * Finds known labels by a text that looks like them: both fold to the same text (`foldConfusables`). A hash table with
 * open addressing; a slot holds the index of a label plus one, 0 if it is free.
 */
export class FoldedLabelIndex {
  readonly #slots: Uint32Array
  readonly #hashes: Uint32Array
  readonly #labels: readonly KnownLabel[]

  constructor(labels: readonly KnownLabel[]) {
    this.#labels = labels
    const size = 2 ** Math.ceil(Math.log2(Math.max(1, labels.length) * 4))
    this.#slots = new Uint32Array(size)
    this.#hashes = new Uint32Array(labels.length)
    for (const [index, { label }] of labels.entries()) {
      const hash = foldedHash(label, 0, label.length)
      this.#hashes[index] = hash
      let slot = hash & (size - 1)
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (size - 1)
      this.#slots[slot] = index + 1
    }
  }

  /** The known labels that fold to the same text as `text.slice(start, end)`, most popular first; usually none. */
  find(text: string, start: number, end: number): readonly KnownLabel[] {
    const hash = foldedHash(text, start, end)
    const last = this.#slots.length - 1
    let matches: KnownLabel[] | null = null
    for (let slot = hash & last; this.#slots[slot] !== 0; slot = (slot + 1) & last) {
      const index = (this.#slots[slot] ?? 0) - 1
      const known = this.#labels[index]
      if (this.#hashes[index] !== hash || known === undefined) continue
      if (foldConfusables(known.label) !== foldConfusables(text.slice(start, end))) continue
      matches ??= []
      matches.push(known)
    }
    return matches ?? NO_LABELS
  }
}

const NO_LABELS: readonly KnownLabel[] = []
