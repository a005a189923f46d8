import { createHash } from "node:crypto"
import { compareText } from "../../../base/text.ts"
import type { ListingOutcome, ListingRule } from "../listing-rules.ts"
import type { ManifestSource, PackManifest } from "../manifest.ts"
import { openPack } from "../pack/pack.ts"
import type { Listing, PackContents, PackTarget } from "../pack/pack-contents.ts"
import { writePack } from "../pack/pack-writer.ts"
import { isSetName } from "../sets.ts"
import { isCurated } from "../sources/catalogue.ts"
import type { SourceBundle } from "../sources/source-bundle.ts"
import { type CollectedEntries, collectEntries } from "./collect-entries.ts"
import { dropRedundant } from "./drop-redundant.ts"
import { listingStrength } from "./listing-strength.ts"
import { type ResolvedOutcomes, resolveConflicts } from "./resolve-conflicts.ts"
import { rollUp } from "./roll-up.ts"

/** What an editor of the lists has to review besides the manifest. */
type BuildReport = {
  /** Entries of curated files that a rule dropped: mistakes in a file, or two files that contradict each other. */
  readonly curatedDropped: readonly { readonly name: string; readonly source: string; readonly rule: ListingRule }[]
  /** The first malformed entries of each source that has some. */
  readonly malformed: Readonly<Record<string, readonly string[]>>
}

/** A pack with its manifest and report, or every fault that prevents it. */
export type BuildPackResult =
  | {
      readonly kind: "built"
      readonly bytes: Uint8Array
      readonly manifest: PackManifest
      readonly report: BuildReport
    }
  | { readonly kind: "refused"; readonly faults: readonly string[] }

/**
 * Builds the pack of a source bundle. It never throws because of a source. Pure: the same sources give the same bytes, whatever
 * the clock and the order of entries in unsorted files.
 */
