import { assert } from "../../../base/errors.ts"
import { countGarbage } from "../../../base/garbage.ts"
import { compareText } from "../../../base/text.ts"
import type { PackManifest } from "../manifest.ts"
import { type CatalogueSource, isDownloaded, parseCatalogue, sourcePath, wantedEntries } from "./catalogue.ts"
import { type CuratedHeader, FORMAT_READERS, type ReadEntriesResult, type SourceFiles } from "./source-formats.ts"

/** One source with its entries. */
export type LoadedSource = {
  readonly row: CatalogueSource
  /** The header of a curated file; null for other formats. */
  readonly header: CuratedHeader | null
  /** They may be made anew each time that they are read. */
  readonly entries: readonly string[]
  /** The number of malformed entries, which have no name to report. */
  readonly malformedCount: number
  /** The date of the entries; null: the source has not been downloaded yet. */
  readonly date: string | null
  /** The day on which an entry was added, for entries that are newer than the source's first download. */
  readonly addedOn: ReadonlyMap<string, string>
  /** For a window source, the day on which each entry was last seen. */
  readonly lastSeenOn?: ReadonlyMap<string, string>
  /** For a source that tracks removals, the day on which each name that is gone was missed first. */
  readonly removedOn?: ReadonlyMap<string, string>
}

/** Everything that a pack is built from. */
export type SourceBundle = {
  /** The providers that most people use, most used first. */
  readonly topProviders: readonly string[]
  /** The version and licence of each npm package that contains a source. */
  readonly packages: PackManifest["packages"]
  readonly sources: readonly LoadedSource[]
}

/** The newest valid download of a source. */
export type DownloadedSource = Pick<
  LoadedSource,
  "entries" | "malformedCount" | "addedOn" | "lastSeenOn" | "removedOn"
> & {
  /** The day on which the entries last changed. */
  readonly date: string
}

/** Reads every source of a catalogue (its text) from files. If some cannot be read, returns all faults. It never throws. */
export function readSourceBundle(
  catalogueText: string,
  files: SourceFiles,
):
  | { readonly kind: "bundle"; readonly bundle: SourceBundle }
  | { readonly kind: "refused"; readonly faults: readonly string[] } {
  const catalogue = parseCatalogue(catalogueText)
  if (catalogue.kind === "refused") return catalogue
  const rows = [...catalogue.sources].sort((a, b) => (a.id < b.id ? -1 : 1))
  const { packages, faults } = readPackages(rows, files)
  const sources = rows.flatMap(row => {
    const entries = readEntries(row, files)
    if (entries.kind === "entries") return [toLoadedSource(row, entries)]
    faults.push(`${row.id}: ${entries.message}`)
    return []
  })
  if (faults.length > 0) return { kind: "refused", faults }
  return { kind: "bundle", bundle: { topProviders: catalogue.topProviders, packages, sources } }
}

/** The bundle with downloads: each fills its own source, and replaces the entries of the built-in source that it renews. */
export function withDownloads(bundle: SourceBundle, downloads: ReadonlyMap<string, DownloadedSource>): SourceBundle {
  const renewed = new Set(bundle.sources.flatMap(({ row }) => (downloads.has(row.id) ? (row.renews ?? []) : [])))
  const sources = bundle.sources.map(source => {
    const download = downloads.get(source.row.id)
    if (download !== undefined && isDownloaded(source.row)) return withDownload(source, download)
    return renewed.has(source.row.id) ? { ...source, entries: [], malformedCount: 0 } : source
  })
  return { ...bundle, sources }
}

/** A source with its download, whose entries may be read only when they are needed. */
function withDownload({ row, header }: LoadedSource, download: DownloadedSource): LoadedSource {
  const { malformedCount, date, addedOn, lastSeenOn, removedOn } = download
  return {
    ...{ row, header, malformedCount, date, addedOn },
    ...(lastSeenOn === undefined ? {} : { lastSeenOn }),
    ...(removedOn === undefined ? {} : { removedOn }),
    get entries() {
      return download.entries
    },
  }
}

