import { type Finding, unknown } from "../base/finding.ts"
import type { Category } from "../contract/categories.ts"
import { POLICY_DEFAULT } from "../contract/policies.ts"
import { REASONS, type Reason } from "../contract/reasons.ts"
import { NO_HINTS } from "./address/address-hints.ts"
import { detectSubjectKind, parseSubject } from "./address/parse-subject.ts"
import { classifySuffix } from "./address/public-suffix.ts"
import type { SubjectFault } from "./address/subject.ts"
import type { LoadedLists } from "./domain-lookup.ts"
import type { ListMatch } from "./lists/list-match.ts"
import { LISTING_RULES } from "./lists/listing-rules.ts"
import type { PackManifest } from "./lists/manifest.ts"
import type { Pack } from "./lists/pack/pack.ts"
import type { Listing } from "./lists/pack/pack-contents.ts"
import { SETS, type SetName, setsOfMask } from "./lists/sets.ts"
import type { Evidence } from "./verdict/evidence.ts"
import { judge } from "./verdict/judge.ts"

/** One entry of one source, with what is known of the source. */
export type ExplainedListing = Listing & {
  /** What the source lists: a name, or a suffix pattern. */
  readonly entry: string
  /** The rule that keeps it out of the set, in words; null: it is in the set. */
  readonly dropReason: string | null
  /** Where `since` is null: a day (UTC) on which it was there already. Null: `since` is known, or the source is not. */
  readonly onOrBefore: string | null
  /** Licence of the source; empty: not known. */
  readonly licence: string
  /** Where the source comes from, for people; empty: not known. */
  readonly origin: string
}

/** One level of a domain with what sources say about it. */
export type ExplainedLevel = Pick<DomainLevel, "name" | "asks" | "sets" | "decides"> & {
  /** About exactly this name, kept and dropped. */
  readonly listings: readonly ExplainedListing[]
  /** By suffix patterns that match exactly this level. */
  readonly patterns: readonly { readonly pattern: string; readonly listings: readonly ExplainedListing[] }[]
}

/** What the lists say of a domain, and why. */
export type DomainExplanation = {
  readonly kind: "domain"
  /** A-labels, lower case. */
  readonly domain: string
  /** What a check says when it has nothing but lists to go by. */
  readonly category: Category
  /** What decides the category. */
  readonly reason: Reason
  /** The same in a sentence. */
  readonly message: string
  /** The entry that matches the domain: a name or a suffix pattern; null: no set holds the domain. */
  readonly entry: string | null
  /** The sets that the entry is in. */
  readonly sets: readonly SetName[]
  /** Most specific first. */
  readonly levels: readonly ExplainedLevel[]
}

/** What the lists say of a text; of one that names no domain, why it does not: nothing of the text is repeated. */
export type ExplainDomainResult = DomainExplanation | { readonly kind: "no_domain"; readonly message: string }

/**
 * Looks a domain up in the lists. The text may also be an address or a website URL, of which only the domain is read and
 * told. It never throws, and takes time in proportion to the text.
 */
export function explainDomain(
  { lists: { pack }, manifest: { sources } }: LoadedLists,
  text: string,
): ExplainDomainResult {
  const { domain, fault } = parseSubject(detectSubjectKind(text), text, "")
  if (domain === null) return { kind: "no_domain", message: REASONS[fault ?? "invalid_syntax"].description }
  // What is wrong with the local part of an address is not wrong with its domain.
  const standing = classifySuffix(domain)
  const listed = pack.match(domain, standing.registrable)
  const { category, reasons } = judge(listsOnlyEvidence(standing.fault, listed), POLICY_DEFAULT)
  const reason = reasons[0] ?? "no_evidence"
  return {
    kind: "domain",
    domain,
    category,
    reason,
    message: LISTS_ONLY_DESCRIPTIONS[reason] ?? REASONS[reason].description,
    entry: listed.entry,
    sets: listed.sets,
    levels: explainLevels(pack, domain, standing.registrable).map(level => explainLevel(level, sources)),
  }
}

