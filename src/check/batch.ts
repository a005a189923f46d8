import type { AccountRules } from "../contract/account-rules.ts"
import type { Policy } from "../contract/policies.ts"
import type { Subject } from "./address/subject.ts"
import { type Check, NO_OWN_LIST_MATCH, type OwnListMatch } from "./check.ts"
import { BatchContext } from "./lookup-context.ts"
import type { CheckOutcome } from "./result/result.ts"
import { ALL_PARTS, verdictParts } from "./verdict/evidence-need.ts"

/** Subjects that are checked together. */
export type BatchRequest = {
  readonly subjects: readonly Subject[]
  readonly policy: Policy
  /** Whether the results show more than the verdicts. */
  readonly showsMail: boolean
  /** Who asks; see `NetworkQuery`. */
  readonly callerId: string
  /** What own lists say about a subject with a domain. */
  readonly ownListMatch: (subject: Subject) => OwnListMatch | Promise<OwnListMatch>
  /** The rules of the account. Absent: it has none. */
  readonly rules?: AccountRules | undefined
}

/**
 * Checks all items at the same time and returns the outcomes in the order of the subjects. Each domain is looked up once. All
 * lookups share one deadline: an item whose lookup is not done by then is degraded. Returns a promise only if something has
 * to be waited for; the promise rejects if own lists cannot be read.
 */
export function checkBatch(
  check: Check,
  batch: BatchRequest,
): readonly CheckOutcome[] | Promise<readonly CheckOutcome[]> {
  const context = new BatchContext()
  const outcomes = batch.subjects.map(subject => startItem(check, batch, subject, context))
  if (outcomes.every(isOutcome)) return outcomes
  return Promise.all(outcomes).finally(() => context.close())
}

/** Turns an exception into a rejection: otherwise the promises of earlier items would be left without a handler. */
function startItem(
  check: Check,
  batch: BatchRequest,
  subject: Subject,
  context: BatchContext,
): CheckOutcome | Promise<CheckOutcome> {
  try {
    return checkItem(check, batch, subject, context)
  } catch (error) {
    return Promise.reject(error)
  }
}

function checkItem(
  check: Check,
  batch: BatchRequest,
  subject: Subject,
  context: BatchContext,
): CheckOutcome | Promise<CheckOutcome> {
  const checkWith = (ownListMatch: OwnListMatch) =>
    check(
      {
        subject,
        policy: batch.policy,
        callerId: batch.callerId,
        isDeep: false,
        includeTenant: true,
        parts: batch.showsMail ? ALL_PARTS : verdictParts(subject),
        ownListMatch,
        rules: batch.rules,
      },
      context,
    )
  // No own list holds a test address, or a text that names no domain.
  const match = subject.domain === null || subject.isTest ? NO_OWN_LIST_MATCH : batch.ownListMatch(subject)
  return match instanceof Promise ? match.then(checkWith) : checkWith(match)
}

const isOutcome = (outcome: CheckOutcome | Promise<CheckOutcome>): outcome is CheckOutcome =>
  !(outcome instanceof Promise)
