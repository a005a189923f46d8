import { type Finding, unknown } from "../base/finding.ts"
import type { Category } from "../contract/categories.ts"
import { POLICY_DEFAULT } from "../contract/policies.ts"
import { REASONS, type Reason } from "../contract/reasons.ts"
import { NO_HINTS } from "./address/hints.ts"
import { kindOf, parseSubject } from "./address/parse.ts"
import { standingOf } from "./address/public-suffix.ts"
import type { Fault } from "./address/subject.ts"
import { explain, type Level } from "./lists/explain.ts"
import type { Listed } from "./lists/listed.ts"
import { LISTING_RULES } from "./lists/listing-rules.ts"
import type { Manifest } from "./lists/manifest.ts"
import type { Listing } from "./lists/pack-contents.ts"
import type { SetName } from "./lists/sets.ts"
import type { KnownLists } from "./lists.ts"
import type { Evidence } from "./verdict/evidence.ts"
import { judge } from "./verdict/judge.ts"

/** One entry of one source, with what is known of the source. */
export type KnownListing = Listing & {
  /** What the source lists: a name, or a suffix pattern. */
  readonly entry: string
  /** The rule that keeps it out of the set, in words; null: it is in the set. */
  readonly droppedBy: string | null
  /** Where `since` is null: a day (UTC) on which it was there already. Null: `since` is known, or the source is not. */
  readonly onOrBefore: string | null
  /** Licence of the source; empty: not known. */
  readonly licence: string
  /** Where the source comes from, for people; empty: not known. */
  readonly origin: string
}

/** One level of a domain with what sources say about it. */
export type KnownLevel = Pick<Level, "name" | "asks" | "sets" | "decides"> & {
  /** About exactly this name, kept and dropped. */
  readonly listings: readonly KnownListing[]
  /** By suffix patterns that match exactly this level. */
  readonly patterns: readonly { readonly pattern: string; readonly listings: readonly KnownListing[] }[]
}

/** What the lists say of a domain, and why. */
export type DomainLookUp = {
  readonly kind: "domain"
  /** A-labels, lower case. */
  readonly domain: string
  /** What a check says when it has nothing but lists to go by. */
  readonly category: Category
  /** What decides the category. */
  readonly reason: Reason
  /** The same in a sentence. */
  readonly says: string
  /** The entry that matches the domain: a name or a suffix pattern; null: no set holds the domain. */
  readonly entry: string | null
  /** The sets that the entry is in. */
  readonly sets: readonly SetName[]
  /** Most specific first. */
  readonly levels: readonly KnownLevel[]
}

/** What the lists say of a text; of one that names no domain, why it does not: nothing of the text is repeated. */
export type LookUp = DomainLookUp | { readonly kind: "no_domain"; readonly says: string }

/**
 * Looks a domain up in the lists. The text may also be an address or a website URL, of which only the domain is read and
 * told. It never throws, and takes time in proportion to the text.
 */
export function lookUp({ lists: { pack }, manifest: { sources } }: KnownLists, text: string): LookUp {
  const { domain, fault } = parseSubject(kindOf(text), text, "")
  if (domain === null) return { kind: "no_domain", says: REASONS[fault ?? "invalid_syntax"].says }
  // What is wrong with the local part of an address is not wrong with its domain.
  const standing = standingOf(domain)
  const listed = pack.listed(domain, standing.registrable)
  const { category, reasons } = judge(listsAlone(standing.fault, listed), POLICY_DEFAULT)
  const reason = reasons[0] ?? "no_evidence"
  return {
    kind: "domain",
    domain,
    category,
    reason,
    says: IN_OTHER_WORDS[reason] ?? REASONS[reason].says,
    entry: listed.entry,
    sets: listed.sets,
    levels: explain(pack, domain, standing.registrable).map(level => knownLevel(level, sources)),
  }
}

/** Everything that sources say about a level, its name before its patterns. */
export const listingsAt = ({ listings, patterns }: KnownLevel): readonly KnownListing[] => [
  ...listings,
  ...patterns.flatMap(pattern => pattern.listings),
]

/** Since when an entry is in its source, in words. */
export function sinceWords({ since, onOrBefore }: KnownListing): string {
  if (since !== null) return since
  return onOrBefore === null ? "not known" : `on or before ${onOrBefore}`
}

/** Reasons that say more, or less, where nothing but lists was asked. */
const IN_OTHER_WORDS: { readonly [R in Reason]?: string } = {
  known_organisation: `${REASONS.known_organisation.says} What DNS and its mail hosts say comes first.`,
  no_evidence: "No set holds the domain: the lists say nothing of it, and a check goes by DNS and mail hosts.",
}

const NOT_ASKED: Finding<never> = unknown("not_asked")

/** What is known of a domain when nobody but the lists is asked. */
const listsAlone = (fault: Fault | null, listed: Listed): Evidence => ({
  subject: { kind: "domain", fault, isTest: false, hasSubaddress: false },
  listed,
  hints: NO_HINTS,
  suggestion: null,
  imitated: null,
  test: null,
  correction: null,
  mail: NOT_ASKED,
  suites: NOT_ASKED,
  tenant: NOT_ASKED,
  ageDays: NOT_ASKED,
  homepage: NOT_ASKED,
  blockedBy: null,
  isAllowed: false,
  isCached: false,
})

function knownLevel(
  { name, asks, sets, decides, listings, patterns }: Level,
  sources: Manifest["sources"],
): KnownLevel {
  const known = (entry: string, all: readonly Listing[]) => all.map(listing => knownListing(listing, entry, sources))
  return {
    name,
    asks,
    sets,
    decides,
    listings: known(name, listings),
    patterns: patterns.map(({ pattern, listings: own }) => ({ pattern, listings: known(pattern, own) })),
  }
}

function knownListing(listing: Listing, entry: string, sources: Manifest["sources"]): KnownListing {
  const { licence = "", origin = "", date = "" } = sources[listing.source] ?? {}
  return {
    ...listing,
    entry,
    droppedBy: listing.outcome === "kept" ? null : LISTING_RULES[listing.outcome],
    onOrBefore: listing.since !== null || date === "" ? null : date,
    licence,
    origin,
  }
}
