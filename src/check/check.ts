import { type Finding, known, unknown } from "../base/finding.ts"
import type { Clock, Stopwatch } from "../base/outside-world.ts"
import type { Category } from "../contract/categories.ts"
import { POLICY_NAMES, type Policy } from "../contract/policies.ts"
import { type AddressHints, NO_HINTS, readAddressHints } from "./address/address-hints.ts"
import { SUBJECT_KINDS, type Subject } from "./address/subject.ts"
import type { DeepEvidence, DeepProbe } from "./deep-evidence.ts"
import type { DomainLists, DomainLookup } from "./domain-lookup.ts"
import { type ListMatch, NO_LIST_MATCH } from "./lists/list-match.ts"
import { SET_BITS } from "./lists/sets.ts"
import type { BatchContext, NetworkEvidence, NetworkProbe } from "./network-evidence.ts"
import { type CheckOutcome, judgeDomain } from "./result/result.ts"
import { testAddressEvidence } from "./test-address-evidence.ts"
import type { Evidence } from "./verdict/evidence.ts"
import { cachedVerdicts, cacheVerdict, createGeneration, dropVerdictsOfOtherAge } from "./verdict-cache.ts"

/** What is asked of one check: text that was parsed, under a policy. A Subject with a fault is a question too. */
export type CheckRequest = {
  readonly subject: Subject
  readonly policy: Policy
  readonly isDeep: boolean
  /** Whether the tenant in suite_b is looked up. */
  readonly includeTenant: boolean
  /** What the asking account's and the operator's own lists say of the Subject. */
  readonly ownListMatch: OwnListMatch
}

/** What own lists say of a Subject. */
export type OwnListMatch = {
  /** Whose block list has it. */
  readonly blockedBy: "operator" | "account" | null
  /** The account's allow list has it. */
  readonly isAllowed: boolean
  /** The operator's allow list has its domain, which takes that out of the sets that count against it. */
  readonly isOperatorAllowed: boolean
}

/** No own list has it. */
export const NO_OWN_LIST_MATCH: OwnListMatch = { blockedBy: null, isAllowed: false, isOperatorAllowed: false }

/**
 * Answers one question. It never rejects: what the outside world fails to tell lowers the verdict's confidence. It gives
 * a promise only when the outside world has to be asked, which is done as part of the visit where there is one.
 */
export type Check = (question: CheckRequest, visit?: BatchContext) => CheckOutcome | Promise<CheckOutcome>

type CheckDeps = {
  /** The lists in use; asked anew for each check, so that a swap takes effect at once. */
  readonly activeLists: () => DomainLists
  readonly networkProbe: NetworkProbe
  readonly deepProbe: DeepProbe
  readonly corrections: CategoryCorrections
  readonly clock: Clock
  readonly stopwatch: Stopwatch
}

/** Corrections that accepted reports made. */
export type CategoryCorrections = {
  /** The corrected category of a domain or a parent down to its registrable domain; null: none. */
  readonly of: (domain: string, registrable: string | null) => Category | null
  /** Another number after each change. */
  readonly version: number
}

/** No report was accepted. */
export const NO_CORRECTIONS: CategoryCorrections = { of: () => null, version: 0 }