export function buildPack({ sources, packages, topProviders }: SourceBundle): BuildPackResult {
  const result = collectEntries(sources)
  if (result.kind === "refused") return result
  const { collected, resolved: kept } = rollUp(result.collected, resolveConflicts(result.collected))
  const resolved = dropRedundant(collected, kept)
  const contents = packContents(collected, resolved, topProviders)
  const bytes = writePack(contents)
  const opened = openPack(bytes)
  if (opened.kind === "refused") return { kind: "refused", faults: [opened.message] }
  const manifest: PackManifest = {
    format: 1,
    version: opened.pack.version,
    built_at: contents.builtAt,
    pack: { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") },
    entries: opened.pack.entryCounts,
    words: Object.fromEntries(Object.entries(contents.words).map(([set, words]) => [set, words.length])),
    targets: {
      provider: contents.targets.filter(({ kind }) => kind === "provider").length,
      organisation: contents.targets.filter(({ kind }) => kind === "organisation").length,
    },
    packages,
    sources: manifestSources(collected, resolved),
  }
  return { kind: "built", bytes, manifest, report: buildReport(collected, resolved) }
}

function packContents(
  collected: CollectedEntries,
  resolved: ResolvedOutcomes,
  topProviders: readonly string[],
): PackContents {
  const dates = collected.loadedSources.map(({ date }) => date ?? "")
  const sorted = (words: ReadonlySet<string>) => [...words].sort()
  const { shared_inbox, group, region, person_name } = collected.words
  const rowById = new Map(collected.sources.map(row => [row.id, row]))
  const role = collected.words.role.difference(collected.guards.not_role)
  return {
    builtAt: `${dates.sort().at(-1)}T00:00:00.000Z`,
    sources: collected.sources.map(({ id }) => id),
    strengthOf: ids => listingStrength(ids.flatMap(id => rowById.get(id) ?? [])),
    nameNumbers: resolved.names,
    names: { [Symbol.iterator]: () => namesWithListings(collected, resolved) },
    words: {
      role: sorted(role),
      shared_inbox: sorted(shared_inbox),
      group: sorted(group),
      region: sorted(region),
      person_name: sorted(person_name),
    },
    groupDomains: sorted(collected.groupDomains),
    targets: lookalikeTargets(collected, resolved, topProviders),
  }
}

/** Each name with its listings. Names whose listings are the same share them. */
function* namesWithListings(
  collected: CollectedEntries,
  resolved: ResolvedOutcomes,
): Generator<readonly [name: string, listings: readonly Listing[]]> {
  const shared = new Map<string, readonly Listing[]>()
  for (const [name, outcomes] of resolved) {
    const sourceIndexes = collected.sourcesByName.get(name) ?? []
    const days = sourceIndexes.map(index => {
      const { addedOn, lastSeenOn } = collected.loadedSources[index] ?? {}
      return `${addedOn?.get(name) ?? ""} ${lastSeenOn?.get(name) ?? ""}`
    })
    const key = `${sourceIndexes.join()}/${outcomes.join()}/${days.join()}`
    const listings = shared.get(key) ?? packListings(collected, name, outcomes)
    shared.set(key, listings)
    yield [name, listings]
  }
}

const packListings = (
  collected: CollectedEntries,
  name: string,
  outcomes: readonly ListingOutcome[],
): readonly Listing[] =>
  (collected.sourcesByName.get(name) ?? []).flatMap((sourceIndex, position) => {
    const source = collected.sources[sourceIndex]
    const outcome = outcomes[position]
    if (source === undefined || !isSetName(source.set) || outcome === undefined) return []
    const { addedOn, lastSeenOn } = collected.loadedSources[sourceIndex] ?? {}
    const listing = { set: source.set, source: source.id, outcome, since: addedOn?.get(name) ?? null }
    const lastSeen = lastSeenOn?.get(name)
    return [lastSeen === undefined ? listing : { ...listing, lastSeen }]
  })

/** Each source with the number of its entries that were kept, repeated, or dropped by each rule. */
function manifestSources(collected: CollectedEntries, resolved: ResolvedOutcomes): Record<string, ManifestSource> {
  const dropped = collected.counts.map(count => new Map(count.dropped))
  for (const [name, sourceIndexes] of collected.sourcesByName) {
    const outcomes = resolved.get(name) ?? []
    for (const [position, sourceIndex] of sourceIndexes.entries()) {
      const outcome = outcomes[position]
      if (outcome !== undefined && outcome !== "kept")
        dropped[sourceIndex]?.set(outcome, (dropped[sourceIndex].get(outcome) ?? 0) + 1)
    }
  }
  return Object.fromEntries(
    collected.sources.map((source, index) => {
      const { read = 0, repeated = 0 } = collected.counts[index] ?? {}
      const rules = [...(dropped[index] ?? [])].sort(([a], [b]) => compareText(a, b))
      const kept = rules.reduce((left, [, count]) => left - count, read - repeated)
      const { date = null, header = null } = collected.loadedSources[index] ?? {}
      const { origin, licence } = { ...source, ...header }
      const { days } = source.window ?? {}
      const described = {
        set: source.set,
        trust: source.trust,
        origin: origin ?? "",
        licence: licence ?? "",
        date: date ?? "",
        ...(days === undefined ? {} : { window_days: days }),
      }
      return [source.id, { ...described, read, repeated, kept, dropped: Object.fromEntries(rules) }]
    }),
  )
}

function buildReport(collected: CollectedEntries, resolved: ResolvedOutcomes): BuildReport {
  const curatedDropped: { name: string; source: string; rule: ListingRule }[] = []
  for (const [name, outcomes] of resolved)
    for (const [position, sourceIndex] of (collected.sourcesByName.get(name) ?? []).entries()) {
      const source = collected.sources[sourceIndex]
      const rule = outcomes[position] ?? "kept"
      if (source !== undefined && isCurated(source) && rule !== "kept" && rule !== "redundant")
        curatedDropped.push({ name, source: source.id, rule })
    }
  const malformed = collected.sources.map(
    (source, index) => [source.id, collected.counts[index]?.malformed ?? []] as const,
  )
  return {
    curatedDropped: curatedDropped.sort((a, b) => compareText(a.name, b.name)),
    malformed: Object.fromEntries(malformed.filter(([, entries]) => entries.length > 0)),
  }
}

/**
 * The domains that others imitate or mistype: the curated providers, those of `topProviders` first and in that order, the
 * rest sorted by name; then the known organisations sorted by name.
 */
function lookalikeTargets(
  collected: CollectedEntries,
  resolved: ResolvedOutcomes,
  topProviders: readonly string[],
): readonly PackTarget[] {
  const curatedNames = (set: "personal" | "organisation"): string[] => {
    const names: string[] = []
    for (const [name, outcomes] of resolved) {
      const isTarget = (collected.sourcesByName.get(name) ?? []).some((sourceIndex, position) => {
        const source = collected.sources[sourceIndex]
        return source?.set === set && isCurated(source) && outcomes[position] === "kept"
      })
      if (isTarget) names.push(name)
    }
    return names.sort()
  }
  const providers = curatedNames("personal")
  const isProvider = new Set(providers)
  const ordered = new Set([...topProviders.filter(name => isProvider.has(name)), ...providers])
  return [
    ...[...ordered].map((name): PackTarget => ({ name, kind: "provider" })),
    ...curatedNames("organisation").map((name): PackTarget => ({ name, kind: "organisation" })),
  ]
}
