import type { Check, Question, Standing } from "../check/check.ts"
import type { Outcome } from "../check/present.ts"
import { LIMITS } from "../contract/limits.ts"
import type { HeldAccount } from "../customers/keys/held-keys.ts"
import type { OwnLists } from "../customers/own-lists/held-own-lists.ts"
import type { MeteredKey } from "../customers/usage/measures.ts"
import type { UsageMeter } from "../customers/usage/usage-meter.ts"
import type { Meter } from "./metrics/meter.ts"
import type { Pass } from "./pass.ts"
import { Problem } from "./problem.ts"

/** Somebody who was let in, what a check of theirs asks, and where it is counted. */
export type Metered = {
  readonly needs: {
    readonly check: Check
    readonly ownLists: OwnLists
    readonly usage: UsageMeter
    readonly meter: Meter
  }
  readonly known: { readonly key: MeteredKey; readonly account: HeldAccount }
  /** Null: nothing limits it. */
  readonly pass: Pass | null
}

/**
 * Checks with the account's own lists at the cost of the caller's units, which are given back when the check fails, and counts
 * what was done. A promise only when something has to be waited for. Throws, or rejects with, `quota_exceeded`.
 */
export function metered(entrant: Metered, question: Question): Outcome | Promise<Outcome> {
  const { needs, known, pass } = entrant
  const { subject, deep } = question
  const units = deep ? LIMITS.deepCheckUnits : 1
  const charged = pass?.charge(units)
  try {
    const standing =
      subject.domain === null
        ? question.standing
        : needs.ownLists.standing(known.account.id, subject.normalized, subject.domain)
    if (!(charged instanceof Promise) && !(standing instanceof Promise)) {
      const outcome = needs.check(withStanding(question, standing))
      if (!(outcome instanceof Promise)) return counted(entrant, units, outcome)
      return orRefunded(entrant, units, told(entrant, units, outcome))
    }
    return orRefunded(entrant, units, later(entrant, question, units, charged, standing))
  } catch (error) {
    return refunded(pass, units, error)
  }
}

const told = async (entrant: Metered, units: number, outcome: Promise<Outcome>): Promise<Outcome> =>
  counted(entrant, units, await outcome)

const orRefunded = ({ pass }: Metered, units: number, outcome: Promise<Outcome>): Promise<Outcome> =>
  outcome.catch(error => refunded(pass, units, error))

async function later(
  entrant: Metered,
  question: Question,
  units: number,
  charged: void | Promise<void>,
  standing: Standing | Promise<Standing>,
): Promise<Outcome> {
  // Both are waited for: what was charged is known when the other has failed, and neither fails unheard.
  const [paid, found] = await Promise.allSettled([charged, standing])
  if (paid.status === "rejected") throw paid.reason
  if (found.status === "rejected") throw found.reason
  return counted(entrant, units, await entrant.needs.check(withStanding(question, found.value)))
}

/** A deep check that tells nothing deep costs what a plain one does: the rest is given back. */
function counted({ needs, known: { key, account }, pass }: Metered, units: number, outcome: Outcome): Outcome {
  const { verdict, evidence } = outcome.settled
  const isDeep = units > 1 && tellsDeep(outcome)
  if (units > 1 && !isDeep) pass?.refund(units - 1)
  needs.meter.verdict(verdict, evidence.isCached)
  needs.usage.note(account.id, key, { kind: isDeep ? "deep_check" : "check", category: verdict.category })
  return outcome
}

/** That no registry tells the age is known without asking anybody, for many a top-level domain. */
const tellsDeep = ({ settled: { evidence } }: Outcome): boolean =>
  evidence.homepage.known || (evidence.ageDays.known && evidence.ageDays.value !== null)

/** What is refused was not charged; what fails by our own fault costs nothing. */
function refunded(pass: Pass | null, units: number, error: unknown): never {
  if (!(error instanceof Problem)) pass?.refund(units)
  throw error
}

const withStanding = (question: Question, standing: Standing): Question => {
  const { blockedBy, isAllowed, isOperatorAllowed } = standing
  return blockedBy === null && !isAllowed && !isOperatorAllowed ? question : { ...question, standing }
}
