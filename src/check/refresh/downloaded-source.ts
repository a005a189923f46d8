import { countGarbage } from "../../base/garbage.ts"
import { type CatalogueSource, isCurated, isDownloaded, isTrusted, wantedEntries } from "../lists/sources/catalogue.ts"
import { normalizeName } from "../lists/sources/normalized-name.ts"
import type { DownloadedSource, SourceBundle } from "../lists/sources/source-bundle.ts"
import { FORMAT_READERS, type SourceFiles } from "../lists/sources/source-formats.ts"
import {
  describeLeftOut,
  entryCountFault,
  type LeftOutNames,
  leftOutNames,
  type NeverListedNames,
  normalizeEntries,
  type PreviousSource,
  textFault,
  type UnreadableLines,
  validateSource,
  withoutNames,
} from "./source-validation.ts"
import type { StoredDownload } from "./stored-download.ts"

/** The names of a downloaded text, or why it is rejected. */
type ReadDownloadResult =
  | ({
      readonly kind: "valid"
      readonly leftOut: LeftOutNames
      /** Null: there are none, or the format does not tell their lines. */
      readonly unreadable: UnreadableLines | null
    } & Pick<DownloadedSource, "entries" | "malformedCount">)
  | { readonly kind: "refused"; readonly message: string }

/**
 * Reads a downloaded text and compares it with the last valid download; null: there is none. Unlike the build of a pack,
 * it rejects a text with too many malformed entries, and leaves out single names that no such list may hold.
 */
export function readDownloadedSource(
  row: CatalogueSource,
  text: string,
  last: StoredDownload | null,
  context: ValidationContext,
): ReadDownloadResult {
  const { format, at } = row.from
  const unreadable = textFault(text)
  if (unreadable !== null) return { kind: "refused", message: unreadable }
  const read = FORMAT_READERS[format](singleFile(text), "", at ?? "")
  countGarbage(text.length / GARBAGE_BYTES)
  if (read.kind === "refused") return { kind: "refused", message: `It cannot be read: ${read.message}.` }
  const { malformedCount, firstMalformedLine } = read
  const entries = wantedEntries(row, read.entries)
  const tooMany = entryCountFault(entries.length + malformedCount)
  if (tooMany !== null) return { kind: "refused", message: tooMany }
  const isWindow = row.window !== undefined
  const endsWithNewline = text.endsWith("\n")
  const downloaded = { set: row.set, entries, malformedCount, firstMalformedLine, endsWithNewline, isWindow }
  const normalized = normalizeEntries(downloaded)
  const faults = validateSource(downloaded, last === null ? context.builtIn : previousOf(last), context, normalized)
  if (faults.length > 0) return { kind: "refused", message: faults.map(({ message }) => message).join(" ") }
  const leftOut = leftOutNames(downloaded, normalized.names, context)
  return {
    kind: "valid",
    entries: [...withoutNames(normalized.names, leftOut)],
    malformedCount: normalized.malformedCount,
    leftOut: describeLeftOut(leftOut),
    unreadable: firstMalformedLine === undefined ? null : { count: malformedCount, first_line: firstMalformedLine },
  }
}

function previousOf({ source: { entries }, window, endsWithNewline }: StoredDownload): PreviousSource {
  return { count: window?.taken.at(-1)?.names ?? entries.length, endsWithNewline }
}

/** Reading so many bytes leaves the garbage of work on one name. */
const GARBAGE_BYTES = 16

/** Source files that consist of one text. */
const singleFile = (text: string): SourceFiles => ({ read: () => text, list: () => [] })

/** What the downloads of one source are validated against. */
type ValidationContext = NeverListedNames & {
  /** The built-in source that the download renews; it stands for the previous download before the first. Null: none. */
  readonly builtIn: PreviousSource | null
}

/**
 * Returns the validation context of a source of the bundle. The most used providers may not be in any list. Names that are never disposable, popular
 * names and curated providers may not be in a disposable list. Such names that a built-in source of the same set already has are
 * known faults; building a pack drops them. A window of disposable names may not have known organisations, government bodies and
 * schools either, since strangers decide what it has tomorrow.
 */
export function validationContexts(bundle: SourceBundle): (row: CatalogueSource) => ValidationContext {
  // Most sources fill one set, and its guards are looked for among hundreds of thousands of entries.
  const known = new Map<string, Guards>()
  return row => {
    const { set, window, never_listed_max } = row
    const key = `${set} ${window !== undefined}`
    const guards = known.get(key) ?? guardsOf(bundle, set, window === undefined ? isDisposableGuard : isWindowGuard)
    known.set(key, guards)
    const renewedCount = renewedNames(bundle, row).length
    const builtIn = renewedCount === 0 ? null : { count: renewedCount, endsWithNewline: false }
    return { ...guards, neverListedMax: never_listed_max, builtIn }
  }
}

type Guards = Pick<NeverListedNames, "neverListed" | "knownFaults">

function guardsOf(
  bundle: SourceBundle,
  set: CatalogueSource["set"],
  isGuard: (row: CatalogueSource) => boolean,
): Guards {
  const neverListed = normalizedNames(bundle.topProviders)
  if (set === "disposable") addNormalizedNames(neverListed, builtInEntries(bundle, isGuard))
  const knownFaults = new Set<string>()
  for (const entry of builtInEntries(bundle, row => row.set === set)) {
    const name = entry.toLowerCase()
    if (neverListed.has(name)) knownFaults.add(name)
  }
  return { neverListed, knownFaults }
}

/** The entries of some built-in sources, one source after the other. */
function* builtInEntries({ sources }: SourceBundle, isIncluded: (row: CatalogueSource) => boolean): Generator<string> {
  for (const source of sources) {
    if (!isIncluded(source.row) || isDownloaded(source.row)) continue
    for (const entry of source.entries) {
      countGarbage()
      yield entry
    }
  }
}

/** The names of the built-in source that a download renews, without duplicates; none: it renews none. */
export function renewedNames({ sources }: SourceBundle, { renews }: CatalogueSource): readonly string[] {
  return [...normalizedNames(sources.find(({ row }) => row.id === renews && !isDownloaded(row))?.entries ?? [])]
}

/** Whether the names of a built-in source may not be in a disposable list. */
const isDisposableGuard = (row: CatalogueSource): boolean =>
  row.set === "never_disposable" || row.set === "popular" || (row.set === "personal" && isCurated(row))

/** Whether the names of a built-in source may not be in a window of disposable names. */
const isWindowGuard = (row: CatalogueSource): boolean =>
  isDisposableGuard(row) || (WINDOW_GUARD_SETS.has(row.set) && isTrusted(row))

const WINDOW_GUARD_SETS: ReadonlySet<CatalogueSource["set"]> = new Set(["organisation", "government", "education"])

function normalizedNames(entries: Iterable<string>): Set<string> {
  const names = new Set<string>()
  addNormalizedNames(names, entries)
  return names
}

function addNormalizedNames(names: Set<string>, entries: Iterable<string>): void {
  for (const entry of entries) {
    countGarbage()
    const normalized = normalizeName(entry)
    if (normalized.kind === "name") names.add(normalized.name)
  }
}
