import type { SourceRow } from "./catalogue.ts"
import type { ListingRule } from "./listing-rules.ts"
import { type NormalName, normalName, normalPattern } from "./normal-name.ts"
import {
  type Filled,
  type GuardName,
  isSetName,
  isWordSetName,
  SETS,
  WORD_SET_NAMES,
  type WordSetName,
} from "./sets.ts"
import type { ReadSource } from "./stock.ts"

/** What was read of one source, before any rule about sets. `read` = repeated + dropped + those that were taken. */
export type SourceCount = {
  read: number
  repeated: number
  dropped: Map<ListingRule, number>
  /** The first entries that are no names, for the report; never more than `MALFORMED_SHOWN_MAX`. */
  malformed: string[]
}

/** How many malformed entries of a source the report shows. */
const MALFORMED_SHOWN_MAX = 20

/** All that the sources say, with names in normal form. Sources are meant by their index in `sources`. */
export type Gathered = {
  readonly sources: readonly SourceRow[]
  readonly read: readonly ReadSource[]
  readonly counts: readonly SourceCount[]
  /** The sources that list a name or a suffix, ascending. */
  readonly names: ReadonlyMap<string, readonly number[]>
  readonly guards: Readonly<Record<GuardName, ReadonlySet<string>>>
  readonly words: Readonly<Record<WordSetName, ReadonlySet<string>>>
  readonly groupDomains: ReadonlySet<string>
}

/** Takes in what every source says, or tells how they contradict each other. */
export function gather(
  read: readonly ReadSource[],
):
  | { readonly kind: "gathered"; readonly gathered: Gathered }
  | { readonly kind: "refused"; readonly faults: readonly string[] } {
  const into = emptyGathering()
  const counts = read.map((source, index) => take(into, source, index))
  const faults = [...into.words.group].filter(word => into.words.shared_inbox.has(word))
  if (faults.length > 0)
    return { kind: "refused", faults: faults.map(word => `"${word}" is a group word and a shared-inbox word`) }
  return { kind: "gathered", gathered: { ...into, sources: read.map(({ row }) => row), read, counts } }
}

const emptyGathering = () => ({
  names: new Map<string, number[]>(),
  guards: {
    never_disposable: new Set<string>(),
    not_personal: new Set<string>(),
    not_education: new Set<string>(),
    not_role: new Set<string>(),
    popular: new Set<string>(),
  } satisfies Record<GuardName, Set<string>>,
  words: Object.fromEntries(WORD_SET_NAMES.map(set => [set, new Set<string>()])) as Record<WordSetName, Set<string>>,
  groupDomains: new Set<string>(),
})

type Gathering = ReturnType<typeof emptyGathering>

/** Takes one source's entries in; returns what became of them. */
function take(into: Gathering, { row, entries, misshapen }: ReadSource, index: number): SourceCount {
  const count: SourceCount = { read: entries.length + misshapen, repeated: 0, dropped: new Map(), malformed: [] }
  if (misshapen > 0) count.dropped.set("malformed", misshapen)
  const normal = normalizerOf(row.set)
  for (const entry of entries) {
    const taken = normal(entry)
    if (taken.kind === "dropped") {
      count.dropped.set(taken.rule, (count.dropped.get(taken.rule) ?? 0) + 1)
      count.malformed.push(entry)
    } else if (!add(into, row, index, taken.name)) count.repeated++
  }
  count.malformed = count.malformed.sort().slice(0, MALFORMED_SHOWN_MAX)
  return count
}

/** What brings an entry of a source that fills `set` into normal form: a name, a suffix pattern or a word. */
export function normalizerOf(set: Filled): (entry: string) => NormalName {
  if (isWordSetName(set) || set === "not_role") return normalWord
  return isSetName(set) && SETS[set].matches === "suffix" ? normalPattern : normalName
}

/** A word as it stands in a local part: lower case, NFC, no space and no `@`. */
function normalWord(entry: string): NormalName {
  const name = entry.toLowerCase().normalize("NFC")
  return /^[^\s@\p{Cc}]{1,64}$/u.test(name) ? { kind: "name", name } : { kind: "dropped", rule: "malformed" }
}

/** Adds a name; false when this source gave it before. */
function add(into: Gathering, { set }: SourceRow, index: number, name: string): boolean {
  if (!isSetName(set)) {
    const held = isWordSetName(set) ? into.words[set] : set === "group_service" ? into.groupDomains : into.guards[set]
    const before = held.size
    held.add(name)
    return held.size > before
  }
  const listedBy = into.names.get(name)
  if (listedBy === undefined) into.names.set(name, [index])
  else if (listedBy.at(-1) === index) return false
  else listedBy.push(index)
  return true
}
