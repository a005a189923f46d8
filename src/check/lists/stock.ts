import { isDownloaded, parseCatalogue, pathOf, type SourceRow } from "./catalogue.ts"
import type { Entries, Header, Shelf } from "./entries.ts"
import { READERS } from "./formats.ts"
import type { Manifest } from "./manifest.ts"

/** One source as it was read. */
export type ReadSource = {
  readonly row: SourceRow
  /** What a curated file says of itself. */
  readonly header: Header | null
  readonly entries: readonly string[]
  /** Entries of the wrong shape, which have no name to report. */
  readonly misshapen: number
  /** The day that the entries are of; null: the source is not there yet. */
  readonly date: string | null
  /** Of entries that came in after the source did, the day on which they did. */
  readonly since: ReadonlyMap<string, string>
}

/** All that a pack is built from. */
export type Stock = {
  /** The providers that most people use, most used first. */
  readonly providersFirst: readonly string[]
  /** The version and licence of each package that a source stands in. */
  readonly packages: Manifest["packages"]
  readonly sources: readonly ReadSource[]
}

/** What was downloaded of a source: its newest entries that were found fit. */
export type Copy = Pick<ReadSource, "entries" | "misshapen" | "since"> & {
  /** The day on which the entries last changed. */
  readonly date: string
}

/** Reads every source of a catalogue (its text) from the shelf; when some cannot be read, all of their faults. It never throws. */
export function readStock(
  catalogueText: string,
  shelf: Shelf,
):
  | { readonly kind: "stock"; readonly stock: Stock }
  | { readonly kind: "refused"; readonly faults: readonly string[] } {
  const catalogue = parseCatalogue(catalogueText)
  if (catalogue.kind === "refused") return catalogue
  const rows = [...catalogue.sources].sort((a, b) => (a.id < b.id ? -1 : 1))
  const { packages, faults } = packagesOf(rows, shelf)
  const sources = rows.flatMap(row => {
    const entries = entriesOf(row, shelf)
    if (entries.kind === "entries") return [readSource(row, entries)]
    faults.push(`${row.id}: ${entries.says}`)
    return []
  })
  if (faults.length > 0) return { kind: "refused", faults }
  return { kind: "stock", stock: { providersFirst: catalogue.providersFirst, packages, sources } }
}

/** The stock with what was downloaded: each copy fills its own source, and takes the place of the one that it renews. */
export function withCopies(stock: Stock, copies: ReadonlyMap<string, Copy>): Stock {
  const renewed = new Set(stock.sources.flatMap(({ row }) => (copies.has(row.id) ? (row.renews ?? []) : [])))
  const sources = stock.sources.map(source => {
    const copy = copies.get(source.row.id)
    if (copy !== undefined && isDownloaded(source.row)) return { ...source, ...copy }
    return renewed.has(source.row.id) ? { ...source, entries: [], misshapen: 0 } : source
  })
  return { ...stock, sources }
}

const readSource = (row: SourceRow, { entries, misshapen, header }: Entries & { kind: "entries" }): ReadSource => ({
  row,
  header: header ?? null,
  entries: row.from.first === undefined ? entries : entries.slice(0, row.from.first),
  misshapen,
  date: row.date ?? header?.date ?? null,
  since: NEVER_LATER,
})

/** Every entry came in when its source did. */
export const NEVER_LATER: ReadonlyMap<string, string> = new Map()

function entriesOf(row: SourceRow, shelf: Shelf): Entries {
  if (isDownloaded(row)) return { kind: "entries", entries: [], misshapen: 0 }
  try {
    const entries = READERS[row.from.format](shelf, pathOf(row), row.from.at ?? "")
    if (entries.kind === "refused") return entries
    if (row.from.format === "curated" && entries.header?.set !== row.set)
      return { kind: "refused", says: `the file says it is ${entries.header?.set}, the catalogue ${row.set}` }
    return entries
  } catch (unreadable) {
    return { kind: "refused", says: `cannot be read: ${String(unreadable)}` }
  }
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

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