/** Builds the whole path of a check, from Subject to verdict. */
export function createCheck(needs: CheckDeps): Check {
  const { activeLists, corrections, clock, stopwatch } = needs
  const keeperNow = createGeneration(corrections)
  const judged = (asked: PendingCheck, found: GatheredEvidence, startedAt: number): CheckOutcome => {
    const { request, domainLookup, hints, generation, cacheKey, isCacheable } = asked
    const { subject, policy } = request
    const correction = subject.domain === null ? null : corrections.of(subject.domain, subject.registrable)
    const settled = judgeDomain(subject, buildEvidence(request, domainLookup, hints, found, correction), policy)
    dropVerdictsOfOtherAge(cachedVerdicts(domainLookup, generation), found.deep.ageDays)
    // What is told for the first time is settled when it is asked again: then it comes from a cache, and says so.
    if (isCacheable && isFromCache(found))
      cacheVerdict(domainLookup, generation, cacheKey, { judged: settled, freshUntilMs: freshUntil(found) })
    return { subject, judged: settled, tookMs: Math.round(stopwatch() - startedAt) }
  }
  const anew = (asked: PendingCheck, visit: BatchContext | undefined): CheckOutcome | Promise<CheckOutcome> => {
    const startedAt = stopwatch()
    const found = gatherEvidence(asked.request, asked.domainLookup, needs, visit)
    return found instanceof Promise ? found.then(all => judged(asked, all, startedAt)) : judged(asked, found, startedAt)
  }
  // No function is made here: what one would hold on to would be put aside for each question, whether it is called or not.
  return (request, visit) => {
    const generation = keeperNow()
    const { subject, policy } = request
    // A test address has its verdict written down and asks neither lists nor network.
    if (subject.isTest)
      return {
        subject,
        judged: judgeDomain(subject, testAddressEvidence(subject, request.includeTenant), policy),
        tookMs: 0,
      }
    const inUse = activeLists()
    const { domain, registrable, localPart } = subject
    // Lists come first: they cost no network, and what they hold decides what else is worth asking.
    const domainLookup = domain === null ? NO_DOMAIN_LOOKUP : inUse.lookupDomain(domain, registrable)
    const hints = readAddressHints(localPart ?? "", domain ?? "", inUse.addressWords)
    // Addresses whose names say nothing differ in nothing else at one domain, and most are such: what was settled of one
    // holds for all. No time is taken of that way, since it takes none worth telling.
    const isCacheable =
      subject.fault === null && hints === NO_HINTS && domainLookup.seenBefore && isEmptyMatch(request.ownListMatch)
    const cacheKey = cacheKeyOf(request)
    const kept = isCacheable ? cachedVerdicts(domainLookup, generation)?.get(cacheKey) : undefined
    if (kept !== undefined && kept.freshUntilMs > clock()) return { subject, judged: kept.judged, tookMs: 0 }
    return anew({ request, domainLookup, hints, generation, cacheKey, isCacheable }, visit)
  }
}

/** A question with what is known of it before anybody outside is asked. */
type PendingCheck = {
  readonly request: CheckRequest
  readonly domainLookup: DomainLookup
  readonly hints: AddressHints
  readonly generation: object
  /** Among the kinds of question that its domain is asked. */
  readonly cacheKey: number
  /** Whether all who ask it of the domain are told the same. */
  readonly isCacheable: boolean
}

/** All that was asked for a question. */
type GatheredEvidence = { readonly network: NetworkEvidence; readonly deep: DeepEvidence }

const isFromCache = ({ network, deep }: GatheredEvidence): boolean =>
  deep.isCached && (network.isCached || !network.mail.known)

const freshUntil = ({ network, deep }: GatheredEvidence): number => Math.min(network.freshUntilMs, deep.freshUntilMs)

const isEmptyMatch = ({ blockedBy, isAllowed, isOperatorAllowed }: OwnListMatch): boolean =>
  blockedBy === null && !isAllowed && !isOperatorAllowed

/** A small number for each combination of what a question can differ in at one domain. */
const cacheKeyOf = ({ subject: { kind, hasSubaddress }, policy, isDeep, includeTenant }: CheckRequest): number =>
  POLICY_NAMES.indexOf(policy) * 32 +
  SUBJECT_KINDS.indexOf(kind) * 8 +
  (isDeep ? 4 : 0) +
  (hasSubaddress ? 2 : 0) +
  (includeTenant ? 1 : 0)

