import { type CatalogueSource, isDownloaded } from "../lists/sources/catalogue.ts"
import { normalizeName } from "../lists/sources/normalized-name.ts"
import type { DownloadedSource, SourceBundle } from "../lists/sources/source-bundle.ts"
import { FORMAT_READERS, type SourceFiles } from "../lists/sources/source-formats.ts"
import {
  normalizeEntries,
  type PreviousSource,
  type NeverListedNames as Rules,
  validateSource,
} from "./source-validation.ts"
import type { StoredDownload } from "./stored-download.ts"

/** The names in the text of a source, or why it is not fit to be used. */
type ReadDownloadResult =
  | ({ readonly kind: "fit" } & Pick<DownloadedSource, "entries" | "misshapen">)
  | { readonly kind: "refused"; readonly message: string }

/** Reads the text that was downloaded of a source, strictly, and compares it with the last good copy; null: there is none. */
export function readDownloadedSource(
  row: CatalogueSource,
  text: string,
  last: StoredDownload | null,
  rules: ValidationContext,
): ReadDownloadResult {
  const { format, at, first } = row.from
  const read = FORMAT_READERS[format](singleFile(text), "", at ?? "")
  if (read.kind === "refused") return { kind: "refused", message: `It cannot be read: ${read.message}.` }
  const entries = first === undefined ? read.entries : read.entries.slice(0, first)
  const found = { set: row.set, entries, misshapen: read.malformedCount, endsCleanly: text.endsWith("\n") }
  const before =
    last === null ? rules.builtIn : { ...last, names: new Set(last.copy.entries), count: last.copy.entries.length }
  const named = normalizeEntries(found)
  const faults = validateSource(found, before, rules, named)
  if (faults.length > 0) return { kind: "refused", message: faults.map(({ says }) => says).join(" ") }
  return { kind: "fit", entries: [...named.names], misshapen: named.malformedCount }
}

/** A shelf on which one text lies. */
const singleFile = (text: string): SourceFiles => ({ read: () => text, list: () => [] })

/** What a download of one source is measured by. */
type ValidationContext = Rules & {
  /** The built-in source that it renews, as the copy before the first; null: there is none. */
  readonly builtIn: PreviousSource | null
}

/**
 * The rules for a source. Names that no list may hold are the foremost providers, and in a list of disposable domains those
 * that are never disposable, among which there are schools and offices of state; what a built-in source of the set has of
 * them is a fault that is known, and dropped when a pack is made.
 */
export function validationContext(
  { sources, topProviders }: SourceBundle,
  { set, renews }: CatalogueSource,
): ValidationContext {
  const entriesOf = (isWanted: (row: CatalogueSource) => boolean) =>
    sources.filter(({ row }) => isWanted(row) && !isDownloaded(row)).flatMap(({ entries }) => entries)
  const neverDisposable = set === "disposable" ? entriesOf(row => row.set === "never_disposable") : []
  const neverListed = namesOf([...topProviders, ...neverDisposable])
  const renewed = namesOf(entriesOf(row => row.id === renews))
  return {
    neverListed,
    knownFaults: new Set(
      entriesOf(row => row.set === set)
        .map(entry => entry.toLowerCase())
        .filter(entry => neverListed.has(entry)),
    ),
    builtIn: renewed.size === 0 ? null : { count: renewed.size, names: renewed, endsCleanly: false },
  }
}

function namesOf(entries: readonly string[]): ReadonlySet<string> {
  const names = entries.map(normalizeName)
  return new Set(names.flatMap(name => (name.kind === "name" ? [name.name] : [])))
}
