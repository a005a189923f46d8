import { countGarbage } from "../../../base/garbage.ts"
import type { ListingOutcome, ListingRule } from "../listing-rules.ts"
import { createSuffixMatcher, type SuffixMatcher } from "../pack/suffix-pattern.ts"
import { isSetName, SETS, type SetName } from "../sets.ts"
import {
  type CatalogueSource,
  isAggregator,
  isCurated,
  isOperators,
  isTrusted,
  trustRank,
} from "../sources/catalogue.ts"
import { isPublicSuffix, parentDomains, registrableDomain } from "../sources/normalized-name.ts"
import type { CollectedEntries } from "./collect-entries.ts"
import { type NameValues, NameValuesBuilder } from "./name-values.ts"

/** What the rules need besides the name itself. */
type RuleContext = {
  readonly collected: CollectedEntries
  readonly isGovernmentSuffixed: SuffixMatcher
  /** Under a suffix kept for education; suffixes where anyone can register are none. */
  readonly isEducationSuffixed: SuffixMatcher
  /** Under a suffix meant for education where anyone can register. */
  readonly isOpenSuffixed: SuffixMatcher
  readonly openSuffixes: ReadonlySet<string>
}

/** One name with the sources that list it. */
type NameCase = {
  readonly name: string
  readonly listedBy: readonly CatalogueSource[]
  /** Proper parents down to the registrable domain. */
  readonly parents: readonly string[]
  readonly context: RuleContext
}

type ExclusionRule = {
  readonly rule: ListingRule
  /** The sets that the rule keeps the name out of. */
  readonly sets: readonly SetName[]
  /** Whether the rule also applies to curated sources. */
  readonly appliesToCurated: boolean
  readonly holds: (candidate: NameCase, source: CatalogueSource) => boolean
}

const NAME_SETS: readonly SetName[] = ["disposable", "relay", "government", "education", "personal", "organisation"]

/** The rules that exclude a name from a set, whatever other sources say. The first that holds is recorded. */
const EXCLUSION_RULES: readonly ExclusionRule[] = [
  { rule: "public_suffix", sets: NAME_SETS, appliesToCurated: true, holds: ({ name }) => isPublicSuffix(name) },
  {
    rule: "never_list",
    sets: ["disposable"],
    appliesToCurated: true,
    holds: (candidate, source) =>
      isGuarded(candidate, "never_disposable") &&
      !(isOperators(source) && candidate.context.collected.neverByDownload.has(candidate.name)),
  },
  {
    rule: "under_government_suffix",
    sets: ["disposable", "personal", "education"],
    appliesToCurated: false,
    holds: ({ name, context }) => context.isGovernmentSuffixed(name),
  },
  {
    rule: "under_education_suffix",
    sets: ["disposable", "personal"],
    appliesToCurated: false,
    holds: ({ name, context }) => context.isEducationSuffixed(name),
  },
  {
    rule: "under_education_suffix",
    sets: ["disposable", "personal"],
    appliesToCurated: false,
    holds: ({ name, context }, source) =>
      context.isOpenSuffixed(name) && !(source.set === "disposable" && isTrusted(source)),
  },
  {
    rule: "open_suffix",
    sets: ["education_suffix"],
    appliesToCurated: true,
    holds: ({ name, context }) => context.openSuffixes.has(name),
  },
  {
    rule: "needs_second_source",
    sets: NAME_SETS,
    appliesToCurated: false,
    holds: ({ listedBy }, source) =>
      source.needs_second_source === true &&
      !listedBy.some(other => other.set === source.set && other !== source && !isAggregator(other)),
  },
  {
    rule: "removed_by_curator",
    sets: ["disposable"],
    appliesToCurated: false,
    holds: isRemoved,
  },
  {
    rule: "popular_needs_two",
    sets: ["disposable"],
    appliesToCurated: false,
    holds: candidate => isWellKnown(candidate) && independentSourceCount(candidate) < 2,
  },
  {
    rule: "low_trust_only_if_unopposed",
    sets: ["disposable"],
    appliesToCurated: false,
    holds: candidate =>
      isListedOnlyByTrusts(candidate, "disposable", ["low", "medium"]) && isContradicted(candidate, "disposable"),
  },
  {
    rule: "low_trust_only_if_unopposed",
    sets: ["education"],
    appliesToCurated: false,
    holds: candidate =>
      isListedOnlyByTrusts(candidate, "education", ["low", "medium"]) && isContradicted(candidate, "education"),
  },
  {
    rule: "deny_list",
    sets: ["personal"],
    appliesToCurated: false,
    holds: candidate => isGuarded(candidate, "not_personal"),
  },
  {
    rule: "organisation_wins",
    sets: ["personal", "education"],
    appliesToCurated: false,
    holds: ({ listedBy }) => listedBy.some(source => source.set === "organisation" && isCurated(source)),
  },
  { rule: "stopped", sets: ["education"], appliesToCurated: false, holds: isExcludedFromEducation },
  {
    rule: "disposable_beats_long_tail",
    sets: ["personal"],
    appliesToCurated: false,
    // Uncurated provider lists copy from disposable lists: a guard that clears a name does not make it a provider.
    holds: ({ listedBy }, source) =>
      !isTrusted(source) && listedBy.some(other => other.set === "disposable" && isTrusted(other)),
  },
]

