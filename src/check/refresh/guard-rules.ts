import { isDownloaded, type SourceRow } from "../lists/catalogue.ts"
import { normalName } from "../lists/normal-name.ts"
import type { Stock } from "../lists/stock.ts"
import type { Before, GuardRules as Rules } from "./source-guard.ts"

/** What a download of one source is measured by. */
export type GuardRules = Rules & {
  /** The built-in source that it renews, as the copy before the first; null: there is none. */
  readonly builtIn: Before | null
}

/**
 * The rules for a source. Names that no list may hold are the foremost providers, and in a list of disposable domains those
 * that are never disposable, among which there are schools and offices of state; what a built-in source of the set has of
 * them is a fault that is known, and dropped when a pack is made.
 */
export function guardRules({ sources, providersFirst }: Stock, { set, renews }: SourceRow): GuardRules {
  const entriesOf = (isWanted: (row: SourceRow) => boolean) =>
    sources.filter(({ row }) => isWanted(row) && !isDownloaded(row)).flatMap(({ entries }) => entries)
  const neverDisposable = set === "disposable" ? entriesOf(row => row.set === "never_disposable") : []
  const neverListed = namesOf([...providersFirst, ...neverDisposable])
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
  const names = entries.map(normalName)
  return new Set(names.flatMap(name => (name.kind === "name" ? [name.name] : [])))
}
