import { known, NOT_QUERIED } from "../base/finding.ts"
import type { Clock, Stopwatch } from "../base/outside-world.ts"
import { HOUR_MS, isFresh } from "../base/time.ts"
import type { AccountRules } from "../contract/account-rules.ts"
import type { Category } from "../contract/categories.ts"
import { POLICY_NAMES, type Policy } from "../contract/policies.ts"
import {
  type AddressHints,
  HINT_KINDS_COUNT,
  hintKindsIndex,
  hintKindsOf,
  NO_HINTS,
  readAddressHints,
} from "./address/address-hints.ts"
import { isMailboxOfHost } from "./address/canonical-email.ts"
import { mendedDomain } from "./address/mended-domain.ts"
import { SUBJECT_KINDS, type Subject } from "./address/subject.ts"
import type { DeepProbe } from "./deep-evidence.ts"
import type { CachedVerdict, DomainLists, DomainLookup } from "./domain-lookup.ts"
import {
  DEEP_UNAVAILABLE,
  type DeepEvidence,
  FAILED_EVIDENCE,
  IGNORE_DEFECTS,
  type NetworkEvidence,
  type OnDefect,
  readEvidence,
} from "./evidence-defects.ts"
import { type ListMatch, NO_LIST_MATCH } from "./lists/list-match.ts"
import { SET_BITS, STRENGTH_MASK } from "./lists/sets.ts"
import { NO_NAME_MATCH } from "./lookalike/known-name-matcher.ts"
import type { LookupContext } from "./lookup-context.ts"
import { type NetworkProbe, NOTHING_ASKED } from "./network-evidence.ts"
import { type CheckOutcome, type JudgedDomain, judgeDomain } from "./result/result.ts"
import { ruledDomain } from "./result/ruled-domain.ts"
import { judgeTestAddress } from "./test-address-evidence.ts"
import type { Evidence } from "./verdict/evidence.ts"
import { ALL_PARTS, ANSWER_PARTS, type EvidenceNeed, neededEvidence, QUESTIONS } from "./verdict/evidence-need.ts"
import { isSuffixOfBody } from "./verdict/rules.ts"
import { cachedVerdicts, createGeneration, isOfCurrentAge, VerdictCache } from "./verdict-cache.ts"

/** What one check is asked to classify. The Subject may have a fault: then the verdict says so. */
export type CheckRequest = {
  readonly subject: Subject
  readonly policy: Policy
  readonly isDeep: boolean
  /** Look up the tenant in suite_b. */
  readonly includeTenant: boolean
  /** The parts of the answer that are told (`ANSWER_PARTS`): nothing else is asked. Absent: all. */
  readonly parts?: number
  /** Who asks, whose lookups are limited; see `NetworkQuery` and `DeepProbe`. Absent: the operator. */
  readonly callerId?: string | null
  /** What the own lists of the account and of the operator say about the Subject. */
  readonly ownListMatch: OwnListMatch
  /** The rules of the account. Absent: it has none. */
  readonly rules?: AccountRules | undefined
}

/** What own lists say about a Subject. */
export type OwnListMatch = {
  /** Whose block list holds it; null: neither. */
  readonly blockedBy: "operator" | "account" | null
  /** The account's allow list holds it. */
  readonly isAllowed: boolean
  /** The operator's allow list holds its domain, which removes the domain from the disposable and relay sets. */
  readonly isOperatorAllowed: boolean
}

/** No own list holds the Subject. */
export const NO_OWN_LIST_MATCH: OwnListMatch = { blockedBy: null, isAllowed: false, isOperatorAllowed: false }

/**
 * Runs one check. It never rejects: a failed lookup, or a defect in one, only lowers the verdict's confidence. It returns a promise only if the
 * network has to be queried. Checks that belong together share a `context`.
 */
export type Check = (request: CheckRequest, context?: LookupContext) => CheckOutcome | Promise<CheckOutcome>

type CheckDeps = {
  /** Is called for each check, so that new lists take effect at once. */
  readonly activeLists: () => DomainLists
  readonly networkProbe: NetworkProbe
  readonly deepProbe: DeepProbe
  /** Absent: defects in reading evidence are not reported. */
  readonly onDefect?: OnDefect
  readonly corrections: CategoryCorrections
  /**
   * How many verdicts are cached. Absent: some thousand. 0: none, for a check that few ask for: its verdicts would displace those of another one
   * over the same lists.
   */
  readonly verdictsMax?: number
  readonly clock: Clock
  readonly stopwatch: Stopwatch
}

/** The category corrections of accepted feedback reports. */
export type CategoryCorrections = {
  /** The corrected category of the domain or of a parent down to its registrable domain; null: there is none. */
  readonly of: (domain: string, registrable: string | null) => Category | null
  /** Changes with every change of the corrections. */
  readonly version: number
}

