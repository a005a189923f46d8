import { isCurated, isTrusted, type SourceRow } from "./catalogue.ts"
import type { Gathered } from "./gather.ts"
import type { ListingRule, Outcome } from "./listing-rules.ts"
import { isPublicSuffix, parentsOf, registrableOf } from "./normal-name.ts"
import { isSetName, SETS, type SetName } from "./sets.ts"
import { type SuffixMatcher, suffixMatcher } from "./suffix-pattern.ts"

/** What the rules look at beside the name itself. */
type Surroundings = {
  readonly gathered: Gathered
  readonly isGovernmentSuffixed: SuffixMatcher
  readonly isEducationSuffixed: SuffixMatcher
}

/** One name under the rules. */
type Case = {
  readonly name: string
  readonly listedBy: readonly SourceRow[]
  /** Proper parents down to the registrable domain. */
  readonly parents: readonly string[]
  readonly around: Surroundings
}

type Screen = {
  readonly rule: ListingRule
  /** The sets that the rule keeps the name out of. */
  readonly of: readonly SetName[]
  /** Whether the rule binds curated sources too. */
  readonly bindsCurated: boolean
  readonly holds: (which: Case, source: SourceRow) => boolean
}

const NAME_SETS: readonly SetName[] = ["disposable", "relay", "government", "education", "personal", "organisation"]

