import { countGarbage } from "../../base/garbage.ts"
import { collectEntries } from "../lists/build/collect-entries.ts"
import { resolveConflicts } from "../lists/build/resolve-conflicts.ts"
import { createSuffixMatcher } from "../lists/pack/suffix-pattern.ts"
import { isSetName, isWordSetName, SETS } from "../lists/sets.ts"
import { type CatalogueSource, isDownloaded } from "../lists/sources/catalogue.ts"
import { type LoadedSource, NO_LATER_ENTRIES, type SourceBundle } from "../lists/sources/source-bundle.ts"

/** How many names a download may free from the disposable set in a day, be it the first one. */
const FREED_A_DAY_MAX = 100

/** So many names are judged at a time, which bounds the memory. */
const JUDGED_AT_ONCE = 50_000

/** The sources before and after a download. */
export type BundleChange = {
  /** Without the names of the source that are new today. */
  readonly before: SourceBundle
  readonly after: SourceBundle
  /** Those names. */
  readonly added: Iterable<string>
}

/**
 * Why a download may not take effect because of the names that it frees from the disposable set; null: it may. Whatever the set of
 * its source: a source that turned hostile could free every name that its set outranks at once (`DECISIONS 66`). Which names are
 * freed is judged by the rules by which a pack is built. All new removals count, since they also free names that are listed later.
 */
export function freedNamesFault({ set }: CatalogueSource, change: BundleChange): string | null {
  if (set === "disposable" || isWordSetName(set)) return null
  const added = new Set(change.added)
  const count = set === "removed_disposable" ? removalCount(change.before, added) : freedCount(change, added)
  return count > FREED_A_DAY_MAX
    ? `It would remove ${count} names from the disposable set in a day. The limit is ${FREED_A_DAY_MAX}.`
    : null
}

/** The number of new removals without those that a built-in source has too. */
function removalCount({ sources }: SourceBundle, added: Set<string>): number {
  for (const source of sources)
    if (source.row.set === "removed_disposable" && !isDownloaded(source.row))
      for (const entry of source.entries) added.delete(entry.toLowerCase())
  return added.size
}

/** The number of names that are disposable before and not after; if it is more than may be, only those that were found first. */
function freedCount({ before, after }: BundleChange, added: ReadonlySet<string>): number {
  if (added.size === 0) return 0
  const freed = new Set<string>()
  for (const names of affectedNames(before, added)) {
    // Few names cannot be too many, and most downloads bring few that any list calls disposable.
    if (freed.size + names.size <= FREED_A_DAY_MAX) {
      for (const name of names) freed.add(name)
      continue
    }
    const disposableAfter = disposableNames(after, names)
    for (const name of disposableNames(before, names)) if (!disposableAfter.has(name)) freed.add(name)
    if (freed.size > FREED_A_DAY_MAX) break
  }
  return freed.size
}

/** The names of disposable sources that are among the new names or below one, in sets of at most `JUDGED_AT_ONCE`. */
function* affectedNames({ sources }: SourceBundle, added: ReadonlySet<string>): Generator<ReadonlySet<string>> {
  const isAffected = createSuffixMatcher(added)
  let names = new Set<string>()
  for (const source of sources) {
    if (source.row.set !== "disposable") continue
    for (const entry of source.entries) {
      countGarbage()
      const name = entry.toLowerCase()
      if (!isAffected(name)) continue
      names.add(name)
      if (names.size < JUDGED_AT_ONCE) continue
      yield names
      names = new Set()
    }
  }
  if (names.size > 0) yield names
}

/** Which of the names a pack of these sources calls disposable. */
function disposableNames({ sources }: SourceBundle, names: ReadonlySet<string>): ReadonlySet<string> {
  const levels = new Set<string>()
  for (const name of names) for (let at = 0; at >= 0; at = name.indexOf(".", at) + 1 || -1) levels.add(name.slice(at))
  const bearing = sources.filter(({ row }) => !isWordSetName(row.set)).map(source => withOnly(source, levels))
  const result = collectEntries(bearing)
  const disposable = new Set<string>()
  if (result.kind === "refused") return disposable
  const { sourcesByName } = result.collected
  const resolved = resolveConflicts(result.collected)
  for (const name of names) {
    const indexes = sourcesByName.get(name) ?? []
    const outcomes = resolved.get(name) ?? []
    if (indexes.some((index, at) => bearing[index]?.row.set === "disposable" && outcomes[at] === "kept"))
      disposable.add(name)
  }
  return disposable
}

/** A source with those of its entries that bear on names with these levels: of a source of suffixes all. */
function withOnly({ row, entries, ...source }: LoadedSource, levels: ReadonlySet<string>): LoadedSource {
  const isOfSuffixes = isSetName(row.set) && SETS[row.set].matches === "suffix"
  const bearing = entries.filter(entry => {
    countGarbage()
    return isOfSuffixes || levels.has(entry.toLowerCase())
  })
  return { ...source, row, entries: bearing, malformedCount: 0, addedOn: NO_LATER_ENTRIES }
}
