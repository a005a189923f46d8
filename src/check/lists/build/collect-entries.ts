import { countGarbage } from "../../../base/garbage.ts"
import type { ListingRule } from "../listing-rules.ts"
import {
  type FillableSet,
  type GuardSetName,
  isSetName,
  isWordSetName,
  SETS,
  WORD_SET_NAMES,
  type WordSetName,
} from "../sets.ts"
import { type CatalogueSource, isDownloaded, trustRank } from "../sources/catalogue.ts"
import { type NormalizedName, normalizeName, normalizePattern } from "../sources/normalized-name.ts"
import type { LoadedSource } from "../sources/source-bundle.ts"
import { type NameValues, NameValuesBuilder } from "./name-values.ts"

/** Counts of one source's entries before the rules about sets. `read` = repeated + dropped + collected. */
export type EntryCounts = {
  read: number
  repeated: number
  dropped: Map<ListingRule, number>
  /** The first malformed entries, for the report; at most `MALFORMED_REPORTED_MAX`. */
  malformed: string[]
}

const MALFORMED_REPORTED_MAX = 20

/** The entries of all sources, with names in normalize form. A source is referred to by its index in `sources`. */
export type CollectedEntries = {
  readonly sources: readonly CatalogueSource[]
  readonly loadedSources: readonly LoadedSource[]
  readonly counts: readonly EntryCounts[]
  /** The indexes of the sources that list a name or a suffix, ascending. */
  readonly sourcesByName: NameValues<readonly number[]>
  readonly guards: Readonly<Record<GuardSetName, ReadonlySet<string>>>
  /** The names of `never_disposable` that downloads alone list: an operator's own list overrules those. */
  readonly neverByDownload: ReadonlySet<string>
  /** For each name that curators took out of a disposable list: the highest `trustRank` of a source that removed it. */
  readonly removals: ReadonlyMap<string, number>
  readonly words: Readonly<Record<WordSetName, ReadonlySet<string>>>
  readonly groupDomains: ReadonlySet<string>
}

/** Collects the entries of all sources, or reports how their words contradict each other. */
export function collectEntries(
  loadedSources: readonly LoadedSource[],
):
  | { readonly kind: "collected"; readonly collected: CollectedEntries }
  | { readonly kind: "refused"; readonly faults: readonly string[] } {
  const into = emptyCollection()
  const counts = loadedSources.map((source, index) => collectSource(into, source, index))
  const faults = [...into.words.group].filter(word => into.words.shared_inbox.has(word))
  if (faults.length > 0)
    return { kind: "refused", faults: faults.map(word => `"${word}" is a group word and a shared-inbox word`) }
  return {
    kind: "collected",
    collected: {
      ...into,
      sourcesByName: into.sourcesByName.build(),
      sources: loadedSources.map(({ row }) => row),
      loadedSources,
      counts,
    },
  }
}

const emptyCollection = () => ({
  sourcesByName: new NameValuesBuilder<readonly number[]>(),
  guards: {
    never_disposable: new Set<string>(),
    not_personal: new Set<string>(),
    not_education: new Set<string>(),
    not_role: new Set<string>(),
    popular: new Set<string>(),
    removed_disposable: new Set<string>(),
  } satisfies Record<GuardSetName, Set<string>>,
  neverByDownload: new Set<string>(),
  removals: new Map<string, number>(),
  words: Object.fromEntries(WORD_SET_NAMES.map(set => [set, new Set<string>()])) as Record<WordSetName, Set<string>>,
  groupDomains: new Set<string>(),
})

type EntryCollection = ReturnType<typeof emptyCollection>

/** Adds the entries of one source and counts them. */
function collectSource(
  into: EntryCollection,
  { row, entries, malformedCount, removedOn }: LoadedSource,
  index: number,
): EntryCounts {
  const count: EntryCounts = { read: entries.length + malformedCount, repeated: 0, dropped: new Map(), malformed: [] }
  if (malformedCount > 0) count.dropped.set("malformed", malformedCount)
  const normalize = normalizerFor(row.set)
  for (const entry of entries) {
    countGarbage()
    const normalized = normalize(entry)
    if (normalized.kind === "dropped") {
      count.dropped.set(normalized.rule, (count.dropped.get(normalized.rule) ?? 0) + 1)
      count.malformed.push(entry)
    } else if (!addEntry(into, row, index, normalized.name)) count.repeated++
  }
  for (const name of removedOn?.keys() ?? []) addRemoval(into, row, name)
  count.malformed = count.malformed.sort().slice(0, MALFORMED_REPORTED_MAX)
  return count
}

/** The function that normalizes an entry of a source that fills `set`: as a name, a suffix pattern or a word. */
export function normalizerFor(set: FillableSet): (entry: string) => NormalizedName {
  if (isWordSetName(set) || set === "not_role") return normalizeWord
  return isSetName(set) && SETS[set].matches === "suffix" ? normalizePattern : normalizeName
}

/** Normalizes a word of a local part: lower case, NFC, without white space and `@`. */
function normalizeWord(entry: string): NormalizedName {
  const name = entry.toLowerCase().normalize("NFC")
  return /^[^\s@\p{Cc}]{1,64}$/u.test(name) ? { kind: "name", name } : { kind: "dropped", rule: "malformed" }
}

const addRemoval = ({ removals }: EntryCollection, source: CatalogueSource, name: string): unknown =>
  removals.set(name, Math.max(trustRank(source), removals.get(name) ?? 0))

function addNever({ guards, neverByDownload }: EntryCollection, source: CatalogueSource, name: string): void {
  if (!isDownloaded(source)) neverByDownload.delete(name)
  else if (!guards.never_disposable.has(name)) neverByDownload.add(name)
}

/** Adds a name; false: this source has listed it before. */
function addEntry(into: EntryCollection, source: CatalogueSource, index: number, name: string): boolean {
  const { set } = source
  if (set === "removed_disposable") addRemoval(into, source, name)
  if (!isSetName(set)) {
    const collection = isWordSetName(set)
      ? into.words[set]
      : set === "group_service"
        ? into.groupDomains
        : into.guards[set]
    const before = collection.size
    if (set === "never_disposable") addNever(into, source, name)
    collection.add(name)
    return collection.size > before
  }
  const listedBy = into.sourcesByName.get(name) ?? []
  if (listedBy.at(-1) === index) return false
  into.sourcesByName.set(name, [...listedBy, index])
  return true
}
