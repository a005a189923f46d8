import type { Stopwatch } from "../base/clock.ts"
import { type Finding, unknown } from "../base/finding.ts"
import type { Policy } from "../contract/policies.ts"
import { addressHints } from "./address/hints.ts"
import type { Subject } from "./address/subject.ts"
import { type Listed, NOWHERE } from "./lists/listed.ts"
import type { Lists, Standing } from "./lists.ts"
import type { Outcome } from "./present.ts"
import { testEvidence } from "./test-evidence.ts"
import type { Evidence } from "./verdict/evidence.ts"
import { judge } from "./verdict/judge.ts"

/** What is asked of one check: text that was parsed, under a policy. A Subject with a fault is a question too. */
export type Question = { readonly subject: Subject; readonly policy: Policy; readonly deep: boolean }

/** Answers one question. It never rejects: what the outside world fails to tell lowers the verdict's confidence. */
export type Check = (question: Question) => Promise<Outcome>

type Needs = {
  /** The lists in use; asked anew for each check, so that a swap takes effect at once. */
  readonly lists: () => Lists
  readonly stopwatch: Stopwatch
}

/** Builds the whole path of a check, from Subject to verdict. */
export function checking({ lists, stopwatch }: Needs): Check {
  return async ({ subject, policy, deep }) => {
    const startedAt = stopwatch()
    // A test address has its verdict written down and asks neither lists nor network.
    const evidence = subject.isTest ? testEvidence(subject) : gathered(subject, deep, lists())
    const verdict = judge(evidence, policy)
    return { policy, evidence, verdict, tookMs: Math.round(stopwatch() - startedAt) }
  }
}

/** Everything known about a Subject that is no test address. */
function gathered(subject: Subject, deep: boolean, lists: Lists): Evidence {
  const { domain, registrable } = subject
  // Lists come first: they cost no network, and what they hold decides what else is worth asking.
  const standing = domain === null ? NO_STANDING : lists.standingOf(domain, registrable)
  // A name that cannot exist is not looked up, so its verdict is never degraded (decisions §3, row 1).
  const outside = cannotExist(subject, standing.listed) ? NOT_ASKED : UNAVAILABLE
  return {
    subject,
    ...standing,
    hints: addressHints(subject.localPart ?? "", domain ?? "", lists.words),
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
const NO_STANDING: Standing = { listed: NOWHERE, suggestion: null, imitated: null }

function cannotExist(subject: Subject, listed: Listed): boolean {
  if (subject.fault === "public_suffix") return !listed.has("government_suffix") && !listed.has("education_suffix")
  return subject.fault !== null
}
