import { type DomainLists, openLists } from "../../src/check/domain-lookup.ts"
import { buildPack } from "../../src/check/lists/build/build-pack.ts"
import { LISTING_RULES } from "../../src/check/lists/listing-rules.ts"
import type { Pack } from "../../src/check/lists/pack/pack.ts"
import type { FillableSet } from "../../src/check/lists/sets.ts"
import { normalizeName, registrableDomain } from "../../src/check/lists/sources/normalized-name.ts"
import { readSourceBundle, type SourceBundle } from "../../src/check/lists/sources/source-bundle.ts"
import type { SourceFiles } from "../../src/check/lists/sources/source-formats.ts"

/** The sources of the lists as they stand on the shelf now: what was edited counts, whether it is built or not. */
export function stockOn(shelf: SourceFiles): SourceBundle {
  const read = readSourceBundle(shelf.read("data/catalogue.json"), shelf)
  if (read.kind === "refused") throw new Error(["the sources are faulty:", ...read.faults].join("\n"))
  return read.bundle
}

/** The lists that a stock gives, built in memory. */
export function listsOf(stock: SourceBundle): DomainLists {
  const built = buildPack(stock)
  if (built.kind === "refused") throw new Error(["the sources are faulty:", ...built.faults].join("\n"))
  const opened = openLists(built.bytes, true)
  if (opened.kind === "refused") throw new Error(opened.message)
  return opened.lists
}

/** A well-known name that a source of throw-away domains lists. */
type WronglyListed = {
  readonly name: string
  readonly sources: readonly string[]
  /** What became of that in the pack: the first rule that kept the name out of the disposable set; null: it is in it. */
  readonly rule: string | null
}

/** Sets that hold the names that most people know. */
const WELL_KNOWN: readonly FillableSet[] = ["popular", "organisation", "personal"]

/** The names that most people know: those of our own files, and the providers that most people use. */
export function wellKnownNames({ sources, topProviders }: SourceBundle): ReadonlySet<string> {
  const ours = sources.filter(({ row, header }) => header !== null && WELL_KNOWN.includes(row.set))
  return new Set([...topProviders, ...ours.flatMap(({ entries }) => entries)])
}

/** The well-known names that a source of throw-away domains lists, by name, each with what became of it. */
export function accusedNames(stock: SourceBundle, pack: Pack): readonly WronglyListed[] {
  const known = wellKnownNames(stock)
  const sourcesOf = new Map<string, string[]>()
  for (const { row, entries } of stock.sources) {
    if (row.set !== "disposable") continue
    for (const entry of entries) {
      const normal = normalizeName(entry)
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
  if (pack.match(name, registrableDomain(name)).has("disposable")) return null
  const dropped = pack.listingsOf(name).filter(({ set, outcome }) => set === "disposable" && outcome in LISTING_RULES)
  return dropped[0]?.outcome ?? "redundant"
}
