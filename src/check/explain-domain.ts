import { NOT_QUERIED } from "../base/finding.ts"
import { isoDate, utcDay } from "../base/time.ts"
import type { Category } from "../contract/categories.ts"
import { POLICY_DEFAULT } from "../contract/policies.ts"
import { REASONS, type Reason } from "../contract/reasons.ts"
import { hintKindsOf, NO_HINTS } from "./address/address-hints.ts"
import { detectSubjectKind, parseSubject } from "./address/parse-subject.ts"
import { classifySuffix } from "./address/public-suffix.ts"
import type { SubjectFault } from "./address/subject.ts"
import type { LoadedLists } from "./domain-lookup.ts"
import { isRollUpSource } from "./lists/build/roll-up.ts"
import type { ListMatch } from "./lists/list-match.ts"
import { LISTING_RULES } from "./lists/listing-rules.ts"
import type { PackManifest } from "./lists/manifest.ts"
import type { Pack } from "./lists/pack/pack.ts"
import type { Listing } from "./lists/pack/pack-contents.ts"
import { SETS, type SetName, setsOfMask } from "./lists/sets.ts"
import { namePatternOf } from "./name-patterns/name-patterns.ts"
import type { Evidence } from "./verdict/evidence.ts"
import { judge } from "./verdict/judge.ts"

/** One entry of one source, with the origin of the source. */
export type ExplainedListing = Listing & {
  /** The listed name or suffix pattern. */
  readonly entry: string
  /** The description of the rule that keeps the entry out of the set; null: it is in the set. */
  readonly dropReason: string | null
  /** If its source publishes only what is abused now: the last day (UTC) on which the entry counts if it is not seen again. */
  readonly countsUntil?: string
  /** What a listing that counts rests on besides its source; null: nothing. */
  readonly basis: string | null
  /** If `since` is null: a day (UTC) on which the entry was already listed. Null: `since` is known, or the source is not. */
  readonly onOrBefore: string | null
  /** The licence of the source; empty: unknown. */
  readonly licence: string
  /** Where the source comes from, as text for people; empty: unknown. */
  readonly origin: string
}

/** One level of a domain with its listings. */
export type ExplainedLevel = Pick<DomainLevel, "name" | "asks" | "sets" | "decides"> & {
  /** The listings of exactly this name, kept and dropped. */
  readonly listings: readonly ExplainedListing[]
  /** The listings of suffix patterns that match exactly this level. */
  readonly patterns: readonly { readonly pattern: string; readonly listings: readonly ExplainedListing[] }[]
}

/** What the lists say about a domain, and why. */
export type DomainExplanation = {
  readonly kind: "domain"
  /** A-labels, lower case. */
  readonly domain: string
  /** The category of a check that uses only the lists. */
  readonly category: Category
  /** The reason for the category. */
  readonly reason: Reason
  /** The reason as a sentence. */
  readonly message: string
  /** The entry that matches the domain: a name or a suffix pattern; null: no set matches. */
  readonly entry: string | null
  /** The sets of the entry. */
  readonly sets: readonly SetName[]
  /** Most specific first. */
  readonly levels: readonly ExplainedLevel[]
}

/** The explanation of a text, or why it names no domain. The message never repeats the text. */
export type ExplainDomainResult = DomainExplanation | { readonly kind: "no_domain"; readonly message: string }

/**
 * Explains what the lists say about a domain. The text may also be an address or a URL, of which only the domain is used
 * and returned. It never throws and takes time linear in the length of the text.
 */
export function explainDomain(
  { lists: { pack }, manifest: { sources } }: LoadedLists,
  text: string,
): ExplainDomainResult {
  const { domain, fault } = parseSubject(detectSubjectKind(text), text, "")
  if (domain === null) return { kind: "no_domain", message: REASONS[fault ?? "invalid_syntax"].description }
  // A fault of the local part is not a fault of the domain, so only the fault of the suffix counts.
  const suffix = classifySuffix(domain)
  const match = pack.match(domain, suffix.registrable)
  const { category, reasons } = judge(listsOnlyEvidence(suffix.fault, match), POLICY_DEFAULT)
  const reason = reasons[0] ?? "no_evidence"
  return {
    kind: "domain",
    domain,
    category,
    reason,
    message: listsOnlyMessage(reason, match, suffix.registrable),
    entry: match.entry,
    sets: match.sets,
    levels: explainLevels(pack, domain, suffix.registrable).map(level => explainLevel(level, sources)),
  }
}

/** All listings of a level, those of its name before those of patterns. */
export const listingsOfLevel = ({ listings, patterns }: ExplainedLevel): readonly ExplainedListing[] => [
  ...listings,
  ...patterns.flatMap(pattern => pattern.listings),
]

/** How many sources have an entry for the domain that counts. */
export const countingSources = ({ levels }: DomainExplanation): number =>
  new Set(levels.flatMap(listingsOfLevel).flatMap(({ source, dropReason }) => (dropReason === null ? [source] : [])))
    .size

/** The day since which an entry is listed, as text. */
export function sinceLabel({ since, onOrBefore }: ExplainedListing): string {
  if (since !== null) return since
  return onOrBefore === null ? "not known" : `on or before ${onOrBefore}`
}

