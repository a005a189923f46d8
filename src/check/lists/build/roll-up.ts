import type { ListingOutcome } from "../listing-rules.ts"
import { type CatalogueSource, trustRank } from "../sources/catalogue.ts"
import { isPublicSuffix, registrableDomain } from "../sources/normalized-name.ts"
import type { CollectedEntries } from "./collect-entries.ts"
import type { ResolvedOutcomes } from "./resolve-conflicts.ts"

/** A registrable domain with so many disposable names below it is disposable itself. */
export const ROLL_UP_NAMES_MIN = 3

/** The entries with the sources that the roll-up adds, and their outcomes. */
export type RolledUp = { readonly collected: CollectedEntries; readonly resolved: ResolvedOutcomes }

/**
 * Lists a registrable domain as disposable if at least `ROLL_UP_NAMES_MIN` names below it are, at the trust of the second best
 * of them. A domain that another set, a guard or a curator's removal names is left alone, and so is a public suffix. Each
 * trust has a source of its own, so that the pack, the manifest and `lists lookup` tell which listings are rolled up.
 */
export function rollUp(collected: CollectedEntries, resolved: ResolvedOutcomes): RolledUp {
  const trustsBelow = disposableTrustsBelow(collected, resolved)
  const trustByName = new Map<string, CatalogueSource["trust"]>()
  for (const [name, trusts] of trustsBelow) {
    const [, secondBest] = trusts.sort((a, b) => trustRank({ trust: b }) - trustRank({ trust: a }))
    if (secondBest !== undefined && trusts.length >= ROLL_UP_NAMES_MIN && isUnclaimed(name, collected, resolved))
      trustByName.set(name, secondBest)
  }
  return withRolledUp(collected, resolved, trustByName)
}

/** For each registrable domain: the best trust of each disposable name below it. */
function disposableTrustsBelow(collected: CollectedEntries, resolved: ResolvedOutcomes) {
  const below = new Map<string, CatalogueSource["trust"][]>()
  for (const [name, outcomes] of resolved) {
    // A name with one dot has nothing but a public suffix above it.
    if (name.indexOf(".") === name.lastIndexOf(".")) continue
    const trust = bestTrust(keptDisposable(collected, name, outcomes))
    if (trust === null) continue
    const registrable = registrableDomain(name)
    if (registrable === name || isPublicSuffix(registrable)) continue
    const trusts = below.get(registrable)
    if (trusts === undefined) below.set(registrable, [trust])
    else trusts.push(trust)
  }
  return below
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

const bestTrust = (sources: readonly CatalogueSource[]): CatalogueSource["trust"] | null =>
  sources.reduce<CatalogueSource | null>(
    (best, source) => (best === null || trustRank(source) > trustRank(best) ? source : best),
    null,
  )?.trust ?? null

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
  trustByName: ReadonlyMap<string, CatalogueSource["trust"]>,
): RolledUp {
  const dates = collected.loadedSources.flatMap(({ row, date }) => (row.set === "disposable" && date ? [date] : []))
  const date = dates.sort().at(-1) ?? null
  const rows = [...new Set(trustByName.values())].sort().map(rollUpSource)
  const indexByTrust = new Map(rows.map(({ trust }, index) => [trust, collected.sources.length + index]))
  const { sourcesByName } = collected
  const listings: (readonly [name: string, sources: readonly number[]])[] = []
  const outcomes: (readonly [name: string, outcomes: readonly ListingOutcome[]])[] = []
  const counts = rows.map(() => ({ read: 0, repeated: 0, dropped: new Map(), malformed: [] }))
  for (const [name, trust] of trustByName) {
    const sourceIndex = indexByTrust.get(trust)
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

/** The source of the rolled-up listings of one trust. */
const rollUpSource = (trust: CatalogueSource["trust"]): CatalogueSource => ({
  id: `${ROLL_UP_PREFIX}${trust}`,
  set: "disposable",
  trust,
  from: { file: "", format: "lines" },
  licence: "that of those names",
  origin: `${ROLL_UP_NAMES_MIN} or more names below it are listed`,
})