/** The rules that keep a name out of a set whatever else it is; the first that holds is recorded. */
const SCREENS: readonly Screen[] = [
  { rule: "public_suffix", of: NAME_SETS, bindsCurated: true, holds: ({ name }) => isPublicSuffix(name) },
  { rule: "never_list", of: ["disposable"], bindsCurated: true, holds: which => isGuarded(which, "never_disposable") },
  {
    rule: "under_government_suffix",
    of: ["disposable", "personal", "education"],
    bindsCurated: false,
    holds: ({ name, around }) => around.isGovernmentSuffixed(name),
  },
  {
    rule: "under_education_suffix",
    of: ["disposable", "personal"],
    bindsCurated: false,
    holds: ({ name, around }) => around.isEducationSuffixed(name),
  },
  {
    rule: "popular_needs_two",
    of: ["disposable"],
    bindsCurated: false,
    holds: which => isKnown(which) && witnesses(which) < 2,
  },
  {
    rule: "low_trust_only_if_unopposed",
    of: ["disposable"],
    bindsCurated: false,
    holds: which => isAtMost(which, "disposable", ["low"]) && isOpposed(which, "disposable"),
  },
  {
    rule: "low_trust_only_if_unopposed",
    of: ["education"],
    bindsCurated: false,
    holds: which => isAtMost(which, "education", ["low", "medium"]) && isOpposed(which, "education"),
  },
  { rule: "deny_list", of: ["personal"], bindsCurated: false, holds: which => isGuarded(which, "not_personal") },
  {
    rule: "organisation_wins",
    of: ["personal", "education"],
    bindsCurated: false,
    holds: ({ listedBy }) => listedBy.some(source => source.set === "organisation" && isCurated(source)),
  },
  { rule: "stopped", of: ["education"], bindsCurated: false, holds: isStopped },
  {
    rule: "disposable_beats_long_tail",
    of: ["personal"],
    bindsCurated: false,
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
  { set: "relay", curated: true, rule: "relay_wins", overChildren: true },
  { set: "government", curated: true, rule: "curated_government_wins", overChildren: true },
  { set: "education", curated: true, rule: "curated_education_wins", overChildren: true },
  { set: "personal", curated: true, rule: "curated_personal_wins", overChildren: true },
  { set: "relay", curated: false, rule: "relay_wins", overChildren: true },
  { set: "government", curated: false, rule: "government_wins", overChildren: false },
  { set: "disposable", curated: false, rule: "disposable_beats_long_tail", overChildren: false },
  { set: "education", curated: false, rule: "education_beats_long_tail", overChildren: false },
  { set: "personal", curated: false, rule: null, overChildren: false },
] as const satisfies readonly {
  readonly set: SetName
  readonly curated: boolean
  readonly rule: ListingRule | null
  readonly overChildren: boolean
}[]

type Rank = (typeof PRECEDENCE)[number]

const RULED_BY_PARENTS: ReadonlySet<SetName> = new Set(["disposable", "personal"])
const BESIDE_ORGANISATION: ReadonlySet<SetName> = new Set(["education", "government"])

/** What became of every listing: for each name, one outcome for each source in `gathered.names`, in that order. */
export function settle(gathered: Gathered): ReadonlyMap<string, readonly Outcome[]> {
  const around: Surroundings = {
    gathered,
    isGovernmentSuffixed: suffixMatcher(listedIn(gathered, "government_suffix")),
    isEducationSuffixed: suffixMatcher(listedIn(gathered, "education_suffix")),
  }
  const settled = new Map<string, readonly Outcome[]>()
  for (const [name, indexes] of gathered.names) {
    const listedBy = sourcesAt(gathered, indexes)
    // Most names have one dot: what is above them is a public suffix, and no parent.
    const parents = hasParents(name) ? parentsOf(name, registrableOf(name)) : []
    settled.set(name, outcomesOf({ name, listedBy, parents, around }))
  }
  return settled
}

const hasParents = (name: string): boolean => name.indexOf(".") !== name.lastIndexOf(".") && !name.includes("*")

function outcomesOf(which: Case): readonly Outcome[] {
  const screened = which.listedBy.map(
    source => SCREENS.find(screen => bars(screen, source) && screen.holds(which, source))?.rule ?? null,
  )
  const standing = which.listedBy.filter((_, at) => screened[at] === null)
  const winner = PRECEDENCE.find(rank => standing.some(source => isAt(rank, source)))
  const above = rankOfParents(which)
  return which.listedBy.map((source, at) => screened[at] ?? beaten(source, winner, above) ?? "kept")
}

/** The rule by which a listing gives way to a stronger one of the name or of a parent; null when it stands. */
function beaten({ set }: SourceRow, winner: Rank | undefined, above: Rank | undefined): ListingRule | null {
  if (!isSetName(set) || SETS[set].matches === "suffix") return null
  if (above !== undefined && RULED_BY_PARENTS.has(set) && above.set !== set && isBefore(above, winner))
    return above.rule
  if (winner === undefined || winner.set === set) return null
  return set === "organisation" && BESIDE_ORGANISATION.has(winner.set) ? null : winner.rule
}

const isBefore = (above: Rank, winner: Rank | undefined): boolean =>
  winner === undefined || PRECEDENCE.indexOf(above) < PRECEDENCE.indexOf(winner)

/** The strongest rank of a parent that rules over what stands under it. */
function rankOfParents(which: Case): Rank | undefined {
  const above = which.parents.flatMap(parent => listing(which, parent))
  return PRECEDENCE.find(rank => rank.overChildren && above.some(source => isAt(rank, source)))
}

const bars = (screen: Screen, source: SourceRow): boolean =>
  isSetName(source.set) && screen.of.includes(source.set) && (screen.bindsCurated || !isCurated(source))

const isAt = (rank: Rank, source: SourceRow): boolean => source.set === rank.set && (!rank.curated || isCurated(source))

const isGuarded = ({ name, around }: Case, guard: keyof Gathered["guards"]): boolean =>
  around.gathered.guards[guard].has(name)

/** Popular, a known organisation or under one, or a school by a trusted list. Much visited hosts rent out what is under them. */
function isKnown(which: Case): boolean {
  if (isGuarded(which, "popular")) return true
  if (which.listedBy.some(source => source.set === "education" && isTrusted(source))) return true
  return [which.name, ...which.parents].some(level => listing(which, level).some(({ set }) => set === "organisation"))
}

/** How many trusted sources call the name disposable, not counting one that copied the entry from another of them. */
function witnesses({ listedBy }: Case): number {
  const trusted = listedBy.filter(source => source.set === "disposable" && isTrusted(source))
  return trusted.filter(source => !trusted.some(other => source.copies?.includes(other.id) === true)).length
}

/** Whether only sources of these trusts list the name for the set. */
const isAtMost = ({ listedBy }: Case, set: SetName, trusts: readonly SourceRow["trust"][]): boolean =>
  listedBy.every(source => source.set !== set || trusts.includes(source.trust))

/**
 * Whether a guard lists the name or a parent, a curated source a parent, or another set the name. The long tail of the
 * personal set does not count: more than half of it is disposable.
 */
function isOpposed(which: Case, set: SetName): boolean {
  const { name, listedBy, parents } = which
  const { never_disposable, popular, not_personal } = which.around.gathered.guards
  if (listedBy.some(source => source.set !== set && (source.set !== "personal" || isTrusted(source)))) return true
  if ([name, ...parents].some(level => [never_disposable, popular, not_personal].some(guard => guard.has(level))))
    return true
  return parents.some(parent => listing(which, parent).some(source => isCurated(source) && source.set !== set))
}

function isStopped({ name, parents, around }: Case): boolean {
  const { not_education } = around.gathered.guards
  return [name, ...parents].some(level => not_education.has(level))
}

/** The sources that list a level of the name. */
const listing = ({ around: { gathered } }: Case, level: string): readonly SourceRow[] =>
  sourcesAt(gathered, gathered.names.get(level) ?? [])

const sourcesAt = ({ sources }: Gathered, indexes: readonly number[]): readonly SourceRow[] =>
  indexes.map(index => sources[index]).filter(source => source !== undefined)

function listedIn(gathered: Gathered, set: SetName): readonly string[] {
  const isOfSet = gathered.sources.map(source => source.set === set)
  return [...gathered.names].filter(([, indexes]) => indexes.some(index => isOfSet[index])).map(([name]) => name)
}