/** Asks the outside world; nobody is asked about a name that cannot exist, so its verdict is never degraded. */
function gatherEvidence(
  question: CheckRequest,
  { listMatch }: DomainLookup,
  { networkProbe, deepProbe }: Pick<CheckDeps, "networkProbe" | "deepProbe">,
  visit: BatchContext | undefined,
): GatheredEvidence | Promise<GatheredEvidence> {
  const { subject, includeTenant } = question
  const { domain } = subject
  if (domain === null || cannotExist(subject, listMatch)) return NOTHING_QUERIED
  const organisationalDomain = subject.registrable ?? domain
  // Nobody's office stands at a consumer, relay or throw-away domain.
  const wantsTenant = includeTenant && (listMatch.mask & NO_TENANT_MASK) === 0
  const network = networkProbe({ domain, organisationalDomain, includeTenant: wantsTenant }, visit)
  const deepTold = question.isDeep
    ? deepProbe.lookup(organisationalDomain)
    : shallowEvidence(deepProbe.cachedAgeDays(organisationalDomain))
  if (!(network instanceof Promise) && !(deepTold instanceof Promise)) return { network, deep: deepTold }
  return Promise.all([network, deepTold]).then(([one, other]) => ({ network: one, deep: other }))
}

/** A check that is not deep goes by the age that an earlier deep one found. */
const shallowEvidence = (days: number | null): DeepEvidence =>
  days === null ? NO_DEEP_EVIDENCE : { ...NO_DEEP_EVIDENCE, ageDays: known(days) }

/** Everything known about a Subject that is no test address. */
function buildEvidence(
  { subject, ownListMatch }: CheckRequest,
  repute: DomainLookup,
  hints: AddressHints,
  { network, deep }: GatheredEvidence,
  correction: Category | null,
): Evidence {
  const { kind, fault, isTest, hasSubaddress } = subject
  const { suggestion, lookalikeOf } = repute
  const listed = ownListMatch.isOperatorAllowed ? repute.listMatch.without(OPERATOR_ALLOW_MASK) : repute.listMatch
  const { mail, suites, tenant } = network
  const { ageDays, homepage } = deep
  return {
    subject: { kind, fault, isTest, hasSubaddress },
    listed,
    suggestion,
    lookalikeOf,
    hints,
    testCategory: null,
    correction,
    mail,
    suites,
    tenant,
    ageDays,
    homepage,
    blockedBy: ownListMatch.blockedBy,
    isAllowed: ownListMatch.isAllowed,
    isCached: network.isCached && deep.isCached,
  }
}

const NOT_QUERIED: Finding<never> = unknown("not_asked")

/** Nothing is deep about a check. */
const NO_DEEP_EVIDENCE: DeepEvidence = {
  ageDays: NOT_QUERIED,
  homepage: NOT_QUERIED,
  isCached: true,
  freshUntilMs: Number.POSITIVE_INFINITY,
}

const NOTHING_QUERIED: GatheredEvidence = {
  network: {
    mail: NOT_QUERIED,
    suites: NOT_QUERIED,
    tenant: NOT_QUERIED,
    isCached: false,
    freshUntilMs: Number.POSITIVE_INFINITY,
  },
  deep: NO_DEEP_EVIDENCE,
}

/** The sets that an operator's allow entry takes a domain out of. */
const OPERATOR_ALLOW_MASK = SET_BITS.disposable | SET_BITS.relay

const NO_TENANT_MASK = SET_BITS.personal | SET_BITS.relay | SET_BITS.disposable

/** What lists say of a text from which no domain can be read. */
const NO_DOMAIN_LOOKUP: DomainLookup = {
  listMatch: NO_LIST_MATCH,
  suggestion: null,
  lookalikeOf: null,
  seenBefore: false,
  cachedVerdicts: null,
}

function cannotExist(subject: Subject, listed: ListMatch): boolean {
  if (subject.fault === "public_suffix") return !listed.has("government_suffix") && !listed.has("education_suffix")
  return subject.fault !== null
}
