import { pipeline } from "node:stream/promises"
import { createGunzip } from "node:zlib"
import { tarFiles } from "../../base/tar-archive.ts"
import {
  DOWNLOAD_BOUNDS,
  type DownloadDeps,
  type DownloadResult,
  download,
  downloadStreamed,
} from "../fetch/download.ts"
import type { CatalogueSource, LargeFormat } from "../lists/sources/catalogue.ts"
import { readDomainTree, readJson } from "../lists/sources/source-formats.ts"
import { dividedLines } from "./divided-lines.ts"
import { LARGE_BYTES_MAX, readRorDump } from "./ror-dump.ts"
import { ENTRIES_MAX } from "./source-validation.ts"

/**
 * Sources that are too large for a text in memory: archives, and tables of which one column is wanted. They are read as a stream, once for
 * all rows of the catalogue that have the same URL, and become a list of names for each row (`DECISIONS 146`).
 */

/** The bounds of a large download. */
export const LARGE_BOUNDS = { ...DOWNLOAD_BOUNDS, bytesMax: LARGE_BYTES_MAX, timeoutMs: 4 * 60_000 }
/** All large downloads of one refresh take so long: with the past of window sources, less than a refresh may take. */
const LARGE_TOTAL_MS = 5 * 60_000

const SWOT_BOUNDS = { entriesMax: 200_000, bytesMax: 512 * 1024 * 1024, contentBytesMax: 4 * 1024 * 1024 }
const CSV_LINE_CHARACTERS_MAX = 65_536

/** The names of each part, one on each line. */
type LargeParts = ReadonlyMap<string, string>

/** What came of a large download. */
type LargeResult =
  | { readonly kind: "taken"; readonly parts: LargeParts }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string }

/** A download that is not what its row says. */
class LargeRefusal extends Error {}

const refuse = (says: string): never => {
  throw new LargeRefusal(`It ${says}.`)
}

/** The part of a large download that is a row's. It never rejects. */
export type LargeDownloads = (
  row: CatalogueSource,
  url: string,
) => Promise<DownloadResult | { readonly kind: "refused"; readonly message: string }>

/** The large downloads of one refresh. Rows with the same URL share one, and one is read at a time. */
export function largeDownloads(deps: DownloadDeps & { readonly clock: () => number }): LargeDownloads {
  const results = new Map<string, Promise<LargeResult>>()
  const startedAtMs = deps.clock()
  return async (row, url) => {
    const earlier = [...results.values()]
    const result = await results.getOrInsertComputed(`${row.from.large} ${url}`, async () => {
      await Promise.allSettled(earlier)
      const leftMs = LARGE_TOTAL_MS - Math.abs(deps.clock() - startedAtMs)
      if (leftMs <= 0) return { kind: "failed", message: `Others took ${LARGE_TOTAL_MS / 60_000} minutes before it.` }
      return await downloadLarge(deps, row, url, Math.min(LARGE_BOUNDS.timeoutMs, leftMs))
    })
    if (result.kind !== "taken") return result
    const text = result.parts.get(row.from.part ?? "")
    if (text === undefined) return { kind: "refused", message: `It has no ${row.from.part}.` }
    return { kind: "taken", text, validators: { etag: null, lastModified: null } }
  }
}

/** Downloads a large source, and reads its parts. It never rejects. */
async function downloadLarge(
  deps: DownloadDeps,
  { from }: CatalogueSource,
  url: string,
  timeoutMs: number,
): Promise<LargeResult> {
  const { large } = from
  if (large === undefined) return { kind: "failed", message: "It is no large source." }
  const found = from.latest === undefined || url !== from.url ? url : await latestUrl(deps, url, from.latest, from.file)
  if (typeof found !== "string") return found
  const result = await downloadStreamed(deps, found, { ...LARGE_BOUNDS, timeoutMs }, async parts => {
    try {
      return { kind: "taken", parts: await LARGE_READERS[large](parts, from.at ?? "") } as const
    } catch (fault) {
      if (fault instanceof LargeRefusal) return { kind: "refused", message: fault.message } as const
      throw fault
    }
  })
  if (result.kind === "unchanged") return { kind: "failed", message: "Nothing was sent." }
  return result.kind === "taken" ? result.value : result
}