const toLoadedSource = (
  row: CatalogueSource,
  { entries, malformedCount, header }: ReadEntriesResult & { kind: "entries" },
): LoadedSource => ({
  row,
  header: header ?? null,
  entries: wantedEntries(row, entries),
  malformedCount,
  date: row.date ?? header?.date ?? null,
  addedOn: NO_LATER_ENTRIES,
})

/** Every entry was in the source from the start. */
export const NO_LATER_ENTRIES: ReadonlyMap<string, string> = new Map()

function readEntries(row: CatalogueSource, files: SourceFiles): ReadEntriesResult {
  if (isDownloaded(row)) return { kind: "entries", entries: [], malformedCount: 0 }
  try {
    const entries = FORMAT_READERS[row.from.format](files, sourcePath(row), row.from.at ?? "")
    if (entries.kind === "refused") return entries
    if (row.from.format === "curated" && entries.header?.set !== row.set)
      return { kind: "refused", message: `the file says it is ${entries.header?.set}, the catalogue ${row.set}` }
    return entries
  } catch (unreadable) {
    return { kind: "refused", message: `cannot be read: ${String(unreadable)}` }
  }
}

/** The version and licence of each package that contains a source. A licence other than the catalogue's is a fault. */
function readPackages(rows: readonly CatalogueSource[], files: SourceFiles) {
  const packages: Record<string, { version: string; licence: string }> = {}
  const faults: string[] = []
  for (const { id, from, licence } of rows.toSorted((a, b) =>
    compareText(a.from.package ?? "", b.from.package ?? ""),
  )) {
    if (from.package === undefined) continue
    try {
      const { version, license }: Record<string, unknown> = JSON.parse(
        files.read(`node_modules/${from.package}/package.json`),
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

/** The JSON of a bundle file, which is compressed by Zstandard (RFC 8878). Entries are joined by line feeds. */
type BundleFile = {
  readonly format: 1
  readonly providersFirst: readonly string[]
  readonly packages: PackManifest["packages"]
  readonly sources: readonly {
    readonly row: CatalogueSource
    readonly header: CuratedHeader | null
    readonly date: string | null
    readonly misshapen: number
    readonly entries: string
  }[]
}

/** The bytes of a bundle without downloads, which the executable carries for its refreshes. */
export function encodeBundle({ topProviders, packages, sources }: SourceBundle): Uint8Array {
  const file: BundleFile = {
    format: 1,
    providersFirst: topProviders,
    packages,
    sources: sources.map(({ row, header, date, malformedCount, entries }) => {
      assert(
        entries.every(entry => !entry.includes("\n")),
        "an entry is a single line",
      )
      return { row, header, date, misshapen: malformedCount, entries: entries.join("\n") }
    }),
  }
  return Bun.zstdCompressSync(JSON.stringify(file), { level: ZSTD_LEVEL })
}

/** A fifth smaller than at the default level, for one more second of build time. */
const ZSTD_LEVEL = 15

/**
 * Decodes the bytes of `encodeBundle`. They are part of this program, so damage is an invariant error. Entries are split each time
 * that they are read: those of all sources at once would take ten times the memory of their text.
 */
export function decodeBundle(bytes: Uint8Array<ArrayBuffer>): SourceBundle {
  const file: BundleFile = JSON.parse(new TextDecoder().decode(Bun.zstdDecompressSync(bytes))) // written by `encodeBundle`
  assert(file.format === 1, "the bundle has this program's format")
  countGarbage(bytes.length)
  const { providersFirst: topProviders, packages } = file
  const sources = file.sources.map(({ row, header, date, misshapen, entries }) => ({
    row,
    header,
    date,
    malformedCount: misshapen,
    get entries() {
      return entries === "" ? [] : entries.split("\n")
    },
    addedOn: NO_LATER_ENTRIES,
  }))
  return { topProviders, packages, sources }
}
