import type { Pack } from "./domain-set.ts"
import type { Listing } from "./pack-contents.ts"
import { SETS, type SetName, setsIn } from "./sets.ts"

/** One level of a domain: the domain itself, a parent, or the public suffix. */
export type Level = {
  readonly name: string
  /** `name`: every set is asked; `suffix`: above the registrable domain, only suffix sets are. */
  readonly asks: "name" | "suffix"
  /** The sets that hold the domain at this level. */
  readonly sets: readonly SetName[]
  /** What sources say about exactly this name, kept and dropped. */
  readonly listings: readonly Listing[]
  /** Suffix patterns that match exactly this level, with what sources say about them. */
  readonly patterns: readonly { readonly pattern: string; readonly listings: readonly Listing[] }[]
  /** Whether this level gives the answer: the most specific one that any set holds. */
  readonly decides: boolean
}

/** Why `listed` answers as it does for a domain: every level, most specific first. */
export function explain(pack: Pack, domain: string, registrable: string | null): readonly Level[] {
  const matches = pack.patternsAt(domain)
  const levels = domain.split(".").map((_, at, labels) => labels.slice(at).join("."))
  let isDecided = false
  return levels.map(name => {
    const asks = registrable !== null && name.length >= registrable.length ? "name" : "suffix"
    const listings = pack.listings(name)
    const patterns = matches
      .filter(({ level }) => level === name)
      .map(({ pattern }) => ({ pattern, listings: pack.listings(pattern) }))
    const kept = [...listings, ...patterns.flatMap(one => one.listings)].filter(({ outcome }) => outcome === "kept")
    const asked = kept.filter(({ set }) => asks === "name" || SETS[set].matches === "suffix").map(({ set }) => set)
    const decides = !isDecided && asked.length > 0
    isDecided ||= decides
    return { name, asks, sets: inOrder(asked), listings, patterns, decides }
  })
}

const inOrder = (sets: readonly SetName[]): readonly SetName[] => setsIn(-1).filter(set => sets.includes(set))
