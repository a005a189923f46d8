import type { Policy } from "../contract/policies.ts"
import type { Subject } from "./address/subject.ts"
import { type Check, NO_STANDING, type Standing } from "./check.ts"
import { Visit } from "./outside.ts"
import type { Outcome } from "./present.ts"

/** Subjects that are checked together. */
export type Batch = {
  readonly subjects: readonly Subject[]
  readonly policy: Policy
  /** What own lists say of an address, or of a domain alone: `normalized` is null then. */
  readonly standing: (normalized: string | null, domain: string) => Standing | Promise<Standing>
  /** Told why a domain could not be asked about by our own fault; its items rest on lists alone, and no other suffers. */
  readonly failed: (error: unknown) => void
}

/**
 * Checks all of a batch side by side and gives what was found in the order of its subjects. The outside world is asked
 * about each domain once, and has one budget of time for all: what it has not told by then is degraded, and the rest is
 * whole. Gives a promise only when something has to be waited for; it rejects when own lists cannot be read.
 */
export function checkBatch(check: Check, batch: Batch): readonly Outcome[] | Promise<readonly Outcome[]> {
  const visit = new Visit(batch.failed)
  const found = batch.subjects.map(subject => begun(check, batch, subject, visit))
  if (found.every(isFound)) return found
  return Promise.all(found).finally(() => visit.end())
}

/** What fails at once fails later, so that nothing which others wait for is left without anybody who hears it fail. */
function begun(check: Check, batch: Batch, subject: Subject, visit: Visit): Outcome | Promise<Outcome> {
  try {
    return checked(check, batch, subject, visit)
  } catch (error) {
    return Promise.reject(error)
  }
}

function checked(
  check: Check,
  { policy, standing: standingOf }: Batch,
  subject: Subject,
  visit: Visit,
): Outcome | Promise<Outcome> {
  const { domain, normalized, isTest } = subject
  const asked = (standing: Standing) => check({ subject, policy, deep: false, workspace: true, standing }, visit)
  // Nobody's lists have a test address, or a text that names no domain.
  const standing = domain === null || isTest ? NO_STANDING : standingOf(normalized, domain)
  return standing instanceof Promise ? standing.then(asked) : asked(standing)
}

const isFound = (found: Outcome | Promise<Outcome>): found is Outcome => !(found instanceof Promise)
