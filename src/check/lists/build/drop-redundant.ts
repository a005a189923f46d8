import { countGarbage } from "../../../base/garbage.ts"
import type { ListingOutcome } from "../listing-rules.ts"
import type { NameNumbers } from "../name-numbers.ts"
import { literalTail, patternMatchStart } from "../pack/suffix-pattern.ts"
import {
  isSetName,
  SET_BITS,
  SET_NAMES,
  SETS,
  type SetName,
  STRENGTH_BITS,
  STRENGTH_MASK,
  SUFFIX_SETS_MASK,
} from "../sets.ts"
import type { CatalogueSource } from "../sources/catalogue.ts"
import { parentDomains, registrableDomain } from "../sources/normalized-name.ts"
import type { CollectedEntries } from "./collect-entries.ts"
import { listingStrength } from "./listing-strength.ts"
import type { ResolvedOutcomes } from "./resolve-conflicts.ts"

/** The masks of the sets of names and patterns; 0: a name is in no set. */
type SetMasks = { readonly names: NameNumbers; readonly masks: Uint16Array }

const maskOf = ({ names, masks }: SetMasks, name: string): number => masks[names.numberOf(name)] ?? 0

/**
 * Drops the kept listings of a name whose nearest listed parent or suffix already gives the same verdict, by the rule
 * `redundant`, or the same with more strength: a weak listing does not make a strong one of the parent doubtful. No other
 * verdict changes; the counts of a set show only what it adds; the listings remain in the pack (`DECISIONS 16`).
 */
export function dropRedundant(collected: CollectedEntries, resolved: ResolvedOutcomes): ResolvedOutcomes {
  const setMasks = setMasksByName(collected, resolved)
  const { names, masks } = setMasks
  const redundant: (readonly [name: string, outcomes: readonly ListingOutcome[]])[] = []
  const { patterns, shortestFirst } = patternsAndNames(setMasks)
  // A parent is shorter than its children, so it is decided before them.
  for (const number of shortestFirst) {
    countGarbage(GARBAGE_OF_PARENTS)
    const name = names.nameOf(number)
    const mask = masks[number] ?? 0
    const without = maskWithoutOwnEntry(setMasks, patterns, name)
    // A suffix also matches above the registrable domain, where a name does not, so it is never redundant.
    if (without === 0 || (mask & SUFFIX_SETS_MASK) !== 0) continue
    const verdict = soleVerdict(mask)
    if (verdict === null || soleVerdict(without) !== verdict || isWeaker(without, mask)) continue
    redundant.push([name, (resolved.get(name) ?? []).map(outcome => (outcome === "kept" ? "redundant" : outcome))])
    masks[number] = 0
  }
  return resolved.with(redundant)
}

/** Looking at the parents of a name leaves so many times the garbage of other work on it. */
const GARBAGE_OF_PARENTS = 3

/** The patterns that are in a set, by their literal tails, and the numbers of the names that are, shortest name first. */
function patternsAndNames({ names, masks }: SetMasks) {
  const patterns = new Map<string, string[]>()
  const numbers: number[] = []
  for (let number = 0; number < masks.length; number++) {
    if (masks[number] === 0) continue
    if (!names.isPattern(number)) numbers.push(number)
    else {
      const pattern = names.nameOf(number)
      patterns.set(literalTail(pattern), [...(patterns.get(literalTail(pattern)) ?? []), pattern])
    }
  }
  const shortestFirst = Uint32Array.from(numbers).sort((a, b) => names.lengthOf(a) - names.lengthOf(b))
  return { patterns, shortestFirst }
}

function setMasksByName({ sourcesByName, sources }: CollectedEntries, resolved: ResolvedOutcomes): SetMasks {
  const { names } = resolved
  const masks = new Uint16Array(names.size)
  for (let number = 0; number < names.size; number++) {
    countGarbage()
    const outcomes = resolved.at(number) ?? []
    const kept = (sourcesByName.at(number) ?? []).filter((_, position) => outcomes[position] === "kept")
    masks[number] = maskOfSources(kept.map(index => sources[index]).filter(source => source !== undefined))
  }
  return { names, masks }
}

/** The mask of a name by the sources whose listings are kept. */
function maskOfSources(kept: readonly CatalogueSource[]): number {
  const mask = kept.reduce((bits, { set }) => (isSetName(set) ? bits | SET_BITS[set] : bits), 0)
  const disposable = kept.filter(({ set }) => set === "disposable")
  return disposable.length === 0 ? mask : mask | STRENGTH_BITS[listingStrength(disposable)]
}

/** What a verdict by the sets of a mask is; null: they have several categories, or there are no sets. */
function soleVerdict(mask: number): string | null {
  const verdicts = new Set(SET_NAMES.filter(set => (mask & SET_BITS[set]) !== 0).map(verdictOfSet))
  const [only] = verdicts
  return verdicts.size !== 1 || only === undefined ? null : only
}

/** Whether the disposable listings of a parent are weaker than those of the name. The weaker, the greater the bits. */
const isWeaker = (ofParent: number, own: number): boolean => (ofParent & STRENGTH_MASK) > (own & STRENGTH_MASK)

/** Under an open suffix a named school says more than the suffix. */
const verdictOfSet = (set: SetName): string => (set === "open_education_suffix" ? set : SETS[set].category)

/** The mask that a lookup of `name` would return if `name` itself were not listed. */
function maskWithoutOwnEntry(
  setMasks: SetMasks,
  patterns: ReadonlyMap<string, readonly string[]>,
  name: string,
): number {
  const parents = parentDomains(name, "")
  if (!parents.some(parent => maskOf(setMasks, parent) !== 0 || patterns.has(parent))) return 0
  const registrable = registrableDomain(name)
  const matching = parents
    .flatMap(parent => patterns.get(parent) ?? [])
    .map(pattern => ({ mask: maskOf(setMasks, pattern), start: patternMatchStart(name, pattern) }))
  for (const level of [name, ...parents]) {
    const listedMask = level === name ? 0 : maskOf(setMasks, level)
    const entryMask = level.length < registrable.length ? listedMask & SUFFIX_SETS_MASK : listedMask
    const atLevel = matching.filter(({ start }) => start === name.length - level.length)
    const mask = atLevel.reduce((bits, match) => bits | match.mask, entryMask)
    if (mask !== 0) return mask
  }
  return 0
}