/** The URL of the newest file, which an index on the same server names. */
async function latestUrl(deps: DownloadDeps, index: string, path: string, file: string): Promise<string | LargeResult> {
  const result = await download(deps, index, null, DOWNLOAD_BOUNDS)
  if (result.kind === "unchanged") return { kind: "failed", message: "Nothing was sent." }
  if (result.kind === "failed") return result
  const read = readJson(result.text, path)
  const urls = read.kind === "entries" ? read.entries : []
  const latest = urls.find(url => URL.parse(url)?.pathname.includes(file))
  if (latest === undefined) return { kind: "refused", message: `Its index names no ${file}.` }
  const isSameServer = URL.parse(latest)?.origin === URL.parse(index)?.origin
  return isSameServer ? latest : { kind: "refused", message: "Its index names a file on another server." }
}

type LargeReader = (parts: AsyncIterable<Uint8Array>, at: string) => Promise<LargeParts>

/** The reader of each kind of large source. They throw for a download that is not what its row says. */
export const LARGE_READERS: Readonly<Record<LargeFormat, LargeReader>> = {
  ror_dump: parts => readRorDump(parts, refuse),
  swot_archive: readSwotArchive,
  csv_column: readDistinctColumn,
}

const SWOT_FOLDER = /^[^/]+\/lib\/domains\/(.+)$/
/** The lists about the tree of schools. */
const SWOT_LISTS: ReadonlyMap<string, string> = new Map([
  ["tlds.txt", "suffixes"],
  ["stoplist.txt", "stoplist"],
  ["abused.txt", "abused"],
])

/** Reads the schools, and the lists about them, of an archive of the repository of swot. */
async function readSwotArchive(parts: AsyncIterable<Uint8Array>): Promise<LargeParts> {
  const texts = new Map<string, string>()
  const paths: string[] = []
  const wantedPart = (path: string): string | undefined => SWOT_LISTS.get(SWOT_FOLDER.exec(path)?.[1] ?? "")
  await unpackGzip(parts, async unpacked => {
    for await (const { path, content } of tarFiles(
      unpacked,
      SWOT_BOUNDS,
      path => wantedPart(path) !== undefined,
      refuse,
    )) {
      const part = wantedPart(path)
      if (part !== undefined) texts.set(part, new TextDecoder().decode(content ?? undefined))
      const below = SWOT_FOLDER.exec(path)?.[1]
      if (part === undefined && below !== undefined) paths.push(below)
    }
  })
  const schools = readDomainTree(paths)
  if (schools.kind === "refused" || schools.entries.length === 0) refuse("has no folder lib/domains")
  else texts.set("schools", linesOf(schools.entries))
  return texts
}

/** Gives the unpacked bytes to a reader. It rejects as soon as the reader does: a pipeline would wait for the next part of the download first. */
function unpackGzip(
  parts: AsyncIterable<Uint8Array>,
  read: (unpacked: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const readOrReject = async (unpacked: AsyncIterable<Uint8Array>) => {
      await read(unpacked).catch(fault => {
        reject(fault)
        throw fault
      })
    }
    pipeline(parts, createGunzip(), readOrReject).then(resolve, reject)
  })
}

/** Reads the distinct cells of one column, before which no cell is quoted. */
async function readDistinctColumn(parts: AsyncIterable<Uint8Array>, column: string): Promise<LargeParts> {
  const names = new Set<string>()
  let index = -1
  for await (const line of dividedLines(parts, CSV_LINE_CHARACTERS_MAX, refuse)) {
    const cells = line.replace(/\r$/, "").split(",", index < 0 ? undefined : index + 1)
    if (index >= 0) {
      const cell = cells[index] ?? ""
      if (cell !== "" && !cells.some(one => one.includes('"'))) names.add(cell)
      if (names.size > ENTRIES_MAX) refuse(`has more than ${ENTRIES_MAX} names`)
      continue
    }
    index = cells.indexOf(column)
    if (index < 0) refuse(`has no column ${column}`)
  }
  return new Map([[column, linesOf([...names])]])
}

const linesOf = (names: readonly string[]): string => `${names.join("\n")}\n`
