import type { ListingOutcome, ListingRule } from "../listing-rules.ts"
import { createSuffixMatcher, type SuffixMatcher } from "../pack/suffix-pattern.ts"
import { isSetName, SETS, type SetName } from "../sets.ts"
import { type CatalogueSource, isCurated, isTrusted } from "../sources/catalogue.ts"
import { isPublicSuffix, parentDomains, registrableDomain } from "../sources/normalized-name.ts"
import type { CollectedEntries } from "./collect-entries.ts"

/** What the rules look at beside the name itself. */
type RuleContext = {
  readonly collected: CollectedEntries
  readonly isGovernmentSuffixed: SuffixMatcher
  readonly isEducationSuffixed: SuffixMatcher
}

/** One name under the rules. */
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
  /** Whether the rule binds curated sources too. */
  readonly appliesToCurated: boolean
  readonly holds: (which: NameCase, source: CatalogueSource) => boolean
}

const NAME_SETS: readonly SetName[] = ["disposable", "relay", "government", "education", "personal", "organisation"]

/** The rules that keep a name out of a set whatever else it is; the first that holds is recorded. */
const EXCLUSION_RULES: readonly ExclusionRule[] = [
  { rule: "public_suffix", sets: NAME_SETS, appliesToCurated: true, holds: ({ name }) => isPublicSuffix(name) },
  {
    rule: "never_list",
    sets: ["disposable"],
    appliesToCurated: true,
    holds: which => isGuarded(which, "never_disposable"),
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
    rule: "popular_needs_two",
    sets: ["disposable"],
    appliesToCurated: false,
    holds: which => isWellKnown(which) && independentSourceCount(which) < 2,
  },
  {
    rule: "low_trust_only_if_unopposed",
    sets: ["disposable"],
    appliesToCurated: false,
    holds: which => isListedOnlyByTrusts(which, "disposable", ["low"]) && isContradicted(which, "disposable"),
  },
  {
    rule: "low_trust_only_if_unopposed",
    sets: ["education"],
    appliesToCurated: false,
    holds: which => isListedOnlyByTrusts(which, "education", ["low", "medium"]) && isContradicted(which, "education"),
  },
  { rule: "deny_list", sets: ["personal"], appliesToCurated: false, holds: which => isGuarded(which, "not_personal") },
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
    // The long tail copies from disposable lists: a guard that clears a name of one does not make it a provider.
    holds: ({ listedBy }, source) =>
      !isTrusted(source) && listedBy.some(other => other.set === "disposable" && isTrusted(other)),
  },
]

/**
 * A name ends in one of these sets at most: the first row that it is in wins, and its rule is recorded for the others.
 * `organisation` may stand beside curated education and government, since it only says less; it gives
 * way to the rest. `overChildren`: the row also keeps what stands under the name out of the disposable and personal sets.
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

const RULED_BY_PARENTS: ReadonlySet<SetName> = new Set(["disposable", "personal"])
const BESIDE_ORGANISATION: ReadonlySet<SetName> = new Set(["education", "government"])

/** What became of every listing: for each name, one outcome for each source in `gathered.names`, in that order. */
export function resolveConflicts(collected: CollectedEntries): ReadonlyMap<string, readonly ListingOutcome[]> {
  const context: RuleContext = {
    collected,
    isGovernmentSuffixed: createSuffixMatcher(namesInSet(collected, "government_suffix")),
    isEducationSuffixed: createSuffixMatcher(namesInSet(collected, "education_suffix")),
  }
  const settled = new Map<string, readonly ListingOutcome[]>()
  for (const [name, indexes] of collected.sourcesByName) {
    const listedBy = sourcesAt(collected, indexes)
    // Most names have one dot: what is above them is a public suffix, and no parent.
    const parents = hasParents(name) ? parentDomains(name, registrableDomain(name)) : []
    settled.set(name, resolveOutcomes({ name, listedBy, parents, context }))
  }
  return settled
}

const hasParents = (name: string): boolean => name.indexOf(".") !== name.lastIndexOf(".") && !name.includes("*")

