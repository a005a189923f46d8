import { createHash } from "node:crypto"
import { isCurated } from "./catalogue.ts"
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
import { readStock, type Stock } from "./stock.ts"
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

/** Builds the pack of a catalogue (its text) from the sources on the shelf. It never throws for a source. */
export function buildPack(catalogueText: string, shelf: Shelf): Built {
  const read = readStock(catalogueText, shelf)
  return read.kind === "refused" ? read : packOf(read.stock)
}

/**
 * Builds the pack of a stock. Pure: the same sources give the same bytes, whatever the order of the entries in files that
 * need none, and whatever the clock says.
 */
export function packOf({ sources, packages, providersFirst }: Stock): Built {
  const found = gather(sources)
  if (found.kind === "refused") return found
  const { gathered } = found
  const settled = withoutRedundant(gathered, settle(gathered))
  const contents = contentsOf(gathered, settled, providersFirst)
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
    packages,
    sources: recordsOf(gathered, settled),
  }
  return { kind: "built", bytes, manifest, report: reportOf(gathered, settled) }
}

function contentsOf(gathered: Gathered, settled: Settled, providersFirst: readonly string[]): PackContents {
  const dates = gathered.read.map(({ date }) => date ?? "")
  const sorted = (words: ReadonlySet<string>) => [...words].sort()
  const { shared_inbox, group } = gathered.words
  const role = gathered.words.role.difference(gathered.guards.not_role)
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
    const since = gathered.read[index]?.since.get(name) ?? null
    return [{ set: source.set satisfies SetName, source: source.id, outcome, since }]
  })

/** Every source with what became of its entries. */
function recordsOf(gathered: Gathered, settled: Settled): Record<string, SourceRecord> {
  const dropped = gathered.counts.map(count => new Map(count.dropped))
  for (const [name, indexes] of gathered.names) {
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
      const rules = [...(dropped[at] ?? [])].sort(([a], [b]) => compare(a, b))
      const kept = rules.reduce((left, [, count]) => left - count, read - repeated)
      const { date = null, header = null } = gathered.read[at] ?? {}
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
