import { assert } from "../../../base/errors.ts"
import type { PackManifest } from "../manifest.ts"
import { type CatalogueSource, isDownloaded, parseCatalogue, sourcePath } from "./catalogue.ts"
import { type CuratedHeader, FORMAT_READERS, type ReadEntriesResult, type SourceFiles } from "./source-formats.ts"

/** One source as it was read. */
export type LoadedSource = {
  readonly row: CatalogueSource
  /** What a curated file says of itself. */
  readonly header: CuratedHeader | null
  readonly entries: readonly string[]
  /** Entries of the wrong shape, which have no name to report. */
  readonly misshapen: number
  /** The day that the entries are of; null: the source is not there yet. */
  readonly date: string | null
  /** Of entries that came in after the source did, the day on which they did. */
  readonly since: ReadonlyMap<string, string>
}

/** All that a pack is built from. */
export type SourceBundle = {
  /** The providers that most people use, most used first. */
  readonly topProviders: readonly string[]
  /** The version and licence of each package that a source stands in. */
  readonly packages: PackManifest["packages"]
  readonly sources: readonly LoadedSource[]
}

/** What was downloaded of a source: its newest entries that were found fit. */
export type DownloadedSource = Pick<LoadedSource, "entries" | "misshapen" | "since"> & {
  /** The day on which the entries last changed. */
  readonly date: string
}

/** Reads every source of a catalogue (its text) from the shelf; when some cannot be read, all of their faults. It never throws. */
export function readSourceBundle(
  catalogueText: string,
  shelf: SourceFiles,
):
  | { readonly kind: "stock"; readonly bundle: SourceBundle }
  | { readonly kind: "refused"; readonly faults: readonly string[] } {
  const catalogue = parseCatalogue(catalogueText)
  if (catalogue.kind === "refused") return catalogue
  const rows = [...catalogue.sources].sort((a, b) => (a.id < b.id ? -1 : 1))
  const { packages, faults } = readPackages(rows, shelf)
  const sources = rows.flatMap(row => {
    const entries = readEntries(row, shelf)
    if (entries.kind === "entries") return [toLoadedSource(row, entries)]
    faults.push(`${row.id}: ${entries.message}`)
    return []
  })
  if (faults.length > 0) return { kind: "refused", faults }
  return { kind: "stock", bundle: { topProviders: catalogue.topProviders, packages, sources } }
}

/** The stock with what was downloaded: each copy fills its own source, and takes the place of the one that it renews. */
export function withDownloads(stock: SourceBundle, copies: ReadonlyMap<string, DownloadedSource>): SourceBundle {
  const renewed = new Set(stock.sources.flatMap(({ row }) => (copies.has(row.id) ? (row.renews ?? []) : [])))
  const sources = stock.sources.map(source => {
    const copy = copies.get(source.row.id)
    if (copy !== undefined && isDownloaded(source.row)) return { ...source, ...copy }
    return renewed.has(source.row.id) ? { ...source, entries: [], misshapen: 0 } : source
  })
  return { ...stock, sources }
}

const toLoadedSource = (
  row: CatalogueSource,
  { entries, malformedCount, header }: ReadEntriesResult & { kind: "entries" },
): LoadedSource => ({
  row,
  header: header ?? null,
  entries: row.from.first === undefined ? entries : entries.slice(0, row.from.first),
  misshapen: malformedCount,
  date: row.date ?? header?.date ?? null,
  since: NO_LATER_ENTRIES,
})

/** Every entry came in when its source did. */
export const NO_LATER_ENTRIES: ReadonlyMap<string, string> = new Map()

function readEntries(row: CatalogueSource, shelf: SourceFiles): ReadEntriesResult {
  if (isDownloaded(row)) return { kind: "entries", entries: [], malformedCount: 0 }
  try {
    const entries = FORMAT_READERS[row.from.format](shelf, sourcePath(row), row.from.at ?? "")
    if (entries.kind === "refused") return entries
    if (row.from.format === "curated" && entries.header?.set !== row.set)
      return { kind: "refused", message: `the file says it is ${entries.header?.set}, the catalogue ${row.set}` }
    return entries
  } catch (unreadable) {
    return { kind: "refused", message: `cannot be read: ${String(unreadable)}` }
  }
}

/** The version and licence of each package that a source stands in; a licence that changed is a fault. */
function readPackages(rows: readonly CatalogueSource[], shelf: SourceFiles) {
  const packages: Record<string, { version: string; licence: string }> = {}
  const faults: string[] = []
  for (const { id, from, licence } of rows.toSorted((a, b) =>
    compareText(a.from.package ?? "", b.from.package ?? ""),
  )) {
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

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The JSON within the file, which is packed by Zstandard (RFC 8878). Entries are parted by line feeds, which none has. */
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

/** The bytes of a stock without copies: what a refresh in the executable builds from. */
export function encodeBundle({ topProviders, packages, sources }: SourceBundle): Uint8Array {
  const contents: BundleFile = {
    format: 1,
    providersFirst: topProviders,
    packages,
    sources: sources.map(({ row, header, date, misshapen, entries }) => {
      assert(
        entries.every(entry => !entry.includes("\n")),
        "no reader gives an entry of two lines",
      )
      return { row, header, date, misshapen, entries: entries.join("\n") }
    }),
  }
  return Bun.zstdCompressSync(JSON.stringify(contents), { level: ZSTD_LEVEL })
}

/** A fifth smaller than by default, for a second of building. */
const ZSTD_LEVEL = 15

/** Reads bytes that `encodeBundle` wrote; they are ours, and damage to them is our fault. */
export function decodeBundle(bytes: Uint8Array<ArrayBuffer>): SourceBundle {
  const contents: BundleFile = JSON.parse(new TextDecoder().decode(Bun.zstdDecompressSync(bytes))) // written by `encodeBundle`
  assert(contents.format === 1, "the stock is of this program's format")
  const { providersFirst: topProviders, packages } = contents
  const sources = contents.sources.map(({ entries, ...source }) => ({
    ...source,
    entries: entries === "" ? [] : entries.split("\n"),
    since: NO_LATER_ENTRIES,
  }))
  return { topProviders, packages, sources }
}
