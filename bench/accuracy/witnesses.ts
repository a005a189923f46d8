import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { CatalogueSource } from "../../src/check/lists/sources/catalogue.ts"
import { normalizeName } from "../../src/check/lists/sources/normalized-name.ts"
import { type LoadedSource, type SourceBundle, withDownloads } from "../../src/check/lists/sources/source-bundle.ts"
import { parseDownload } from "../../src/check/refresh/stored-download.ts"

/** Of fewer common names with a known first day in both sources, their order says little. */
const DAYS_MIN = 20

/** The sets whose sources copy from each other. */
const COPIED_SETS: readonly CatalogueSource["set"][] = ["disposable", "personal"]

/** The stock with the downloads of a server's lists folder. */
export function withStoredDownloads(stock: SourceBundle, folder: string): SourceBundle {
  const downloads = stock.sources.flatMap(({ row: { id } }) => {
    const path = join(folder, `${id}.txt`)
    const stored = existsSync(path) ? parseDownload(readFileSync(path, "utf8")) : null
    return stored === null ? [] : [[id, stored.source] as const]
  })
  return withDownloads(stock, new Map(downloads))
}

/**
 * Who copies from whom? A line for each source: its names, and how many of them no other source has. Then a line for each pair
 * of sources: the share of the smaller that stands in the larger, and, where enough first days are known, how often each was first.
 */
export function witnessLines({ sources }: SourceBundle): readonly string[] {
  return COPIED_SETS.flatMap(set => {
    const listed = sources.filter(({ row, entries }) => row.set === set && entries.length > 0).map(namesOf)
    const bySize = listed.sort((one, other) => one.names.size - other.names.size)
    return [
      `${set}: names, and names of this source alone`,
      ...bySize.map(source => [label(source), source.names.size, aloneCount(source, bySize)].join("\t")),
      `${set}: share of the smaller in the larger, and who was first`,
      ...bySize.flatMap((smaller, index) => bySize.slice(index + 1).map(larger => pairLine(smaller, larger))),
    ]
  })
}

type ListedNames = { readonly source: LoadedSource; readonly names: ReadonlySet<string> }

function namesOf(source: LoadedSource): ListedNames {
  const names = source.entries.map(normalizeName).flatMap(found => (found.kind === "name" ? [found.name] : []))
  return { source, names: new Set(names) }
}

const label = ({ source: { row } }: ListedNames): string => `${row.id} (${row.witness ?? "independent"})`

const aloneCount = ({ source, names }: ListedNames, all: readonly ListedNames[]): number =>
  [...names].filter(name => !all.some(other => other.source !== source && other.names.has(name))).length

function pairLine(smaller: ListedNames, larger: ListedNames): string {
  const common = [...smaller.names].filter(name => larger.names.has(name))
  const share = (common.length / smaller.names.size).toFixed(3)
  return [share, smaller.source.row.id, "in", larger.source.row.id, ...orderOfDays(common, smaller, larger)].join("\t")
}

/** How often each of two sources had a name first; nothing where too few days are known. */
function orderOfDays(common: readonly string[], one: ListedNames, other: ListedNames): readonly string[] {
  const days = common.flatMap(name => {
    const [first, second] = [one.source.addedOn.get(name), other.source.addedOn.get(name)]
    return first === undefined || second === undefined ? [] : [{ first, second }]
  })
  if (days.length < DAYS_MIN) return []
  const [earlier, later] = [days.filter(d => d.first < d.second).length, days.filter(d => d.first > d.second).length]
  return [`${earlier} first here, ${later} there, ${days.length - earlier - later} on the same day`]
}