function resolveOutcomes(which: NameCase): readonly ListingOutcome[] {
  const screened = which.listedBy.map(
    source => EXCLUSION_RULES.find(screen => applies(screen, source) && screen.holds(which, source))?.rule ?? null,
  )
  const standing = which.listedBy.filter((_, at) => screened[at] === null)
  const winner = PRECEDENCE.find(rank => standing.some(source => isInRow(rank, source)))
  const above = strongestParentRow(which)
  return which.listedBy.map((source, at) => screened[at] ?? losingRule(source, winner, above) ?? "kept")
}

/** The rule by which a listing gives way to a stronger one of the name or of a parent; null when it stands. */
function losingRule(
  { set }: CatalogueSource,
  winner: PrecedenceRow | undefined,
  above: PrecedenceRow | undefined,
): ListingRule | null {
  if (!isSetName(set) || SETS[set].matches === "suffix") return null
  if (above !== undefined && RULED_BY_PARENTS.has(set) && above.set !== set && outranks(above, winner))
    return above.rule
  if (winner === undefined || winner.set === set) return null
  return set === "organisation" && BESIDE_ORGANISATION.has(winner.set) ? null : winner.rule
}

const outranks = (above: PrecedenceRow, winner: PrecedenceRow | undefined): boolean =>
  winner === undefined || PRECEDENCE.indexOf(above) < PRECEDENCE.indexOf(winner)

/** The strongest rank of a parent that rules over what stands under it. */
function strongestParentRow(which: NameCase): PrecedenceRow | undefined {
  const above = which.parents.flatMap(parent => sourcesListing(which, parent))
  return PRECEDENCE.find(rank => rank.overridesChildren && above.some(source => isInRow(rank, source)))
}

const applies = (screen: ExclusionRule, source: CatalogueSource): boolean =>
  isSetName(source.set) && screen.sets.includes(source.set) && (screen.appliesToCurated || !isCurated(source))

const isInRow = (rank: PrecedenceRow, source: CatalogueSource): boolean =>
  source.set === rank.set && (!rank.curated || isCurated(source))

const isGuarded = ({ name, context }: NameCase, guard: keyof CollectedEntries["guards"]): boolean =>
  context.collected.guards[guard].has(name)

/** Popular, a known organisation or under one, or a school by a trusted list. Much visited hosts rent out what is under them. */
function isWellKnown(which: NameCase): boolean {
  if (isGuarded(which, "popular")) return true
  if (which.listedBy.some(source => source.set === "education" && isTrusted(source))) return true
  return [which.name, ...which.parents].some(level =>
    sourcesListing(which, level).some(({ set }) => set === "organisation"),
  )
}

/** How many trusted sources call the name disposable, not counting one that copied the entry from another of them. */
function independentSourceCount({ listedBy }: NameCase): number {
  const trusted = listedBy.filter(source => source.set === "disposable" && isTrusted(source))
  return trusted.filter(source => !trusted.some(other => source.copies?.includes(other.id) === true)).length
}

/** Whether only sources of these trusts list the name for the set. */
const isListedOnlyByTrusts = (
  { listedBy }: NameCase,
  set: SetName,
  trusts: readonly CatalogueSource["trust"][],
): boolean => listedBy.every(source => source.set !== set || trusts.includes(source.trust))

/**
 * Whether a guard lists the name or a parent, a curated source a parent, or another set the name. The long tail of the
 * personal set does not count: more than half of it is disposable.
 */
function isContradicted(which: NameCase, set: SetName): boolean {
  const { name, listedBy, parents } = which
  const { never_disposable, popular, not_personal } = which.context.collected.guards
  if (listedBy.some(source => source.set !== set && (source.set !== "personal" || isTrusted(source)))) return true
  if ([name, ...parents].some(level => [never_disposable, popular, not_personal].some(guard => guard.has(level))))
    return true
  return parents.some(parent => sourcesListing(which, parent).some(source => isCurated(source) && source.set !== set))
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

function namesInSet(gathered: CollectedEntries, set: SetName): readonly string[] {
  const isOfSet = gathered.sources.map(source => source.set === set)
  return [...gathered.sourcesByName]
    .filter(([, indexes]) => indexes.some(index => isOfSet[index]))
    .map(([name]) => name)
}