/** Everything that sources say about a level, its name before its patterns. */
export const listingsOfLevel = ({ listings, patterns }: ExplainedLevel): readonly ExplainedListing[] => [
  ...listings,
  ...patterns.flatMap(pattern => pattern.listings),
]

/** Since when an entry is in its source, in words. */
export function sinceLabel({ since, onOrBefore }: ExplainedListing): string {
  if (since !== null) return since
  return onOrBefore === null ? "not known" : `on or before ${onOrBefore}`
}

/** Reasons that say more, or less, where nothing but lists was asked. */
const LISTS_ONLY_DESCRIPTIONS: { readonly [R in Reason]?: string } = {
  known_organisation: `${REASONS.known_organisation.description} What DNS and its mail hosts say comes first.`,
  no_evidence: "No set holds the domain: the lists say nothing of it, and a check goes by DNS and mail hosts.",
}

const NOT_QUERIED: Finding<never> = unknown("not_asked")

/** What is known of a domain when nobody but the lists is asked. */
const listsOnlyEvidence = (fault: SubjectFault | null, listMatch: ListMatch): Evidence => ({
  subject: { kind: "domain", fault, isTest: false, hasSubaddress: false },
  listMatch,
  hints: NO_HINTS,
  suggestion: null,
  lookalikeOf: null,
  testCategory: null,
  correction: null,
  mail: NOT_QUERIED,
  suites: NOT_QUERIED,
  tenant: NOT_QUERIED,
  ageDays: NOT_QUERIED,
  homepage: NOT_QUERIED,
  blockedBy: null,
  isAllowed: false,
  isCached: false,
})

function explainLevel(
  { name, asks, sets, decides, listings, patterns }: DomainLevel,
  sources: PackManifest["sources"],
): ExplainedLevel {
  const known = (entry: string, all: readonly Listing[]) => all.map(listing => explainListing(listing, entry, sources))
  return {
    name,
    asks,
    sets,
    decides,
    listings: known(name, listings),
    patterns: patterns.map(({ pattern, listings: own }) => ({ pattern, listings: known(pattern, own) })),
  }
}

function explainListing(listing: Listing, entry: string, sources: PackManifest["sources"]): ExplainedListing {
  const { licence = "", origin = "", date = "" } = sources[listing.source] ?? {}
  return {
    ...listing,
    entry,
    dropReason: listing.outcome === "kept" ? null : LISTING_RULES[listing.outcome],
    onOrBefore: listing.since !== null || date === "" ? null : date,
    licence,
    origin,
  }
}

/** One level of a domain: the domain itself, a parent, or the public suffix. */
type DomainLevel = {
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
export function explainLevels(pack: Pack, domain: string, registrable: string | null): readonly DomainLevel[] {
  const matches = pack.matchingPatterns(domain)
  const levels = domain.split(".").map((_, at, labels) => labels.slice(at).join("."))
  let isDecided = false
  return levels.map(name => {
    const asks = registrable !== null && name.length >= registrable.length ? "name" : "suffix"
    const listings = pack.listingsOf(name)
    const patterns = matches
      .filter(({ level }) => level === name)
      .map(({ pattern }) => ({ pattern, listings: pack.listingsOf(pattern) }))
    const kept = [...listings, ...patterns.flatMap(one => one.listings)].filter(({ outcome }) => outcome === "kept")
    const asked = kept.filter(({ set }) => asks === "name" || SETS[set].matches === "suffix").map(({ set }) => set)
    const decides = !isDecided && asked.length > 0
    isDecided ||= decides
    return { name, asks, sets: inSetOrder(asked), listings, patterns, decides }
  })
}

const inSetOrder = (sets: readonly SetName[]): readonly SetName[] => setsOfMask(-1).filter(set => sets.includes(set))