/**
 * A name is in at most one of these sets: the first row that matches wins, and its rule is recorded for the other sets. A
 * name may also be an `organisation` beside curated education and government, which say more; the other rows exclude
 * `organisation`. `overridesChildren`: the row also excludes subdomains of the name from the disposable and personal sets.
 */
const PRECEDENCE = [
  { set: "relay", curated: true, rule: "relay_wins", overridesChildren: true },
  { set: "government", curated: true, rule: "curated_government_wins", overridesChildren: true },
  { set: "education", curated: true, rule: "curated_education_wins", overridesChildren: true },
  { set: "personal", curated: true, rule: "curated_personal_wins", overridesChildren: true },
  { set: "relay", curated: false, rule: "relay_wins", overridesChildren: true },
  { set: "government", curated: false, rule: "government_wins", overridesChildren: false },
  { set: "disposable", curated: false, rule: "disposable_beats_long_tail", overridesChildren: false },
  { set: "education", curated: false, rule: "education_beats_long_tail", overridesChildren: false },
  { set: "personal", curated: false, rule: null, overridesChildren: false },
] as const satisfies readonly {
  readonly set: SetName
  readonly curated: boolean
  readonly rule: ListingRule | null
  readonly overridesChildren: boolean
}[]

type PrecedenceRow = (typeof PRECEDENCE)[number]

const SETS_OVERRIDDEN_BY_PARENTS: ReadonlySet<SetName> = new Set(["disposable", "personal"])
const SETS_COMPATIBLE_WITH_ORGANISATION: ReadonlySet<SetName> = new Set(["education", "government"])

/** The outcomes of each name: one for each source of `CollectedEntries.sourcesByName`, in that order. */
export type ResolvedOutcomes = NameValues<readonly ListingOutcome[]>

/** Decides for every listing whether it is kept or which rule drops it. */
export function resolveConflicts(collected: CollectedEntries): ResolvedOutcomes {
  const openSuffixes = new Set(namesInSet(collected, "open_education_suffix"))
  const closedSuffixes = namesInSet(collected, "education_suffix").filter(suffix => !openSuffixes.has(suffix))
  const context: RuleContext = {
    collected,
    isGovernmentSuffixed: createSuffixMatcher(namesInSet(collected, "government_suffix")),
    isEducationSuffixed: createSuffixMatcher(closedSuffixes),
    isOpenSuffixed: createSuffixMatcher(openSuffixes),
    openSuffixes,
  }
  const resolved = new NameValuesBuilder<readonly ListingOutcome[]>(collected.sourcesByName.names)
  for (const [name, indexes] of collected.sourcesByName) {
    countGarbage(GARBAGE_OF_RULES)
    const listedBy = sourcesAt(collected, indexes)
    // Most names have one dot, so the only name above them is a public suffix.
    const parents = hasParents(name) ? parentDomains(name, registrableDomain(name)) : []
    resolved.set(name, resolveOutcomes({ name, listedBy, parents, context }))
  }
  return resolved.build()
}

/** The rules leave so many times the garbage of other work on a name. */
const GARBAGE_OF_RULES = 4

const hasParents = (name: string): boolean => name.indexOf(".") !== name.lastIndexOf(".") && !name.includes("*")

function resolveOutcomes(candidate: NameCase): readonly ListingOutcome[] {
  const exclusions = candidate.listedBy.map(
    source =>
      EXCLUSION_RULES.find(exclusion => applies(exclusion, source) && exclusion.holds(candidate, source))?.rule ?? null,
  )
  const remaining = candidate.listedBy.filter((_, index) => exclusions[index] === null)
  const winner = PRECEDENCE.find(row => remaining.some(source => isInRow(row, source)))
  const parentRow = strongestParentRow(candidate)
  return candidate.listedBy.map((source, index) => exclusions[index] ?? losingRule(source, winner, parentRow) ?? "kept")
}

