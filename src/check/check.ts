import type { Clock, Stopwatch } from "../base/clock.ts"
import { type Finding, known, unknown } from "../base/finding.ts"
import type { Category } from "../contract/categories.ts"
import { POLICY_NAMES, type Policy } from "../contract/policies.ts"
import { type AddressHints, addressHints, NO_HINTS } from "./address/hints.ts"
import { SUBJECT_KINDS, type Subject } from "./address/subject.ts"
import type { Deep, DeepTold } from "./deep.ts"
import { dropOtherAges, keep, keepers, keptIn } from "./keeping.ts"
import { type Listed, NOWHERE } from "./lists/listed.ts"
import { SET_BITS } from "./lists/sets.ts"
import type { Lists, Repute } from "./lists.ts"
import type { Outside, Told, Visit } from "./outside.ts"
import { type Outcome, settle } from "./present.ts"
import { testEvidence } from "./test-evidence.ts"
import type { Evidence } from "./verdict/evidence.ts"

/** What is asked of one check: text that was parsed, under a policy. A Subject with a fault is a question too. */
export type Question = {
  readonly subject: Subject
  readonly policy: Policy
  readonly deep: boolean
  /** Whether the tenant in suite_b is looked up. */
  readonly workspace: boolean
  /** What the asking account's and the operator's own lists say of the Subject. */
  readonly standing: Standing
}

/** What own lists say of a Subject. */
export type Standing = {
  /** Whose block list has it. */
  readonly blockedBy: "operator" | "account" | null
  /** The account's allow list has it. */
  readonly isAllowed: boolean
  /** The operator's allow list has its domain, which takes that out of the sets that count against it. */
  readonly isOperatorAllowed: boolean
}

/** No own list has it. */
export const NO_STANDING: Standing = { blockedBy: null, isAllowed: false, isOperatorAllowed: false }

/**
 * Answers one question. It never rejects: what the outside world fails to tell lowers the verdict's confidence. It gives
 * a promise only when the outside world has to be asked, which is done as part of the visit where there is one.
 */
export type Check = (question: Question, visit?: Visit) => Outcome | Promise<Outcome>

type Needs = {
  /** The lists in use; asked anew for each check, so that a swap takes effect at once. */
  readonly lists: () => Lists
  readonly outside: Outside
  readonly deep: Deep
  readonly corrections: Corrections
  readonly clock: Clock
  readonly stopwatch: Stopwatch
}

/** Corrections that accepted reports made. */
export type Corrections = {
  /** The corrected category of a domain or a parent down to its registrable domain; null: none. */
  readonly of: (domain: string, registrable: string | null) => Category | null
  /** Another number after each change. */
  readonly version: number
}

/** No report was accepted. */
export const NO_CORRECTIONS: Corrections = { of: () => null, version: 0 }

/** Builds the whole path of a check, from Subject to verdict. */
export function checking(needs: Needs): Check {
  const { lists, corrections, clock, stopwatch } = needs
  const keeperNow = keepers(corrections)
  const judged = (asked: Asked, found: Found, startedAt: number): Outcome => {
    const { question, repute, hints, keeper, key, isCommon } = asked
    const { subject, policy } = question
    const correction = subject.domain === null ? null : corrections.of(subject.domain, subject.registrable)
    const settled = settle(subject, gathered(question, repute, hints, found, correction), policy)
    dropOtherAges(keptIn(repute, keeper), found.deep.ageDays)
    // What is told for the first time is settled when it is asked again: then it comes from a cache, and says so.
    if (isCommon && isRepeatable(found)) keep(repute, keeper, key, { settled, freshUntilMs: freshUntil(found) })
    return { subject, settled, tookMs: Math.round(stopwatch() - startedAt) }
  }
  const anew = (asked: Asked, visit: Visit | undefined): Outcome | Promise<Outcome> => {
    const startedAt = stopwatch()
    const found = foundOf(asked.question, asked.repute, needs, visit)
    return found instanceof Promise ? found.then(all => judged(asked, all, startedAt)) : judged(asked, found, startedAt)
  }
  // No function is made here: what one would hold on to would be put aside for each question, whether it is called or not.
  return (question, visit) => {
    const keeper = keeperNow()
    const { subject, policy } = question
    // A test address has its verdict written down and asks neither lists nor network.
    if (subject.isTest)
      return { subject, settled: settle(subject, testEvidence(subject, question.workspace), policy), tookMs: 0 }
    const inUse = lists()
    const { domain, registrable, localPart } = subject
    // Lists come first: they cost no network, and what they hold decides what else is worth asking.
    const repute = domain === null ? NO_REPUTE : inUse.reputeOf(domain, registrable)
    const hints = addressHints(localPart ?? "", domain ?? "", inUse.words)
    // Addresses whose names say nothing differ in nothing else at one domain, and most are such: what was settled of one
    // holds for all. No time is taken of that way, since it takes none worth telling.
    const isCommon = subject.fault === null && hints === NO_HINTS && repute.cameAgain && isPlain(question.standing)
    const key = keyOf(question)
    const kept = isCommon ? keptIn(repute, keeper)?.get(key) : undefined
    if (kept !== undefined && kept.freshUntilMs > clock()) return { subject, settled: kept.settled, tookMs: 0 }
    return anew({ question, repute, hints, keeper, key, isCommon }, visit)
  }
}

