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
import type { CatalogueSource } from "../sources/catalogue.ts"
import { type NormalizedName, normalizeName, normalizePattern } from "../sources/normalized-name.ts"
import type { LoadedSource } from "../sources/source-bundle.ts"

/** What was read of one source, before any rule about sets. `read` = repeated + dropped + those that were taken. */
export type EntryCounts = {
  read: number
  repeated: number
  dropped: Map<ListingRule, number>
  /** The first entries that are no names, for the report; never more than `MALFORMED_SHOWN_MAX`. */
  malformed: string[]
}

/** How many malformed entries of a source the report shows. */
const MALFORMED_REPORTED_MAX = 20

/** All that the sources say, with names in normal form. Sources are meant by their index in `sources`. */
export type CollectedEntries = {
  readonly sources: readonly CatalogueSource[]
  readonly loadedSources: readonly LoadedSource[]
  readonly counts: readonly EntryCounts[]
  /** The sources that list a name or a suffix, ascending. */
  readonly sourcesByName: ReadonlyMap<string, readonly number[]>
  readonly guards: Readonly<Record<GuardSetName, ReadonlySet<string>>>
  readonly words: Readonly<Record<WordSetName, ReadonlySet<string>>>
  readonly groupDomains: ReadonlySet<string>
}

/** Takes in what every source says, or tells how they contradict each other. */
export function collectEntries(
  loadedSources: readonly LoadedSource[],
):
  | { readonly kind: "gathered"; readonly collected: CollectedEntries }
  | { readonly kind: "refused"; readonly faults: readonly string[] } {
  const into = emptyCollection()
  const counts = loadedSources.map((source, index) => collectSource(into, source, index))
  const faults = [...into.words.group].filter(word => into.words.shared_inbox.has(word))
  if (faults.length > 0)
    return { kind: "refused", faults: faults.map(word => `"${word}" is a group word and a shared-inbox word`) }
  return {
    kind: "gathered",
    collected: { ...into, sources: loadedSources.map(({ row }) => row), loadedSources, counts },
  }
}

const emptyCollection = () => ({
  sourcesByName: new Map<string, number[]>(),
  guards: {
    never_disposable: new Set<string>(),
    not_personal: new Set<string>(),
    not_education: new Set<string>(),
    not_role: new Set<string>(),
    popular: new Set<string>(),
  } satisfies Record<GuardSetName, Set<string>>,
  words: Object.fromEntries(WORD_SET_NAMES.map(set => [set, new Set<string>()])) as Record<WordSetName, Set<string>>,
  groupDomains: new Set<string>(),
})

type EntryCollection = ReturnType<typeof emptyCollection>

/** Takes one source's entries in; returns what became of them. */
function collectSource(into: EntryCollection, { row, entries, misshapen }: LoadedSource, index: number): EntryCounts {
  const count: EntryCounts = { read: entries.length + misshapen, repeated: 0, dropped: new Map(), malformed: [] }
  if (misshapen > 0) count.dropped.set("malformed", misshapen)
  const normal = normalizerFor(row.set)
  for (const entry of entries) {
    const taken = normal(entry)
    if (taken.kind === "dropped") {
      count.dropped.set(taken.rule, (count.dropped.get(taken.rule) ?? 0) + 1)
      count.malformed.push(entry)
    } else if (!addEntry(into, row, index, taken.name)) count.repeated++
  }
  count.malformed = count.malformed.sort().slice(0, MALFORMED_REPORTED_MAX)
  return count
}

/** What brings an entry of a source that fills `set` into normal form: a name, a suffix pattern or a word. */
export function normalizerFor(set: FillableSet): (entry: string) => NormalizedName {
  if (isWordSetName(set) || set === "not_role") return normalizeWord
  return isSetName(set) && SETS[set].matches === "suffix" ? normalizePattern : normalizeName
}

/** A word as it stands in a local part: lower case, NFC, no space and no `@`. */
function normalizeWord(entry: string): NormalizedName {
  const name = entry.toLowerCase().normalize("NFC")
  return /^[^\s@\p{Cc}]{1,64}$/u.test(name) ? { kind: "name", name } : { kind: "dropped", rule: "malformed" }
}

/** Adds a name; false when this source gave it before. */
function addEntry(into: EntryCollection, { set }: CatalogueSource, index: number, name: string): boolean {
  if (!isSetName(set)) {
    const held = isWordSetName(set) ? into.words[set] : set === "group_service" ? into.groupDomains : into.guards[set]
    const before = held.size
    held.add(name)
    return held.size > before
  }
  const listedBy = into.sourcesByName.get(name)
  if (listedBy === undefined) into.sourcesByName.set(name, [index])
  else if (listedBy.at(-1) === index) return false
  else listedBy.push(index)
  return true
}
