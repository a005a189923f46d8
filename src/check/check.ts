import type { Stopwatch } from "../base/clock.ts"
import { type Finding, unknown } from "../base/finding.ts"
import { POLICY_NAMES, type Policy } from "../contract/policies.ts"
import { type AddressHints, addressHints, NO_HINTS } from "./address/hints.ts"
import { SUBJECT_KINDS, type Subject } from "./address/subject.ts"
import { type Listed, NOWHERE } from "./lists/listed.ts"
import type { Lists, Repute } from "./lists.ts"
import type { Outcome, Settled } from "./present.ts"
import { testEvidence } from "./test-evidence.ts"
import type { Evidence } from "./verdict/evidence.ts"
import { judge } from "./verdict/judge.ts"

/** What is asked of one check: text that was parsed, under a policy. A Subject with a fault is a question too. */
export type Question = { readonly subject: Subject; readonly policy: Policy; readonly deep: boolean }

/**
 * Answers one question. It never rejects: what the outside world fails to tell lowers the verdict's confidence. It gives
 * a promise only when the outside world has to be asked.
 */
export type Check = (question: Question) => Outcome | Promise<Outcome>

type Needs = {
  /** The lists in use; asked anew for each check, so that a swap takes effect at once. */
  readonly lists: () => Lists
  readonly stopwatch: Stopwatch
}

/** How many kinds of question are kept settled for one domain: few are ever asked, and each takes about 3 kB. */
const SETTLED_MAX = 4

/** Builds the whole path of a check, from Subject to verdict. */
export function checking({ lists, stopwatch }: Needs): Check {
  return ({ subject, policy, deep }) => {
    // A test address has its verdict written down and asks neither lists nor network.
    if (subject.isTest) return { subject, settled: settle(testEvidence(subject), policy), tookMs: 0 }
    const inUse = lists()
    const { domain, registrable, localPart } = subject
    // Lists come first: they cost no network, and what they hold decides what else is worth asking.
    const repute = domain === null ? NO_REPUTE : inUse.reputeOf(domain, registrable)
    const hints = addressHints(localPart ?? "", domain ?? "", inUse.words)
    // Addresses whose names say nothing differ in nothing else at one domain, and most are such: what was settled of one
    // holds for all. No time is taken of that way, since it takes none worth telling.
    const isCommon = subject.fault === null && hints === NO_HINTS
    const key = keyOf(subject, policy, deep)
    const kept = isCommon ? repute.settled?.get(key) : undefined
    if (kept !== undefined) return { subject, settled: kept, tookMs: 0 }
    const startedAt = stopwatch()
    const settled = settle(gathered(subject, repute, hints, deep), policy)
    if (isCommon && (repute.settled?.size ?? 0) < SETTLED_MAX) repute.settled?.set(key, settled)
    return { subject, settled, tookMs: Math.round(stopwatch() - startedAt) }
  }
}

const settle = (evidence: Evidence, policy: Policy): Settled => ({ policy, evidence, verdict: judge(evidence, policy) })

/** A small number for each combination of what a question can differ in at one domain. */
const keyOf = ({ kind, hasSubaddress }: Subject, policy: Policy, deep: boolean): number =>
  POLICY_NAMES.indexOf(policy) * 16 + SUBJECT_KINDS.indexOf(kind) * 4 + (deep ? 2 : 0) + (hasSubaddress ? 1 : 0)

/** Everything known about a Subject that is no test address. */
function gathered(subject: Subject, repute: Repute, hints: AddressHints, deep: boolean): Evidence {
  // A name that cannot exist is not looked up, so its verdict is never degraded (decisions §3, row 1).
  const outside = cannotExist(subject, repute.listed) ? NOT_ASKED : UNAVAILABLE
  const { kind, fault, isTest, hasSubaddress } = subject
  const { listed, suggestion, imitated } = repute
  return {
    subject: { kind, fault, isTest, hasSubaddress },
    listed,
    suggestion,
    imitated,
    hints,
    test: null,
    correction: null,
    mail: outside,
    suites: outside,
    tenant: NOT_ASKED,
    ageDays: deep ? outside : NOT_ASKED,
    homepage: deep ? outside : NOT_ASKED,
    blockedBy: null,
    isAllowed: false,
    isCached: false,
  }
}

const NOT_ASKED: Finding<never> = unknown("not_asked")
const UNAVAILABLE: Finding<never> = unknown("unavailable")

/** What lists say of a text from which no domain can be read. */
const NO_REPUTE: Repute = { listed: NOWHERE, suggestion: null, imitated: null, settled: null }

function cannotExist(subject: Subject, listed: Listed): boolean {
  if (subject.fault === "public_suffix") return !listed.has("government_suffix") && !listed.has("education_suffix")
  return subject.fault !== null
}