/** No report was accepted. */
export const NO_CORRECTIONS: CategoryCorrections = { of: () => null, version: 0 }

/**
 * Builds a check, from the Subject to the verdict:
 * 1. A test address has fixed evidence and skips all other steps.
 * 2. The lists are searched for the domain, and the local part is searched for hints.
 * 3. If the same request was judged for the domain before, the cached verdict is the answer.
 * 4. DNS and the tenant endpoints are queried as far as the answer needs it, and for a deep check the registry and the homepage too.
 * 5. All evidence is judged under the policy.
 * 6. The verdict is cached for the domain.
 * 7. The rules of the account change its recommendation.
 */
export function createCheck(deps: CheckDeps): Check {
  const currentGeneration = createGeneration(deps.corrections)
  const verdicts = deps.verdictsMax === 0 ? null : new VerdictCache(deps.verdictsMax)
  // No closure is made for each request: the runtime would allocate what it captures even on a cache hit.
  return (request, context) => {
    const generation = currentGeneration()
    const { subject, policy } = request
    if (subject.isTest) return judgeTestAddress(subject, request.includeTenant, policy)
    const lists = deps.activeLists()
    const { domain, registrable, localPart } = subject
    // The lists come first: they need no network, and their answer decides which queries are worth their cost.
    const domainLookup = domain === null ? brokenLookup(lists, subject) : lists.lookupDomain(domain, registrable)
    const hints =
      localPart === null ? NO_HINTS : readAddressHints(localPart, domain ?? "", lists.addressWords, subject.normalized)
    // All requests of one kind for a domain get the same verdict, whoever sends them, so that it is cached for the domain.
    const cacheKey =
      verdicts !== null && subject.fault === null && domainLookup.seenBefore ? cacheKeyOf(request, hints) : null
    const cached = cacheKey === null ? undefined : cachedVerdicts(domainLookup, generation)?.get(cacheKey)
    if (cached !== undefined && isUsable(cached, subject, deps))
      return { subject, hints, judged: forAccount(cached.judged, request), tookMs: 0, wasFetched: false }
    const listMatch = effectiveListMatch(domainLookup, request.ownListMatch)
    const correction = correctionOf(subject, deps)
    const check = { request, domainLookup, listMatch, correction, hints, generation, cacheKey }
    return gatherAndJudge(deps, check, verdicts, context)
  }
}

const correctionOf = ({ domain, registrable }: Subject, { corrections }: CheckDeps): Category | null =>
  domain === null ? null : corrections.of(domain, registrable)

const isUsable = (cached: CachedVerdict, { domain, registrable }: Subject, { clock, deepProbe }: CheckDeps): boolean =>
  isFresh(cached, clock()) && isOfCurrentAge(cached, registrable ?? domain ?? "", deepProbe)

function gatherAndJudge(
  deps: CheckDeps,
  check: PendingCheck,
  verdicts: VerdictCache | null,
  context: LookupContext | undefined,
): CheckOutcome | Promise<CheckOutcome> {
  const { network, deep } = gatherEvidence(check, deps, context)
  // What waits for nothing takes microseconds.
  if (!(network instanceof Promise || deep instanceof Promise))
    return judgeAndCache(deps, check, verdicts, { network, deep }, 0)
  const { stopwatch } = deps
  const startedAt = stopwatch()
  const judge = (ofNetwork: NetworkEvidence, ofDeep: DeepEvidence): CheckOutcome =>
    judgeAndCache(deps, check, verdicts, { network: ofNetwork, deep: ofDeep }, Math.round(stopwatch() - startedAt))
  if (deep instanceof Promise)
    return Promise.all([network, deep]).then(([ofNetwork, ofDeep]) => judge(ofNetwork, ofDeep))
  return Promise.resolve(network).then(ofNetwork => judge(ofNetwork, deep))
}

function judgeAndCache(
  { deepProbe, clock }: CheckDeps,
  check: PendingCheck,
  verdicts: VerdictCache | null,
  gathered: GatheredEvidence,
  tookMs: number,
): CheckOutcome {
  const { request, domainLookup, hints, generation, cacheKey } = check
  const { subject, policy } = request
  const judged = judgeDomain(subject, buildEvidence(check, gathered), policy)
  // Only evidence from a cache makes a verdict that is cached, so that `cached: true` in it is correct.
  if (cacheKey !== null && isFromCache(gathered)) {
    const cachedAtMs = clock()
    const lifetime = { cachedAtMs, freshUntilMs: Math.min(freshUntil(gathered), cachedAtMs + VERDICT_MS_MAX) }
    verdicts?.set(domainLookup, generation, cacheKey, { judged, ...lifetime, ageVersion: deepProbe.ageVersion() })
  }
  return { subject, hints, judged: forAccount(judged, request), tookMs, wasFetched: gathered.deep.wasFetched }
}

