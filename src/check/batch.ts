import type { Policy } from "../contract/policies.ts"
import type { Subject } from "./address/subject.ts"
import { type Check, NO_OWN_LIST_MATCH, type OwnListMatch } from "./check.ts"
import { BatchContext } from "./network-evidence.ts"
import type { CheckOutcome } from "./result/result.ts"

/** Subjects that are checked together. */
export type BatchRequest = {
  readonly subjects: readonly Subject[]
  readonly policy: Policy
  /** What own lists say of an address, or of a domain alone: `normalized` is null then. */
  readonly ownListMatch: (normalized: string | null, domain: string) => OwnListMatch | Promise<OwnListMatch>
  /** Told why a domain could not be asked about by our own fault; its items rest on lists alone, and no other suffers. */
  readonly onError: (error: unknown) => void
}

/**
 * Checks all of a batch side by side and gives what was found in the order of its subjects. The outside world is asked
 * about each domain once, and has one budget of time for all: what it has not told by then is degraded, and the rest is
 * whole. Gives a promise only when something has to be waited for; it rejects when own lists cannot be read.
 */
export function checkBatch(
  check: Check,
  batch: BatchRequest,
): readonly CheckOutcome[] | Promise<readonly CheckOutcome[]> {
  const visit = new BatchContext(batch.onError)
  const found = batch.subjects.map(subject => startItem(check, batch, subject, visit))
  if (found.every(isOutcome)) return found
  return Promise.all(found).finally(() => visit.close())
}

/** What fails at once fails later, so that nothing which others wait for is left without anybody who hears it fail. */
function startItem(
  check: Check,
  batch: BatchRequest,
  subject: Subject,
  visit: BatchContext,
): CheckOutcome | Promise<CheckOutcome> {
  try {
    return checkItem(check, batch, subject, visit)
  } catch (error) {
    return Promise.reject(error)
  }
}

function checkItem(
  check: Check,
  { policy, ownListMatch: standingOf }: BatchRequest,
  subject: Subject,
  visit: BatchContext,
): CheckOutcome | Promise<CheckOutcome> {
  const { domain, normalized, isTest } = subject
  const asked = (ownListMatch: OwnListMatch) =>
    check({ subject, policy, isDeep: false, includeTenant: true, ownListMatch }, visit)
  // Nobody's lists have a test address, or a text that names no domain.
  const standing = domain === null || isTest ? NO_OWN_LIST_MATCH : standingOf(normalized, domain)
  return standing instanceof Promise ? standing.then(asked) : asked(standing)
}

const isOutcome = (found: CheckOutcome | Promise<CheckOutcome>): found is CheckOutcome => !(found instanceof Promise)