/** A question with what is known of it before anybody outside is asked. */
type Asked = {
  readonly question: Question
  readonly repute: Repute
  readonly hints: AddressHints
  readonly keeper: object
  /** Among the kinds of question that its domain is asked. */
  readonly key: number
  /** Whether all who ask it of the domain are told the same. */
  readonly isCommon: boolean
}

/** All that was asked for a question. */
type Found = { readonly told: Told; readonly deep: DeepTold }

const isRepeatable = ({ told, deep }: Found): boolean => deep.isCached && (told.isCached || !told.mail.known)

const freshUntil = ({ told, deep }: Found): number => Math.min(told.freshUntilMs, deep.freshUntilMs)

const isPlain = ({ blockedBy, isAllowed, isOperatorAllowed }: Standing): boolean =>
  blockedBy === null && !isAllowed && !isOperatorAllowed

/** A small number for each combination of what a question can differ in at one domain. */
const keyOf = ({ subject: { kind, hasSubaddress }, policy, deep, workspace }: Question): number =>
  POLICY_NAMES.indexOf(policy) * 32 +
  SUBJECT_KINDS.indexOf(kind) * 8 +
  (deep ? 4 : 0) +
  (hasSubaddress ? 2 : 0) +
  (workspace ? 1 : 0)

/** Asks the outside world; nobody is asked about a name that cannot exist, so its verdict is never degraded. */
function foundOf(
  question: Question,
  { listed }: Repute,
  { outside, deep }: Pick<Needs, "outside" | "deep">,
  visit: Visit | undefined,
): Found | Promise<Found> {
  const { subject, workspace } = question
  const { domain } = subject
  if (domain === null || cannotExist(subject, listed)) return NOBODY_ASKED
  const organisational = subject.registrable ?? domain
  // Nobody's office stands at a consumer, relay or throw-away domain.
  const wantsTenant = workspace && (listed.mask & NO_TENANT_MASK) === 0
  const told = outside({ domain, organisational, wantsTenant }, visit)
  const deepTold = question.deep ? deep.ask(organisational) : shallow(deep.heldAge(organisational))
  if (!(told instanceof Promise) && !(deepTold instanceof Promise)) return { told, deep: deepTold }
  return Promise.all([told, deepTold]).then(([one, other]) => ({ told: one, deep: other }))
}

/** A check that is not deep goes by the age that an earlier deep one found. */
const shallow = (days: number | null): DeepTold => (days === null ? NOT_DEEP : { ...NOT_DEEP, ageDays: known(days) })

/** Everything known about a Subject that is no test address. */
function gathered(
  { subject, standing }: Question,
  repute: Repute,
  hints: AddressHints,
  { told, deep }: Found,
  correction: Category | null,
): Evidence {
  const { kind, fault, isTest, hasSubaddress } = subject
  const { suggestion, imitated } = repute
  const listed = standing.isOperatorAllowed ? repute.listed.without(AGAINST_MASK) : repute.listed
  const { mail, suites, tenant } = told
  const { ageDays, homepage } = deep
  return {
    subject: { kind, fault, isTest, hasSubaddress },
    listed,
    suggestion,
    imitated,
    hints,
    test: null,
    correction,
    mail,
    suites,
    tenant,
    ageDays,
    homepage,
    blockedBy: standing.blockedBy,
    isAllowed: standing.isAllowed,
    isCached: told.isCached && deep.isCached,
  }
}

const NOT_ASKED: Finding<never> = unknown("not_asked")

/** Nothing is deep about a check. */
const NOT_DEEP: DeepTold = {
  ageDays: NOT_ASKED,
  homepage: NOT_ASKED,
  isCached: true,
  freshUntilMs: Number.POSITIVE_INFINITY,
}

const NOBODY_ASKED: Found = {
  told: {
    mail: NOT_ASKED,
    suites: NOT_ASKED,
    tenant: NOT_ASKED,
    isCached: false,
    freshUntilMs: Number.POSITIVE_INFINITY,
  },
  deep: NOT_DEEP,
}

/** The sets that an operator's allow entry takes a domain out of. */
const AGAINST_MASK = SET_BITS.disposable | SET_BITS.relay

const NO_TENANT_MASK = SET_BITS.personal | SET_BITS.relay | SET_BITS.disposable

/** What lists say of a text from which no domain can be read. */
const NO_REPUTE: Repute = { listed: NOWHERE, suggestion: null, imitated: null, cameAgain: false, kept: null }

function cannotExist(subject: Subject, listed: Listed): boolean {
  if (subject.fault === "public_suffix") return !listed.has("government_suffix") && !listed.has("education_suffix")
  return subject.fault !== null
}
