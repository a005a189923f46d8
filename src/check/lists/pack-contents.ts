import type { Outcome } from "./listing-rules.ts"
import type { SetName, WordSetName } from "./sets.ts"

/** One entry of one source: which set it names, and what became of it. */
export type Listing = {
  readonly set: SetName
  readonly source: string
  readonly outcome: Outcome
  /** The day (UTC) on which the entry came in; null: it was there when the source was first read. */
  readonly since: string | null
}

/** A domain that others imitate or mistype, and what it is. */
export type Target = { readonly name: string; readonly kind: "provider" | "organisation" }

/** Everything that a pack holds, in memory: what the writer takes. */
export type PackContents = {
  /** When the newest source is of: ISO 8601, UTC. */
  readonly builtAt: string
  /** Ids of the sources; a listing's source is one of them. */
  readonly sources: readonly string[]
  /** Every name and suffix pattern with its listings, in any order; the listings in the order of `sources`. */
  readonly names: Iterable<readonly [name: string, listings: readonly Listing[]]>
  readonly words: Readonly<Record<WordSetName, readonly string[]>>
  readonly groupDomains: readonly string[]
  /** Providers before organisations, and the most imitated of each first. */
  readonly targets: readonly Target[]
}

/** What a pack says about itself; the JSON of its section `meta`. */
export type PackMeta = {
  /** The day of `built_at` and the first digits of a hash of the contents: same contents, same version. */
  readonly version: string
  readonly built_at: string
  /** Names of the bits of a mask, of sources and of rules, by number. */
  readonly sets: readonly string[]
  readonly sources: readonly string[]
  readonly rules: readonly string[]
  /** How many entries each set holds. */
  readonly entries: Readonly<Record<SetName, number>>
}
