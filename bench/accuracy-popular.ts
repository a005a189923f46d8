import type { Pack } from "../src/check/lists/domain-set.ts"
import { LISTING_RULES } from "../src/check/lists/listing-rules.ts"
import { normalName, registrableOf } from "../src/check/lists/normal-name.ts"
import type { Filled } from "../src/check/lists/sets.ts"
import type { Stock } from "../src/check/lists/stock.ts"

/** A well-known name that a source of throw-away domains lists. */
export type Accused = {
  readonly name: string
  readonly sources: readonly string[]
  /** What became of that in the pack: the first rule that kept the name out of the disposable set; null: it is in it. */
  readonly rule: string | null
}

/** Sets that hold the names that most people know. */
const WELL_KNOWN: readonly Filled[] = ["popular", "organisation", "personal"]

/** The names that most people know: those of our own files, and the providers that most people use. */
export function wellKnownNames({ sources, providersFirst }: Stock): ReadonlySet<string> {
  const ours = sources.filter(({ row, header }) => header !== null && WELL_KNOWN.includes(row.set))
  return new Set([...providersFirst, ...ours.flatMap(({ entries }) => entries)])
}

/** The well-known names that a source of throw-away domains lists, by name, each with what became of it. */
export function accusedNames(stock: Stock, pack: Pack): readonly Accused[] {
  const known = wellKnownNames(stock)
  const sourcesOf = new Map<string, string[]>()
  for (const { row, entries } of stock.sources) {
    if (row.set !== "disposable") continue
    for (const entry of entries) {
      const normal = normalName(entry)
      if (normal.kind === "name" && known.has(normal.name))
        sourcesOf.set(normal.name, [...(sourcesOf.get(normal.name) ?? []), row.id])
    }
  }
  return [...sourcesOf.keys()].sort().map(name => {
    const sources = [...new Set(sourcesOf.get(name))]
    return { name, sources, rule: ruleOver(name, pack) }
  })
}

/** Every rule that keeps the name out of the disposable set is in `LISTING_RULES`. */
function ruleOver(name: string, pack: Pack): string | null {
  if (pack.listed(name, registrableOf(name)).has("disposable")) return null
  const dropped = pack.listings(name).filter(({ set, outcome }) => set === "disposable" && outcome in LISTING_RULES)
  return dropped[0]?.outcome ?? "redundant"
}