/** How long a verdict is cached at most: as long as the answers of DNS. One for which nothing was asked rests on nothing that expires. */
const VERDICT_MS_MAX = HOUR_MS

/** The verdict under the rules of the account. Cached verdicts are those without, which all accounts share. */
const forAccount = (judged: JudgedDomain, { rules }: CheckRequest): JudgedDomain =>
  rules === undefined ? judged : ruledDomain(judged, rules)

/** A request with everything that is known before the network is queried. */
type PendingCheck = {
  readonly request: CheckRequest
  readonly domainLookup: DomainLookup
  /** Without the sets from which the operator's allow list removes the domain. */
  readonly listMatch: ListMatch
  readonly correction: Category | null
  readonly hints: AddressHints
  readonly generation: object
  /** Tells the kinds of request for one domain apart. Null: the verdict is not cached: the domain does not recur, or the Subject has a fault. */
  readonly cacheKey: number | null
}

/** A small number for each combination of what can differ between the requests for one domain. */
function cacheKeyOf(
  { subject: { kind, hasSubaddress }, policy, isDeep, includeTenant, parts = ALL_PARTS, ownListMatch }: CheckRequest,
  hints: AddressHints,
): number {
  const flags = (isDeep ? 4 : 0) + (hasSubaddress ? 2 : 0) + (includeTenant ? 1 : 0)
  const kindAndPolicy = POLICY_NAMES.indexOf(policy) * SUBJECT_KINDS.length + SUBJECT_KINDS.indexOf(kind)
  const match = kindAndPolicy * OWN_LIST_MATCHES + ownListMatchNumber(ownListMatch)
  const hintKinds = hints === NO_HINTS ? 0 : hintKindsIndex(hintKindsOf(hints))
  return ((match * HINT_KINDS_COUNT + hintKinds) * 8 + flags) * (ALL_PARTS + 1) + parts
}

/** A number below `OWN_LIST_MATCHES` for each match. */
const ownListMatchNumber = ({ blockedBy, isAllowed, isOperatorAllowed }: OwnListMatch): number =>
  (blockedBy === null ? 0 : blockedBy === "operator" ? 1 : 2) + (isAllowed ? 3 : 0) + (isOperatorAllowed ? 6 : 0)
const OWN_LIST_MATCHES = 12

/** The answers of all probes for one request. */
type GatheredEvidence = { readonly network: NetworkEvidence; readonly deep: DeepEvidence }

/** The same while it is gathered. */
type PendingEvidence = {
  readonly network: NetworkEvidence | Promise<NetworkEvidence>
  readonly deep: DeepEvidence | Promise<DeepEvidence>
}

/** Runs the probes. A name that cannot exist is not looked up, so its verdict is never degraded. */
function gatherEvidence(
  { request, listMatch, correction }: PendingCheck,
  { networkProbe, deepProbe, onDefect = IGNORE_DEFECTS }: Pick<CheckDeps, "networkProbe" | "deepProbe" | "onDefect">,
  context: LookupContext | undefined,
): PendingEvidence {
  const { subject } = request
  const { domain } = subject
  if (domain === null || cannotExist(subject, listMatch)) return NOTHING_QUERIED
  const organisationalDomain = subject.registrable ?? domain
  const { callerId = null } = request
  const { asked, isDecisive } = evidenceNeed(request, listMatch, correction)
  const query = { domain, organisationalDomain, asked, isDecisive, callerId }
  // The probes make do without a part that meets a defect. This is for defects of a probe as a whole.
  const network = readEvidence("dns", onDefect, FAILED_EVIDENCE, networkProbe, query, context)
  const deep = request.isDeep
    ? readEvidence("deep", onDefect, DEEP_UNAVAILABLE, deepProbe.lookup, organisationalDomain, callerId)
    : readEvidence("deep", onDefect, NO_DEEP_EVIDENCE, shallowEvidence, deepProbe, organisationalDomain)
  return { network, deep }
}

/** What the answer to a request needs to know of its domain. */
function evidenceNeed(request: CheckRequest, listMatch: ListMatch, correction: Category | null): EvidenceNeed {
  const { subject, parts = ALL_PARTS } = request
  const told = isMailboxOfHost(subject) ? parts : parts & ~ANSWER_PARTS.mailbox
  const { asked, isDecisive } = neededEvidence(listMatch, correction, told)
  // Consumer, relay and disposable domains have no tenant in suite_b. A weak listing may be contradicted by one.
  const mayHaveTenant =
    correction === null
      ? (listMatch.mask & NO_TENANT_MASK) === 0 || listMatch.strength === "weak"
      : !NO_TENANT_CATEGORIES.has(correction)
  return { asked: request.includeTenant && mayHaveTenant ? asked : asked & ~QUESTIONS.tenant, isDecisive }
}

