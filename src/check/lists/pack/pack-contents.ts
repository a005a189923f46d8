import { ownMember } from "../../../base/untrusted-text.ts"
import { LISTING_RULE_NAMES, type ListingOutcome } from "../listing-rules.ts"
import type { NameNumbers } from "../name-numbers.ts"
import { type ListingStrength, SET_NAMES, type SetName, WORD_SET_NAMES, type WordSetName } from "../sets.ts"

/** One entry of one source: the set that the source fills, and the outcome of the entry. */
export type Listing = {
  readonly set: SetName
  readonly source: string
  readonly outcome: ListingOutcome
  /** The day (UTC) on which the entry was added; null: it was in the source when that was first read. */
  readonly since: string | null
  /** The day (UTC) on which the entry was last seen, if its source publishes only what is abused now. */
  readonly lastSeen?: string
}

/** A domain that others imitate or mistype. */
export type PackTarget = { readonly name: string; readonly kind: "provider" | "organisation" }

/** The contents of a pack in memory: the input of the writer. */
export type PackContents = {
  /** The date of the newest source: ISO 8601, UTC. */
  readonly builtAt: string
  /** Ids of the sources; a listing's source is one of them. */
  readonly sources: readonly string[]
  /** The strength of the disposable listings of a name (`STRENGTH_BITS`), by their sources. */
  readonly strengthOf: (sources: readonly string[]) => ListingStrength
  /** Every name and suffix pattern with its listings. Names are in any order, listings in the order of `sources`. */
  readonly names: Iterable<readonly [name: string, listings: readonly Listing[]]>
  /** The numbers of exactly these names, if they have some already; the writer may add others. Absent: they have none. */
  readonly nameNumbers?: NameNumbers
  readonly words: Readonly<Record<WordSetName, readonly string[]>>
  readonly groupDomains: readonly string[]
  /** Providers before organisations, each with the most imitated first. */
  readonly targets: readonly PackTarget[]
}

/** The description of a pack: the JSON of its section `meta`. */
export type PackMeta = {
  /** The day of `built_at` and the first digits of a hash of the contents. Equal contents have equal versions. */
  readonly version: string
  readonly built_at: string
  /** The names of the bits of a mask, of the sources and of the rules, by number. */
  readonly sets: readonly string[]
  readonly sources: readonly string[]
  readonly rules: readonly string[]
  /** The number of entries of each set. */
  readonly entries: Readonly<Record<SetName, number>>
}

/** The description of a pack, or why this program cannot read the pack. */
type ParseMetaResult =
  | { readonly kind: "meta"; readonly meta: PackMeta }
  | { readonly kind: "refused"; readonly message: string; readonly remedy: string }

/** Parses the section `meta`. It never throws. */
export function parseMeta(section: Uint8Array): ParseMetaResult {
  const meta = parseSection(section)
  const remedy = "Build it again with `mailkind lists build`."
  if (!isPackMeta(meta)) return { kind: "refused", message: "The pack does not describe itself.", remedy }
  const isOurs = isSameList(meta.sets, SET_NAMES) && isSameList(meta.rules, LISTING_RULE_NAMES)
  if (!isOurs) return { kind: "refused", message: "The pack was built by a version with other sets or rules.", remedy }
  return { kind: "meta", meta }
}

/** The words, group services and targets of a pack. */
export type PackTexts = {
  readonly words: Readonly<Record<WordSetName, readonly string[]>>
  readonly groupDomains: readonly string[]
  readonly targets: readonly PackTarget[]
}

/** Parses the section `texts`; null if it is damaged. */
export function parseTexts(section: Uint8Array): PackTexts | null {
  const texts = parseSection(section)
  const words = ownMember(texts, "words")
  const groupDomains = ownMember(texts, "groupDomains")
  const targetsByKind = ownMember(texts, "targets")
  const providers = ownMember(targetsByKind, "provider")
  const organisations = ownMember(targetsByKind, "organisation")
  const bySet = WORD_SET_NAMES.map(set => [set, ownMember(words, set)] as const)
  if (!isArrayOf(groupDomains, isString) || !isArrayOf(providers, isString) || !isArrayOf(organisations, isString))
    return null
  if (!bySet.every(([, some]) => isArrayOf(some, isString))) return null
  // Every word set was walked, and has only texts.
  const wordsBySet = Object.fromEntries(bySet) as Record<WordSetName, readonly string[]>
  const targets = [
    ...providers.map((name): PackTarget => ({ name, kind: "provider" })),
    ...organisations.map((name): PackTarget => ({ name, kind: "organisation" })),
  ]
  return { words: wordsBySet, groupDomains, targets }
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

const isString = (value: unknown): value is string => typeof value === "string"

const isInstant = (value: unknown): boolean => isString(value) && !Number.isNaN(Date.parse(value))

const isArrayOf = <T>(value: unknown, isOne: (one: unknown) => one is T): value is readonly T[] =>
  Array.isArray(value) && value.every(isOne)

const isPatternEntry = (value: unknown): value is readonly [string, number] =>
  Array.isArray(value) && value.length === 2 && isString(value[0]) && Number.isInteger(value[1])

function isPackMeta(value: unknown): value is PackMeta {
  const entries = ownMember(value, "entries")
  return (
    isString(ownMember(value, "version")) &&
    isInstant(ownMember(value, "built_at")) &&
    ["sets", "sources", "rules"].every(list => isArrayOf(ownMember(value, list), isString)) &&
    SET_NAMES.every(set => Number.isInteger(ownMember(entries, set)))
  )
}

const isSameList = (some: readonly string[], others: readonly string[]): boolean =>
  some.join("\n") === others.join("\n")
