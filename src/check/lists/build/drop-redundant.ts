import { literalTail, patternMatchStart } from "../pack/suffix-pattern.ts"
import { isSetName, LOW_TRUST_BIT, SET_BITS, SET_NAMES, SETS, type SetName, SUFFIX_SETS_MASK } from "../sets.ts"
import { parentDomains, registrableDomain } from "../sources/normalized-name.ts"
import type { CollectedEntries } from "./collect-entries.ts"
import type { ResolvedOutcomes } from "./resolve-conflicts.ts"

/** For each name or pattern that is in a set: the mask of its sets. */
type SetMasks = Map<string, number>

/**
 * Drops the kept listings of a name whose nearest listed parent or suffix already gives the same verdict, by the rule
 * `redundant`. No verdict changes; the counts of a set show only what it adds; the listings remain in the pack
 * (`DECISIONS 16`).
 */
export function dropRedundant(collected: CollectedEntries, resolved: ResolvedOutcomes): ResolvedOutcomes {
  const result = new Map(resolved)
  const masks = setMasksByName(collected, resolved)
  const patterns = Map.groupBy(
    [...masks.keys()].filter(name => name.includes("*")),
    literalTail,
  )
  // A parent is shorter than its children, so it is decided before them.
  const shortestFirst = [...masks.keys()].filter(name => !name.includes("*")).sort((a, b) => a.length - b.length)
  for (const name of shortestFirst) {
    const mask = masks.get(name) ?? 0
    const without = maskWithoutOwnEntry(masks, patterns, name)
    // A suffix also matches above the registrable domain, where a name does not, so it is never redundant.
    if (without === 0 || (mask & SUFFIX_SETS_MASK) !== 0) continue
    const verdict = soleVerdict(mask)
    if (verdict === null || soleVerdict(without) !== verdict) continue
    result.set(
      name,
      (result.get(name) ?? []).map(outcome => (outcome === "kept" ? "redundant" : outcome)),
    )
    masks.delete(name)
  }
  return result
}

function setMasksByName({ sourcesByName, sources }: CollectedEntries, resolved: ResolvedOutcomes): SetMasks {
  const bits = sources.map(({ set, trust }) =>
    isSetName(set) ? SET_BITS[set] | (trust === "low" ? 0 : TRUSTED_BIT) : 0,
  )
  const masks: SetMasks = new Map()
  for (const [name, outcomes] of resolved) {
    let mask = 0
    for (const [position, sourceIndex] of (sourcesByName.get(name) ?? []).entries())
      if (outcomes[position] === "kept") mask |= bits[sourceIndex] ?? 0
    const isLowTrust = (mask & SET_BITS.disposable) !== 0 && (mask & TRUSTED_BIT) === 0
    if (mask !== 0) masks.set(name, (mask & ~TRUSTED_BIT) | (isLowTrust ? LOW_TRUST_BIT : 0))
  }
  return masks
}

/** While a mask is gathered: a source of more than low trust is among those that keep the name. */
const TRUSTED_BIT = 1 << 15

/** What a verdict by the sets of a mask rests on; null: they have several categories, or there are no sets. */
function soleVerdict(mask: number): string | null {
  const verdicts = new Set(SET_NAMES.filter(set => (mask & SET_BITS[set]) !== 0).map(verdictOfSet))
  const [only] = verdicts
  if (verdicts.size !== 1 || only === undefined) return null
  return (mask & LOW_TRUST_BIT) === 0 ? only : `${only} of low trust`
}

/** Under an open suffix a named school says more than the suffix. */
const verdictOfSet = (set: SetName): string => (set === "open_education_suffix" ? set : SETS[set].category)

/** The mask that a lookup of `name` would return if `name` itself were not listed. */
function maskWithoutOwnEntry(masks: SetMasks, patterns: ReadonlyMap<string, readonly string[]>, name: string): number {
  const parents = parentDomains(name, "")
  if (!parents.some(parent => masks.has(parent) || patterns.has(parent))) return 0
  const registrable = registrableDomain(name)
  const matching = parents
    .flatMap(parent => patterns.get(parent) ?? [])
    .map(pattern => ({ mask: masks.get(pattern) ?? 0, start: patternMatchStart(name, pattern) }))
  for (const level of [name, ...parents]) {
    const listedMask = level === name ? 0 : (masks.get(level) ?? 0)
    const entryMask = level.length < registrable.length ? listedMask & SUFFIX_SETS_MASK : listedMask
    const atLevel = matching.filter(({ start }) => start === name.length - level.length)
    const mask = atLevel.reduce((bits, match) => bits | match.mask, entryMask)
    if (mask !== 0) return mask
  }
  return 0
}
