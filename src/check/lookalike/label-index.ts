import { foldConfusables, foldedHash } from "./confusables.ts"

/** A listed name that people mistype or imitate. */
export type LookalikeTarget = {
  /** The registered name as A-labels, lower case. */
  readonly name: string
  readonly kind: "provider" | "organisation"
}

/** A target taken apart: `amazon` and `co.uk`. */
export type KnownName = LookalikeTarget & {
  readonly label: string
  readonly suffix: string
  /** Place in the order of the targets, 0 first. */
  readonly rank: number
}

/** The first label of a name, and what follows its dot (empty: the name is one label). */
export function splitLabel(name: string): readonly [label: string, suffix: string] {
  const dot = name.indexOf(".")
  return dot < 0 ? [name, ""] : [name.slice(0, dot), name.slice(dot + 1)]
}

/** A label that listed names share, with those names, most popular first. */
export type KnownLabel = { readonly label: string; readonly names: readonly [KnownName, ...KnownName[]] }

/** `co.uk`, `com`: what stands behind the label of a registered name; `acme.com` is none. */
const SUFFIX_PATTERN = /^([a-z]{2,4}\.)?[a-z]{2,}$/

/**
 * Groups targets by their label, in order of rank. Names that are no label under a suffix, and A-labels, are left out.
 */
export function groupByLabel(targets: readonly LookalikeTarget[]): readonly KnownLabel[] {
  const groups = new Map<string, { label: string; names: [KnownName, ...KnownName[]] }>()
  for (const [rank, target] of targets.entries()) {
    const [label, suffix] = splitLabel(target.name)
    if (!SUFFIX_PATTERN.test(suffix) || label.startsWith("xn--")) continue
    const listed = { ...target, label, suffix, rank }
    const group = groups.get(label)
    if (group === undefined) groups.set(label, { label, names: [listed] })
    else group.names.push(listed)
  }
  return [...groups.values()]
}

/**
 * Finds listed labels by a text that looks like them. Layout: an open table of slots, each the place of a label in the
 * list plus one (0: free), found by the fold's hash.
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
    for (const [place, { label }] of labels.entries()) {
      const hash = foldedHash(label, 0, label.length)
      this.#hashes[place] = hash
      let slot = hash & (size - 1)
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (size - 1)
      this.#slots[slot] = place + 1
    }
  }

  /** Listed labels that fold as `text.slice(start, end)` does, the most popular first; none is the usual case. */
  find(text: string, start: number, end: number): readonly KnownLabel[] {
    const hash = foldedHash(text, start, end)
    const last = this.#slots.length - 1
    let found: KnownLabel[] | null = null
    for (let slot = hash & last; this.#slots[slot] !== 0; slot = (slot + 1) & last) {
      const place = (this.#slots[slot] ?? 0) - 1
      const listed = this.#labels[place]
      if (this.#hashes[place] !== hash || listed === undefined) continue
      if (foldConfusables(listed.label) !== foldConfusables(text.slice(start, end))) continue
      found ??= []
      found.push(listed)
    }
    return found ?? NO_LABELS
  }
}

const NO_LABELS: readonly KnownLabel[] = []
