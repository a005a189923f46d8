import type { ListingOutcome } from "../listing-rules.ts"
import { literalTail, patternMatchStart } from "../pack/suffix-pattern.ts"
import { isSetName, SET_BITS, SET_NAMES, SETS, SUFFIX_SETS_MASK } from "../sets.ts"
import { parentDomains, registrableDomain } from "../sources/normalized-name.ts"
import type { CollectedEntries } from "./collect-entries.ts"

type ResolvedOutcomes = ReadonlyMap<string, readonly ListingOutcome[]>

/** The masks of the sets that hold each name or pattern; those held by none are not in it. */
type SetMasks = Map<string, number>

/**
 * Drops the listings of names whose nearest listed parent, or suffix, already gives the same category, by the rule
 * `redundant`: no answer changes, a set counts what it adds, and who lists the name can still be told.
 */
export function dropRedundant(gathered: CollectedEntries, settled: ResolvedOutcomes): ResolvedOutcomes {
  const slim = new Map(settled)
  const masks = setMasksByName(gathered, settled)
  const patterns = Map.groupBy(
    [...masks.keys()].filter(name => name.includes("*")),
    literalTail,
  )
  // A parent is shorter than its children, so it is settled before them.
  const shortestFirst = [...masks.keys()].filter(name => !name.includes("*")).sort((a, b) => a.length - b.length)
  for (const name of shortestFirst) {
    const mask = masks.get(name) ?? 0
    const without = maskWithoutOwnEntry(masks, patterns, name)
    // A suffix holds where a name does not, so it is never redundant.
    if (without === 0 || (mask & SUFFIX_SETS_MASK) !== 0) continue
    const category = soleCategory(mask)
    if (category === null || soleCategory(without) !== category) continue
    slim.set(
      name,
      (slim.get(name) ?? []).map(outcome => (outcome === "kept" ? "redundant" : outcome)),
    )
    masks.delete(name)
  }
  return slim
}

function setMasksByName({ sourcesByName, sources }: CollectedEntries, settled: ResolvedOutcomes): SetMasks {
  const bits = sources.map(({ set }) => (isSetName(set) ? SET_BITS[set] : 0))
  const masks: SetMasks = new Map()
  for (const [name, outcomes] of settled) {
    let mask = 0
    for (const [at, index] of (sourcesByName.get(name) ?? []).entries())
      if (outcomes[at] === "kept") mask |= bits[index] ?? 0
    if (mask !== 0) masks.set(name, mask)
  }
  return masks
}

/** The one category that a mask's sets speak for; null when they speak for several, or for none. */
function soleCategory(mask: number): string | null {
  const categories = new Set(SET_NAMES.filter(set => (mask & SET_BITS[set]) !== 0).map(set => SETS[set].category))
  const [only] = categories
  return categories.size === 1 && only !== undefined ? only : null
}

/** The mask with which a lookup of `name` would answer if `name` itself were left out. */
function maskWithoutOwnEntry(masks: SetMasks, patterns: ReadonlyMap<string, readonly string[]>, name: string): number {
  const above = parentDomains(name, "")
  if (!above.some(parent => masks.has(parent) || patterns.has(parent))) return 0
  const registrable = registrableDomain(name)
  const matching = above
    .flatMap(parent => patterns.get(parent) ?? [])
    .map(pattern => ({ mask: masks.get(pattern) ?? 0, start: patternMatchStart(name, pattern) }))
  for (const level of [name, ...above]) {
    const entry = level === name ? 0 : (masks.get(level) ?? 0)
    const held = level.length < registrable.length ? entry & SUFFIX_SETS_MASK : entry
    const matched = matching.filter(({ start }) => start === name.length - level.length)
    const mask = matched.reduce((bits, match) => bits | match.mask, held)
    if (mask !== 0) return mask
  }
  return 0
}
