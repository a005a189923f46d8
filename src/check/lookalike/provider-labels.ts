import { keyingDistance } from "./keying-distance.ts"
import type { KnownLabel, KnownName } from "./label-index.ts"
import { findTypo, isOneEditApart } from "./typo.ts"
import { isFarMoreUsed } from "./typo-likelihood.ts"

/** A label with the provider names that have it, most popular first. */
export type ProviderLabel = { readonly label: string; readonly names: readonly [KnownName, ...KnownName[]] }

/** The labels that a provider has, each with the provider names only. */
export function providerLabels(labels: readonly KnownLabel[]): readonly ProviderLabel[] {
  return labels.flatMap(({ label, names }) => {
    const [first, ...others] = names.filter(({ kind }) => kind === "provider")
    return first === undefined ? [] : [{ label, names: [first, ...others] as const }]
  })
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
