import { createHash } from "node:crypto"
import { isCurated, parseCatalogue, type SourceRow } from "./catalogue.ts"
import { openPack } from "./domain-set.ts"
import type { Shelf } from "./entries.ts"
import { type Gathered, gather } from "./gather.ts"
import type { ListingRule, Outcome } from "./listing-rules.ts"
import type { Manifest, SourceRecord } from "./manifest.ts"
import type { Listing, PackContents } from "./pack-contents.ts"
import { writePack } from "./pack-writer.ts"
import { withoutRedundant } from "./redundant.ts"
import { isSetName, type SetName } from "./sets.ts"
import { settle } from "./settle.ts"
import { targetsOf } from "./targets.ts"

/** What a person who edits the lists wants to see beside the manifest. */
export type BuildReport = {
  /** Entries of curated files that a rule dropped: mistakes in a file, or two files that contradict each other. */
  readonly curatedDropped: readonly { readonly name: string; readonly source: string; readonly rule: ListingRule }[]
  /** For each source that has some, its first malformed entries. */
  readonly malformed: Readonly<Record<string, readonly string[]>>
}

/** A pack with its manifest and report, or every reason why there is none. */
export type Built =
  | { readonly kind: "built"; readonly bytes: Uint8Array; readonly manifest: Manifest; readonly report: BuildReport }
  | { readonly kind: "refused"; readonly faults: readonly string[] }

type Settled = ReadonlyMap<string, readonly Outcome[]>

/**
 * Builds the pack of a catalogue (its text) from the sources on the shelf. Pure: the same sources give the same bytes,
 * whatever the order of the entries in files that need none, and whatever the clock says. It never throws for a source.
 */
export function buildPack(catalogueText: string, shelf: Shelf): Built {
  const catalogue = parseCatalogue(catalogueText)
  if (catalogue.kind === "refused") return catalogue
  const packages = packagesOf(catalogue.sources, shelf)
  const found = gather(catalogue.sources, shelf)
  const faults = [...packages.faults, ...(found.kind === "refused" ? found.faults : [])]
  if (found.kind === "refused" || faults.length > 0) return { kind: "refused", faults }
  const { gathered } = found
  const settled = withoutRedundant(gathered, settle(gathered))
  const contents = contentsOf(gathered, settled, catalogue.providersFirst)
  const bytes = writePack(contents)
  const opened = openPack(bytes)
  if (opened.kind === "refused") return { kind: "refused", faults: [opened.says] }
  const manifest: Manifest = {
    format: 1,
    version: opened.pack.version,
    built_at: contents.builtAt,
    pack: { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") },
    entries: opened.pack.entries,
    words: Object.fromEntries(Object.entries(contents.words).map(([set, words]) => [set, words.length])),
    targets: {
      provider: contents.targets.filter(({ kind }) => kind === "provider").length,
      organisation: contents.targets.filter(({ kind }) => kind === "organisation").length,
    },
    packages: packages.packages,
    sources: recordsOf(gathered, settled),
  }
  return { kind: "built", bytes, manifest, report: reportOf(gathered, settled) }
}

/** The version and licence of each package that a source stands in; a licence that changed is a fault. */
function packagesOf(rows: readonly SourceRow[], shelf: Shelf) {
  const packages: Record<string, { version: string; licence: string }> = {}
  const faults: string[] = []
  for (const { id, from, licence } of rows.toSorted((a, b) => compare(a.from.package ?? "", b.from.package ?? ""))) {
    if (from.package === undefined) continue
    try {
      const { version, license }: Record<string, unknown> = JSON.parse(
        shelf.read(`node_modules/${from.package}/package.json`),
      )
      packages[from.package] = { version: String(version), licence: String(license) }
      if (license !== licence)
        faults.push(`${id}: ${from.package} has the licence ${String(license)}, the catalogue says ${licence}`)
    } catch (unreadable) {
      faults.push(`${id}: package.json of ${from.package}: ${String(unreadable)}`)
    }
  }
  return { packages, faults }
}

function contentsOf(gathered: Gathered, settled: Settled, providersFirst: readonly string[]): PackContents {
  const dates = gathered.sources.map((source, at) => source.date ?? gathered.headers[at]?.date ?? "")
  const sorted = (words: ReadonlySet<string>) => [...words].sort()
  const { role, shared_inbox, group } = gathered.words
  return {
    builtAt: `${dates.sort().at(-1)}T00:00:00.000Z`,
    sources: gathered.sources.map(({ id }) => id),
    names: [...settled].map(([name, outcomes]) => [name, listingsOf(gathered, name, outcomes)] as const),
    words: { role: sorted(role), shared_inbox: sorted(shared_inbox), group: sorted(group) },
    groupDomains: sorted(gathered.groupDomains),
    targets: targetsOf(gathered, settled, providersFirst),
  }
}

const listingsOf = (gathered: Gathered, name: string, outcomes: readonly Outcome[]): readonly Listing[] =>
  (gathered.names.get(name) ?? []).flatMap((index, at) => {
    const source = gathered.sources[index]
    const outcome = outcomes[at]
    if (source === undefined || !isSetName(source.set) || outcome === undefined) return []
    return [{ set: source.set satisfies SetName, source: source.id, outcome }]
  })

/** Every source with what became of its entries; a name that is not in `settled` was redundant. */
function recordsOf(gathered: Gathered, settled: Settled): Record<string, SourceRecord> {
  const dropped = gathered.counts.map(count => new Map(count.dropped))
  for (const [name, indexes] of gathered.names) {
    const outcomes = settled.get(name)
    for (const [at, index] of indexes.entries()) {
      const outcome = outcomes === undefined ? "redundant" : outcomes[at]
      if (outcome !== undefined && outcome !== "kept")
        dropped[index]?.set(outcome, (dropped[index].get(outcome) ?? 0) + 1)
    }
  }
  return Object.fromEntries(
    gathered.sources.map((source, at) => {
      const { read = 0, repeated = 0 } = gathered.counts[at] ?? {}
      const rules = [...(dropped[at] ?? [])].sort(([a], [b]) => compare(a, b))
      const kept = rules.reduce((left, [, count]) => left - count, read - repeated)
      const { origin, licence, date } = { ...source, ...gathered.headers[at] }
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

function reportOf(gathered: Gathered, settled: Settled): BuildReport {
  const curatedDropped = [...settled].flatMap(([name, outcomes]) =>
    (gathered.names.get(name) ?? []).flatMap((index, at) => {
      const source = gathered.sources[index]
      const rule = outcomes[at] ?? "kept"
      return source === undefined || !isCurated(source) || rule === "kept" || rule === "redundant"
        ? []
        : [{ name, source: source.id, rule }]
    }),
  )
  const malformed = gathered.sources.map((source, at) => [source.id, gathered.counts[at]?.malformed ?? []] as const)
  return {
    curatedDropped: curatedDropped.sort((a, b) => compare(a.name, b.name)),
    malformed: Object.fromEntries(malformed.filter(([, entries]) => entries.length > 0)),
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
