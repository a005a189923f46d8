import { LISTING_RULE_NAMES } from "./listing-rules.ts"
import type { PackMeta, Target } from "./pack-contents.ts"
import { SET_NAMES, WORD_SET_NAMES, type WordSetName } from "./sets.ts"

/** What a pack says about itself, or why this program cannot read a pack that says so. */
export type Meta =
  | { readonly kind: "meta"; readonly meta: PackMeta }
  | { readonly kind: "refused"; readonly says: string; readonly remedy: string }

/** Reads the section `meta`. It never throws. */
export function metaOf(section: Uint8Array): Meta {
  const meta = parsed(section)
  const remedy = "Build it again with `mailkind lists build`."
  if (!isMeta(meta)) return { kind: "refused", says: "The pack does not describe itself.", remedy }
  const isOurs = same(meta.sets, SET_NAMES) && same(meta.rules, LISTING_RULE_NAMES)
  if (!isOurs) return { kind: "refused", says: "The pack was built by a version with other sets or rules.", remedy }
  return { kind: "meta", meta }
}

/** Words, group services and targets of a pack. */
export type PackTexts = {
  readonly words: Readonly<Record<WordSetName, ReadonlySet<string>>>
  readonly groupDomains: ReadonlySet<string>
  readonly targets: readonly Target[]
}

/** Reads the section `texts`; null when it is damaged. */
export function textsOf(section: Uint8Array): PackTexts | null {
  const texts = membersOf(parsed(section))
  const words = membersOf(texts.get("words"))
  const groupDomains = texts.get("groupDomains")
  const byKind = membersOf(texts.get("targets"))
  const providers = byKind.get("provider")
  const organisations = byKind.get("organisation")
  const bySet = WORD_SET_NAMES.map(set => [set, words.get(set)] as const)
  if (!isList(groupDomains, isText) || !isList(providers, isText) || !isList(organisations, isText)) return null
  if (!bySet.every(([, some]) => isList(some, isText))) return null
  const sets = bySet.map(([set, some]) => [set, new Set(isList(some, isText) ? some : [])])
  // Every word set was walked.
  const wordsBySet = Object.fromEntries(sets) as Record<WordSetName, ReadonlySet<string>>
  const targets = [
    ...providers.map((name): Target => ({ name, kind: "provider" })),
    ...organisations.map((name): Target => ({ name, kind: "organisation" })),
  ]
  return { words: wordsBySet, groupDomains: new Set(groupDomains), targets }
}

/** Reads the section `patterns`: suffix patterns, each with its class; null when it is damaged. */
export function patternsOf(section: Uint8Array): readonly (readonly [pattern: string, classNumber: number])[] | null {
  const patterns = parsed(section)
  return isList(patterns, isPattern) ? patterns : null
}

function parsed(section: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(section))
  } catch (_damaged) {
    return undefined
  }
}

const membersOf = (value: unknown): ReadonlyMap<string, unknown> =>
  new Map(typeof value === "object" && value !== null ? Object.entries(value) : [])

const isText = (value: unknown): value is string => typeof value === "string"

const isList = <T>(value: unknown, isOne: (one: unknown) => one is T): value is readonly T[] =>
  Array.isArray(value) && value.every(isOne)

const isPattern = (value: unknown): value is readonly [string, number] =>
  Array.isArray(value) && value.length === 2 && isText(value[0]) && Number.isInteger(value[1])

function isMeta(value: unknown): value is PackMeta {
  const meta = membersOf(value)
  const entries = membersOf(meta.get("entries"))
  return (
    isText(meta.get("version")) &&
    isText(meta.get("built_at")) &&
    ["sets", "sources", "rules"].every(list => isList(meta.get(list), isText)) &&
    SET_NAMES.every(set => Number.isInteger(entries.get(set)))
  )
}

const same = (some: readonly string[], others: readonly string[]): boolean => some.join("\n") === others.join("\n")