/** The rule that drops a listing because of a stronger one of the name or of a parent; null: it is kept. */
function losingRule(
  { set }: CatalogueSource,
  winner: PrecedenceRow | undefined,
  parentRow: PrecedenceRow | undefined,
): ListingRule | null {
  if (!isSetName(set) || SETS[set].matches === "suffix") return null
  const isParentsOtherSet = parentRow !== undefined && parentRow.set !== set && SETS_OVERRIDDEN_BY_PARENTS.has(set)
  if (isParentsOtherSet && outranks(parentRow, winner)) return parentRow.rule
  if (winner === undefined || winner.set === set) return null
  return set === "organisation" && SETS_COMPATIBLE_WITH_ORGANISATION.has(winner.set) ? null : winner.rule
}

const outranks = (row: PrecedenceRow, winner: PrecedenceRow | undefined): boolean =>
  winner === undefined || PRECEDENCE.indexOf(row) < PRECEDENCE.indexOf(winner)

/** The first row that a parent of the name is in and that overrides children. */
function strongestParentRow(candidate: NameCase): PrecedenceRow | undefined {
  const parentSources = candidate.parents.flatMap(parent => sourcesListing(candidate, parent))
  return PRECEDENCE.find(row => row.overridesChildren && parentSources.some(source => isInRow(row, source)))
}

const applies = (exclusion: ExclusionRule, source: CatalogueSource): boolean =>
  isSetName(source.set) && exclusion.sets.includes(source.set) && (exclusion.appliesToCurated || !isCurated(source))

const isInRow = (row: PrecedenceRow, source: CatalogueSource): boolean =>
  source.set === row.set && (!row.curated || isCurated(source))

const isGuarded = ({ name, context }: NameCase, guard: keyof CollectedEntries["guards"]): boolean =>
  context.collected.guards[guard].has(name)

/**
 * Whether the name is popular, a school by a trusted list, or a known organisation or a subdomain of one. Subdomains of
 * popular names do not count, since many popular hosts rent them out.
 */
function isWellKnown(candidate: NameCase): boolean {
  if (isGuarded(candidate, "popular")) return true
  if (candidate.listedBy.some(source => source.set === "education" && isTrusted(source))) return true
  return [candidate.name, ...candidate.parents].some(level =>
    sourcesListing(candidate, level).some(({ set }) => set === "organisation"),
  )
}

/**
 * Whether curators took the name out of a list that is trusted more than every source that still lists it. Aggregators do not
 * count, whatever their number: they have only not followed the removal.
 */
function isRemoved({ name, listedBy, context }: NameCase): boolean {
  const rank = context.collected.removals.get(name)
  return rank !== undefined && !listedBy.some(source => isDisposableWitness(source) && trustRank(source) >= rank)
}

/** The number of trusted sources that call the name disposable of their own knowledge. */
const independentSourceCount = ({ listedBy }: NameCase): number =>
  listedBy.filter(source => isDisposableWitness(source) && isTrusted(source)).length

const isDisposableWitness = (source: CatalogueSource): boolean => source.set === "disposable" && !isAggregator(source)

/** Whether only sources of these trusts list the name for the set. */
const isListedOnlyByTrusts = (
  { listedBy }: NameCase,
  set: SetName,
  trusts: readonly CatalogueSource["trust"][],
): boolean => listedBy.every(source => source.set !== set || trusts.includes(source.trust))

/**
 * Whether another set lists the name, a guard lists the name or a parent, or a curated source of another set lists a
 * parent. Sources of the personal set that are not trusted do not count: more than half of their names are disposable.
 */
function isContradicted(candidate: NameCase, set: SetName): boolean {
  const { name, listedBy, parents } = candidate
  const { never_disposable, popular, not_personal } = candidate.context.collected.guards
  if (listedBy.some(source => source.set !== set && (source.set !== "personal" || isTrusted(source)))) return true
  if ([name, ...parents].some(level => [never_disposable, popular, not_personal].some(guard => guard.has(level))))
    return true
  return parents.some(parent =>
    sourcesListing(candidate, parent).some(source => isCurated(source) && source.set !== set),
  )
}

function isExcludedFromEducation({ name, parents, context }: NameCase): boolean {
  const { not_education } = context.collected.guards
  return [name, ...parents].some(level => not_education.has(level))
}

/** The sources that list a level of the name. */
const sourcesListing = ({ context: { collected } }: NameCase, level: string): readonly CatalogueSource[] =>
  sourcesAt(collected, collected.sourcesByName.get(level) ?? [])

const sourcesAt = ({ sources }: CollectedEntries, indexes: readonly number[]): readonly CatalogueSource[] =>
  indexes.map(index => sources[index]).filter(source => source !== undefined)

function namesInSet(collected: CollectedEntries, set: SetName): readonly string[] {
  const isOfSet = collected.sources.map(source => source.set === set)
  const names: string[] = []
  for (const [name, indexes] of collected.sourcesByName) if (indexes.some(index => isOfSet[index])) names.push(name)
  return names
}