function cannotExist(subject: Subject, listMatch: ListMatch): boolean {
  if (subject.fault === "public_suffix") return !isSuffixOfBody({ listMatch })
  return subject.fault !== null
}

/** A check that is not deep uses the domain's age if an earlier deep check found it. */
function shallowEvidence({ cachedAgeDays }: DeepProbe, domain: string): DeepEvidence {
  const ageDays = cachedAgeDays(domain)
  return ageDays === null ? NO_DEEP_EVIDENCE : { ...NO_DEEP_EVIDENCE, ageDays: known(ageDays) }
}

/** Every query was answered from a cache. A failed mail lookup counts too: it is cached for a short time. */
const isFromCache = ({ network, deep }: GatheredEvidence): boolean =>
  deep.isCached && (network.isCached || !network.mail.known)

const freshUntil = ({ network, deep }: GatheredEvidence): number => Math.min(network.freshUntilMs, deep.freshUntilMs)

/** All evidence about a Subject that is no test address. */
function buildEvidence(
  { request, domainLookup, listMatch, correction, hints }: PendingCheck,
  { network, deep }: GatheredEvidence,
): Evidence {
  const { subject, ownListMatch } = request
  const { kind, fault, isTest, hasSubaddress } = subject
  const { suggestion, isHouseholdSlip, lookalikeOf } = domainLookup
  const { mail, suites, tenant } = network
  const { ageDays, homepage } = deep
  return {
    subject: { kind, fault, isTest, hasSubaddress },
    listMatch,
    suggestion,
    // Who takes a name out of the lists, or has confirmed what it is, knows it.
    isHouseholdSlip: isHouseholdSlip && !ownListMatch.isOperatorAllowed && correction === null,
    lookalikeOf,
    namePattern: domainLookup.namePattern,
    hints: hintKindsOf(hints),
    testCategory: null,
    correction,
    mail: ownListMatch.isOperatorAllowed ? withoutAlias(mail) : mail,
    suites,
    tenant,
    ageDays,
    homepage,
    blockedBy: ownListMatch.blockedBy,
    isAllowed: ownListMatch.isAllowed,
    ruledAs: null,
    isCached: network.isCached && deep.isCached,
  }
}

/** The deep part of a check that is not deep. */
const NO_DEEP_EVIDENCE: DeepEvidence = {
  ageDays: NOT_QUERIED,
  homepage: NOT_QUERIED,
  wasFetched: false,
  isCached: true,
  freshUntilMs: Number.POSITIVE_INFINITY,
}

const NOTHING_QUERIED: GatheredEvidence = {
  network: NOTHING_ASKED,
  deep: NO_DEEP_EVIDENCE,
}

/** The sets from which an entry of the operator's allow list removes a domain. */
const OPERATOR_ALLOW_MASK = SET_BITS.disposable | SET_BITS.relay | STRENGTH_MASK

const effectiveListMatch = ({ listMatch }: DomainLookup, { isOperatorAllowed }: OwnListMatch): ListMatch =>
  isOperatorAllowed ? listMatch.without(OPERATOR_ALLOW_MASK) : listMatch

/** The mail without what its host says of persons who hide a mailbox: the operator's allow list says otherwise (`DECISIONS 9`). */
const withoutAlias = (mail: NetworkEvidence["mail"]): NetworkEvidence["mail"] =>
  mail.known && mail.value.operatedBy === "alias" ? known({ ...mail.value, operatedBy: null }) : mail

const NO_TENANT_CATEGORIES: ReadonlySet<Category> = new Set(["personal", "relay", "disposable"])
const NO_TENANT_MASK = SET_BITS.personal | SET_BITS.agent_mailbox | SET_BITS.relay | SET_BITS.disposable

/** The lookup of a text that names no domain, with the one that it names once its punctuation is put right. */
function brokenLookup({ matchBroken }: DomainLists, subject: Subject): DomainLookup {
  const mended = mendedDomain(subject)
  return mended === null ? NO_DOMAIN_LOOKUP : { ...NO_DOMAIN_LOOKUP, ...matchBroken(mended) }
}

const NO_DOMAIN_LOOKUP: DomainLookup = {
  listMatch: NO_LIST_MATCH,
  ...NO_NAME_MATCH,
  namePattern: null,
  seenBefore: false,
  cachedVerdicts: null,
}
