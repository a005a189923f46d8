import type { Pack } from "../src/check/lists/domain-set.ts"
import { normalName, registrableOf } from "../src/check/lists/normal-name.ts"
import type { Stock } from "../src/check/lists/stock.ts"
import { listsOf } from "./accuracy-lists.ts"

/** What becomes of the throw-away domains that one source alone knows, when that source is not there. */
export type HeldOut = {
  /** How many names the source lists. */
  readonly listed: number
  /** How many names no other source of throw-away domains lists. */
  readonly alone: number
  /** Of them, how many are disposable with the source: the lists after its refresh. */
  readonly caughtWith: number
  /** How many are disposable without it: the lists before. */
  readonly caughtWithout: number
  /** How many of those by a parent that another source lists. */
  readonly caughtByParent: number
}

/** Builds the pack without the source, and asks it for the names that only that one lists. `pack` is the one with it. */
export function heldOut(stock: Stock, pack: Pack, id: string): HeldOut {
  const names = namesOf(stock, source => source === id)
  const others = namesOf(stock, source => source !== id)
  const alone = [...names].filter(name => !others.has(name))
  // A source without entries is no witness, and nothing counts as copied from it.
  const sources = stock.sources.map(source =>
    source.row.id === id ? { ...source, entries: [], misshapen: 0 } : source,
  )
  const without = listsOf({ ...stock, sources }).pack
  const caught = (by: Pack) => alone.filter(name => by.listed(name, registrableOf(name)).has("disposable"))
  const before = caught(without)
  return {
    listed: names.size,
    alone: alone.length,
    caughtWith: caught(pack).length,
    caughtWithout: before.length,
    caughtByParent: before.filter(name => without.listed(name, registrableOf(name)).entry !== name).length,
  }
}

function namesOf(stock: Stock, isAsked: (id: string) => boolean): ReadonlySet<string> {
  const asked = stock.sources.filter(({ row }) => row.set === "disposable" && isAsked(row.id))
  const names = asked.flatMap(({ entries }) => entries.map(normalName))
  return new Set(names.flatMap(normal => (normal.kind === "name" ? [normal.name] : [])))
}
