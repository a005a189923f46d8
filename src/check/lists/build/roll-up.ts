import type { ListingOutcome } from "../listing-rules.ts"
import type { ListingStrength } from "../sets.ts"
import type { CatalogueSource } from "../sources/catalogue.ts"
import { isPublicSuffix, registrableDomain } from "../sources/normalized-name.ts"
import type { CollectedEntries } from "./collect-entries.ts"
import { listingStrength, strengthRank } from "./listing-strength.ts"
import type { ResolvedOutcomes } from "./resolve-conflicts.ts"

/** A registrable domain with so many disposable names below it is disposable itself. */
export const ROLL_UP_NAMES_MIN = 3

/** The entries with the sources that the roll-up adds, and their outcomes. */
export type RolledUp = { readonly collected: CollectedEntries; readonly resolved: ResolvedOutcomes }

/**
 * Lists a registrable domain as disposable if at least `ROLL_UP_NAMES_MIN` names below it are, with the strength of the second
 * best of them, unless its own listings are as strong: the names below it have the same witnesses. A domain that another set, a
 * guard or a curator's removal names is left alone, and so is a public suffix. Each strength has a source of its own, so that the
 * pack, the manifest and `lists lookup` tell which listings are rolled up.
 */
export function rollUp(collected: CollectedEntries, resolved: ResolvedOutcomes): RolledUp {
  const strengthByName = new Map<string, ListingStrength>()
  for (const [name, strengths] of strengthsBelow(collected, resolved)) {
    const [, secondBest] = strengths.sort((a, b) => strengthRank(b) - strengthRank(a))
    if (secondBest === undefined || strengths.length < ROLL_UP_NAMES_MIN || !isUnclaimed(name, collected, resolved))
      continue
    const own = ownStrength(collected, name, resolved.get(name) ?? [])
    if (own === null || strengthRank(own) < strengthRank(secondBest)) strengthByName.set(name, secondBest)
  }
  return withRolledUp(collected, resolved, strengthByName)
}

/** For each registrable domain: the strength of each disposable name below it. */
function strengthsBelow(collected: CollectedEntries, resolved: ResolvedOutcomes) {
  const below = new Map<string, ListingStrength[]>()
  for (const [name, outcomes] of resolved) {
    // A name with one dot has nothing but a public suffix above it.
    if (name.indexOf(".") === name.lastIndexOf(".")) continue
    const strength = ownStrength(collected, name, outcomes)
    if (strength === null) continue
    const registrable = registrableDomain(name)
    if (registrable === name || isPublicSuffix(registrable)) continue
    const strengths = below.get(registrable)
    if (strengths === undefined) below.set(registrable, [strength])
    else strengths.push(strength)
  }
  return below
}

/** The strength of a name's own disposable listings; null: it has none that are kept. */
function ownStrength(
  collected: CollectedEntries,
  name: string,
  outcomes: readonly ListingOutcome[],
): ListingStrength | null {
  const kept = keptDisposable(collected, name, outcomes)
  return kept.length === 0 ? null : listingStrength(kept)
}

const keptDisposable = (
  { sourcesByName, sources }: CollectedEntries,
  name: string,
  outcomes: readonly ListingOutcome[],
): readonly CatalogueSource[] =>
  (sourcesByName.get(name) ?? []).flatMap((sourceIndex, position) => {
    const source = sources[sourceIndex]
    return source?.set === "disposable" && outcomes[position] === "kept" ? [source] : []
  })

/** Whether nothing but disposable sources names the domain. */
function isUnclaimed(
  name: string,
  { sourcesByName, sources, guards, removals }: CollectedEntries,
  resolved: ResolvedOutcomes,
) {
  if (removals.has(name) || Object.values(guards).some(guard => guard.has(name))) return false
  const outcomes = resolved.get(name) ?? []
  return (sourcesByName.get(name) ?? []).every(
    (sourceIndex, position) => sources[sourceIndex]?.set === "disposable" || outcomes[position] !== "kept",
  )
}

function withRolledUp(
  collected: CollectedEntries,
  resolved: ResolvedOutcomes,
  strengthByName: ReadonlyMap<string, ListingStrength>,
): RolledUp {
  const dates = collected.loadedSources.flatMap(({ row, date }) => (row.set === "disposable" && date ? [date] : []))
  const date = dates.sort().at(-1) ?? null
  const strengths = [...new Set(strengthByName.values())].sort()
  const rows = strengths.map(rollUpSource)
  const indexByStrength = new Map(strengths.map((strength, index) => [strength, collected.sources.length + index]))
  const { sourcesByName } = collected
  const listings: (readonly [name: string, sources: readonly number[]])[] = []
  const outcomes: (readonly [name: string, outcomes: readonly ListingOutcome[]])[] = []
  const counts = rows.map(() => ({ read: 0, repeated: 0, dropped: new Map(), malformed: [] }))
  for (const [name, strength] of strengthByName) {
    const sourceIndex = indexByStrength.get(strength)
    if (sourceIndex === undefined) continue
    listings.push([name, [...(sourcesByName.get(name) ?? []), sourceIndex]])
    outcomes.push([name, [...(resolved.get(name) ?? []), "kept"]])
    const count = counts[sourceIndex - collected.sources.length]
    if (count !== undefined) count.read++
  }
  const loaded = rows.map(row => ({ row, header: null, entries: [], malformedCount: 0, date, addedOn: new Map() }))
  return {
    collected: {
      ...collected,
      sourcesByName: sourcesByName.with(listings),
      sources: [...collected.sources, ...rows],
      loadedSources: [...collected.loadedSources, ...loaded],
      counts: [...collected.counts, ...counts],
    },
    resolved: resolved.with(outcomes),
  }
}

const ROLL_UP_PREFIX = "roll-up-"

/** Whether the id of a source is that of rolled-up listings. */
export const isRollUpSource = (id: string): boolean => id.startsWith(ROLL_UP_PREFIX)

/** What the rolled-up listings of a strength count as. */
const ROLL_UP_ROWS = {
  weak: { trust: "low", witness: "aggregator" },
  single: { trust: "high" },
  strong: { trust: "highest", witness: "sufficient" },
} as const satisfies Record<ListingStrength, Pick<CatalogueSource, "trust" | "witness">>

/** The source of the rolled-up listings of one strength. */
const rollUpSource = (strength: ListingStrength): CatalogueSource => ({
  id: `${ROLL_UP_PREFIX}${strength}`,
  set: "disposable",
  ...ROLL_UP_ROWS[strength],
  from: { file: "", format: "lines" },
  licence: "that of those names",
  origin: `${ROLL_UP_NAMES_MIN} or more names below it are listed`,
})
