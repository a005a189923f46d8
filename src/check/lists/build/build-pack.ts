import { createHash } from "node:crypto"
import type { ListingOutcome, ListingRule } from "../listing-rules.ts"
import type { ManifestSource, PackManifest } from "../manifest.ts"
import { openPack } from "../pack/pack.ts"
import type { Listing, PackContents, PackTarget } from "../pack/pack-contents.ts"
import { writePack } from "../pack/pack-writer.ts"
import { isSetName, type SetName } from "../sets.ts"
import { isCurated } from "../sources/catalogue.ts"
import { readSourceBundle, type SourceBundle } from "../sources/source-bundle.ts"
import type { SourceFiles } from "../sources/source-formats.ts"
import { type CollectedEntries, collectEntries } from "./collect-entries.ts"
import { dropRedundant } from "./drop-redundant.ts"
import { resolveConflicts } from "./resolve-conflicts.ts"

/** What a person who edits the lists wants to see beside the manifest. */
type BuildReport = {
  /** Entries of curated files that a rule dropped: mistakes in a file, or two files that contradict each other. */
  readonly curatedDropped: readonly { readonly name: string; readonly source: string; readonly rule: ListingRule }[]
  /** For each source that has some, its first malformed entries. */
  readonly malformed: Readonly<Record<string, readonly string[]>>
}

/** A pack with its manifest and report, or every reason why there is none. */
export type BuildPackResult =
  | {
      readonly kind: "built"
      readonly bytes: Uint8Array
      readonly manifest: PackManifest
      readonly report: BuildReport
    }
  | { readonly kind: "refused"; readonly faults: readonly string[] }

type ResolvedOutcomes = ReadonlyMap<string, readonly ListingOutcome[]>

/** Builds the pack of a catalogue (its text) from the sources on the shelf. It never throws for a source. */
export function buildPackFromFiles(catalogueText: string, shelf: SourceFiles): BuildPackResult {
  const read = readSourceBundle(catalogueText, shelf)
  return read.kind === "refused" ? read : buildPack(read.bundle)
}

/**
 * Builds the pack of a stock. Pure: the same sources give the same bytes, whatever the order of the entries in files that
 * need none, and whatever the clock says.
 */
export function buildPack({ sources, packages, topProviders }: SourceBundle): BuildPackResult {
  const found = collectEntries(sources)
  if (found.kind === "refused") return found
  const { collected } = found
  const settled = dropRedundant(collected, resolveConflicts(collected))
  const contents = packContents(collected, settled, topProviders)
  const bytes = writePack(contents)
  const opened = openPack(bytes)
  if (opened.kind === "refused") return { kind: "refused", faults: [opened.says] }
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
    sources: manifestSources(collected, settled),
  }
  return { kind: "built", bytes, manifest, report: buildReport(collected, settled) }
}

function packContents(
  gathered: CollectedEntries,
  settled: ResolvedOutcomes,
  providersFirst: readonly string[],
): PackContents {
  const dates = gathered.loadedSources.map(({ date }) => date ?? "")
  const sorted = (words: ReadonlySet<string>) => [...words].sort()
  const { shared_inbox, group } = gathered.words
  const role = gathered.words.role.difference(gathered.guards.not_role)
  return {
    builtAt: `${dates.sort().at(-1)}T00:00:00.000Z`,
    sources: gathered.sources.map(({ id }) => id),
    names: [...settled].map(([name, outcomes]) => [name, packListings(gathered, name, outcomes)] as const),
    words: { role: sorted(role), shared_inbox: sorted(shared_inbox), group: sorted(group) },
    groupDomains: sorted(gathered.groupDomains),
    targets: lookalikeTargets(gathered, settled, providersFirst),
  }
}

const packListings = (
  gathered: CollectedEntries,
  name: string,
  outcomes: readonly ListingOutcome[],
): readonly Listing[] =>
  (gathered.sourcesByName.get(name) ?? []).flatMap((index, at) => {
    const source = gathered.sources[index]
    const outcome = outcomes[at]
    if (source === undefined || !isSetName(source.set) || outcome === undefined) return []
    const since = gathered.loadedSources[index]?.since.get(name) ?? null
    return [{ set: source.set satisfies SetName, source: source.id, outcome, since }]
  })

/** Every source with what became of its entries. */
function manifestSources(gathered: CollectedEntries, settled: ResolvedOutcomes): Record<string, ManifestSource> {
  const dropped = gathered.counts.map(count => new Map(count.dropped))
  for (const [name, indexes] of gathered.sourcesByName) {
    const outcomes = settled.get(name) ?? []
    for (const [at, index] of indexes.entries()) {
      const outcome = outcomes[at]
      if (outcome !== undefined && outcome !== "kept")
        dropped[index]?.set(outcome, (dropped[index].get(outcome) ?? 0) + 1)
    }
  }
  return Object.fromEntries(
    gathered.sources.map((source, at) => {
      const { read = 0, repeated = 0 } = gathered.counts[at] ?? {}
      const rules = [...(dropped[at] ?? [])].sort(([a], [b]) => compareText(a, b))
      const kept = rules.reduce((left, [, count]) => left - count, read - repeated)
      const { date = null, header = null } = gathered.loadedSources[at] ?? {}
      const { origin, licence } = { ...source, ...header }
      const described = {
        set: source.set,
        trust: source.trust,
        origin: origin ?? "",
        licence: licence ?? "",
        date: date ?? "",
      }
      return [source.id, { ...described, read, repeated, kept, dropped: Object.fromEntries(rules) }]
    }),
  )
}

function buildReport(gathered: CollectedEntries, settled: ResolvedOutcomes): BuildReport {
  const curatedDropped = [...settled].flatMap(([name, outcomes]) =>
    (gathered.sourcesByName.get(name) ?? []).flatMap((index, at) => {
      const source = gathered.sources[index]
      const rule = outcomes[at] ?? "kept"
      return source === undefined || !isCurated(source) || rule === "kept" || rule === "redundant"
        ? []
        : [{ name, source: source.id, rule }]
    }),
  )
  const malformed = gathered.sources.map((source, at) => [source.id, gathered.counts[at]?.malformed ?? []] as const)
  return {
    curatedDropped: curatedDropped.sort((a, b) => compareText(a.name, b.name)),
    malformed: Object.fromEntries(malformed.filter(([, entries]) => entries.length > 0)),
  }
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * The domains that others imitate or mistype: the curated providers, first those of `heads` in their order, then the
 * rest by name; after them the known organisations by name.
 */
function lookalikeTargets(
  gathered: CollectedEntries,
  settled: ReadonlyMap<string, readonly ListingOutcome[]>,
  heads: readonly string[],
): readonly PackTarget[] {
  const kept = (set: "personal" | "organisation") =>
    [...gathered.sourcesByName]
      .filter(([name, indexes]) =>
        indexes.some((index, at) => {
          const source = gathered.sources[index]
          return source?.set === set && isCurated(source) && settled.get(name)?.[at] === "kept"
        }),
      )
      .map(([name]) => name)
      .sort()
  const providers = kept("personal")
  const known = new Set(providers)
  const ordered = new Set([...heads.filter(name => known.has(name)), ...providers])
  return [
    ...[...ordered].map((name): PackTarget => ({ name, kind: "provider" })),
    ...kept("organisation").map((name): PackTarget => ({ name, kind: "organisation" })),
  ]
}
