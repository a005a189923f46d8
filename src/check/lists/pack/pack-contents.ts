import { LISTING_RULE_NAMES, type ListingOutcome } from "../listing-rules.ts"
import { SET_NAMES, type SetName, WORD_SET_NAMES, type WordSetName } from "../sets.ts"

/** One entry of one source: which set it names, and what became of it. */
export type Listing = {
  readonly set: SetName
  readonly source: string
  readonly outcome: ListingOutcome
  /** The day (UTC) on which the entry came in; null: it was there when the source was first read. */
  readonly since: string | null
}

/** A domain that others imitate or mistype, and what it is. */
export type PackTarget = { readonly name: string; readonly kind: "provider" | "organisation" }

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
  readonly targets: readonly PackTarget[]
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

/** What a pack says about itself, or why this program cannot read a pack that says so. */
type ParseMetaResult =
  | { readonly kind: "meta"; readonly meta: PackMeta }
  | { readonly kind: "refused"; readonly says: string; readonly remedy: string }

/** Reads the section `meta`. It never throws. */
export function parseMeta(section: Uint8Array): ParseMetaResult {
  const meta = parseSection(section)
  const remedy = "Build it again with `mailkind lists build`."
  if (!isPackMeta(meta)) return { kind: "refused", says: "The pack does not describe itself.", remedy }
  const isOurs = isSameList(meta.sets, SET_NAMES) && isSameList(meta.rules, LISTING_RULE_NAMES)
  if (!isOurs) return { kind: "refused", says: "The pack was built by a version with other sets or rules.", remedy }
  return { kind: "meta", meta }
}

/** Words, group services and targets of a pack. */
export type PackTexts = {
  readonly words: Readonly<Record<WordSetName, ReadonlySet<string>>>
  readonly groupDomains: ReadonlySet<string>
  readonly targets: readonly PackTarget[]
}

/** Reads the section `texts`; null when it is damaged. */
export function parseTexts(section: Uint8Array): PackTexts | null {
  const texts = objectMembers(parseSection(section))
  const words = objectMembers(texts.get("words"))
  const groupDomains = texts.get("groupDomains")
  const byKind = objectMembers(texts.get("targets"))
  const providers = byKind.get("provider")
  const organisations = byKind.get("organisation")
  const bySet = WORD_SET_NAMES.map(set => [set, words.get(set)] as const)
  if (!isArrayOf(groupDomains, isString) || !isArrayOf(providers, isString) || !isArrayOf(organisations, isString))
    return null
  if (!bySet.every(([, some]) => isArrayOf(some, isString))) return null
  const sets = bySet.map(([set, some]) => [set, new Set(isArrayOf(some, isString) ? some : [])])
  // Every word set was walked.
  const wordsBySet = Object.fromEntries(sets) as Record<WordSetName, ReadonlySet<string>>
  const targets = [
    ...providers.map((name): PackTarget => ({ name, kind: "provider" })),
    ...organisations.map((name): PackTarget => ({ name, kind: "organisation" })),
  ]
  return { words: wordsBySet, groupDomains: new Set(groupDomains), targets }
}

/** Reads the section `patterns`: suffix patterns, each with its class; null when it is damaged. */
export function parsePatterns(
  section: Uint8Array,
): readonly (readonly [pattern: string, classNumber: number])[] | null {
  const patterns = parseSection(section)
  return isArrayOf(patterns, isPatternEntry) ? patterns : null
}

function parseSection(section: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(section))
  } catch (_damaged) {
    return undefined
  }
}

const objectMembers = (value: unknown): ReadonlyMap<string, unknown> =>
  new Map(typeof value === "object" && value !== null ? Object.entries(value) : [])

const isString = (value: unknown): value is string => typeof value === "string"

const isArrayOf = <T>(value: unknown, isOne: (one: unknown) => one is T): value is readonly T[] =>
  Array.isArray(value) && value.every(isOne)

const isPatternEntry = (value: unknown): value is readonly [string, number] =>
  Array.isArray(value) && value.length === 2 && isString(value[0]) && Number.isInteger(value[1])

function isPackMeta(value: unknown): value is PackMeta {
  const meta = objectMembers(value)
  const entries = objectMembers(meta.get("entries"))
  return (
    isString(meta.get("version")) &&
    isString(meta.get("built_at")) &&
    ["sets", "sources", "rules"].every(list => isArrayOf(meta.get(list), isString)) &&
    SET_NAMES.every(set => Number.isInteger(entries.get(set)))
  )
}

const isSameList = (some: readonly string[], others: readonly string[]): boolean =>
  some.join("\n") === others.join("\n")