/** Until when an entry of a window source counts, as text; empty: its source is no window. */
export const untilLabel = ({ lastSeen, countsUntil }: ExplainedListing): string =>
  lastSeen === undefined || countsUntil === undefined ? "" : `last seen ${lastSeen}, counts until ${countsUntil}`

/** Descriptions of reasons that differ if only the lists are used. */
const LISTS_ONLY_DESCRIPTIONS: { readonly [R in Reason]?: string } = {
  known_organisation: `${REASONS.known_organisation.description} DNS and mail hosts take precedence.`,
  no_evidence: "The domain is on no list. A check decides by DNS and mail hosts.",
}

/** The reason as a sentence, with what weakens it, or what a check may find besides. */
function listsOnlyMessage(reason: Reason, match: ListMatch, registrable: string | null): string {
  const description = LISTS_ONLY_DESCRIPTIONS[reason] ?? REASONS[reason].description
  if (reason === "weak_listing") return `${description} An office suite or the domain's age may contradict them.`
  if (reason === "education_suffix" && match.has("open_education_suffix"))
    return `${description} Anyone can register there, and no list names the domain.`
  const pattern = reason === "no_evidence" && registrable !== null ? namePatternOf(registrable) : null
  if (pattern !== null)
    return `${description} Its name has a form of ${pattern.category} names: a check that finds mail hosts or an address says so (\`name_pattern\`).`
  return description
}

/** The evidence of a check that uses only the lists. */
const listsOnlyEvidence = (fault: SubjectFault | null, listMatch: ListMatch): Evidence => ({
  subject: { kind: "domain", fault, isTest: false, hasSubaddress: false },
  listMatch,
  hints: hintKindsOf(NO_HINTS),
  suggestion: null,
  isHouseholdSlip: false,
  lookalikeOf: null,
  namePattern: null,
  testCategory: null,
  correction: null,
  mail: NOT_QUERIED,
  suites: NOT_QUERIED,
  tenant: NOT_QUERIED,
  ageDays: NOT_QUERIED,
  homepage: NOT_QUERIED,
  blockedBy: null,
  isAllowed: false,
  ruledAs: null,
  isCached: false,
})

function explainLevel(
  { name, asks, sets, decides, listings, patterns }: DomainLevel,
  sources: PackManifest["sources"],
): ExplainedLevel {
  const explain = (entry: string, entryListings: readonly Listing[]) =>
    entryListings.map(listing => explainListing(listing, entry, sources))
  return {
    name,
    asks,
    sets,
    decides,
    listings: explain(name, listings),
    patterns: patterns.map(({ pattern, listings: own }) => ({ pattern, listings: explain(pattern, own) })),
  }
}

function explainListing(listing: Listing, entry: string, sources: PackManifest["sources"]): ExplainedListing {
  const { licence = "", origin = "", date = "", window_days: windowDays } = sources[listing.source] ?? {}
  const { lastSeen } = listing
  const until =
    lastSeen === undefined || windowDays === undefined ? null : isoDate(utcDay(Date.parse(lastSeen)) + windowDays)
  return {
    ...listing,
    entry,
    dropReason: listing.outcome === "kept" ? null : LISTING_RULES[listing.outcome],
    basis: listing.outcome === "kept" && isRollUpSource(listing.source) ? origin : null,
    ...(until === null ? {} : { countsUntil: until }),
    onOrBefore: listing.since !== null || date === "" ? null : date,
    licence,
    origin,
  }
}

/** One level of a domain: the domain itself, a parent, or the public suffix. */
type DomainLevel = {
  readonly name: string
  /** `name`: all sets can match; `suffix`: the level is above the registrable domain, so only suffix sets can. */
  readonly asks: "name" | "suffix"
  /** The sets that match the domain at this level. */
  readonly sets: readonly SetName[]
  /** The listings of exactly this name, kept and dropped. */
  readonly listings: readonly Listing[]
  /** The suffix patterns that match exactly this level, with their listings. */
  readonly patterns: readonly { readonly pattern: string; readonly listings: readonly Listing[] }[]
  /** Whether this level is the result of a lookup: the most specific one that any set matches. */
  readonly decides: boolean
}

/** Explains the result of `Pack.match`: every level of the domain, most specific first. */
export function explainLevels(pack: Pack, domain: string, registrable: string | null): readonly DomainLevel[] {
  const matches = pack.matchingPatterns(domain)
  const levels = domain.split(".").map((_, index, labels) => labels.slice(index).join("."))
  let isDecided = false
  return levels.map(name => {
    const asks = registrable !== null && name.length >= registrable.length ? "name" : "suffix"
    const listings = pack.listingsOf(name)
    const patterns = matches
      .filter(({ level }) => level === name)
      .map(({ pattern }) => ({ pattern, listings: pack.listingsOf(pattern) }))
    const kept = [...listings, ...patterns.flatMap(one => one.listings)].filter(({ outcome }) => outcome === "kept")
    const sets = kept.filter(({ set }) => asks === "name" || SETS[set].matches === "suffix").map(({ set }) => set)
    const decides = !isDecided && sets.length > 0
    isDecided ||= decides
    return { name, asks, sets: inSetOrder(sets), listings, patterns, decides }
  })
}

const inSetOrder = (sets: readonly SetName[]): readonly SetName[] => setsOfMask(-1).filter(set => sets.includes(set))
