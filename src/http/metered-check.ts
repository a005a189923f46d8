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

/** By what a check is made, and where it is counted. */
type Needs = {
  readonly check: Check
  readonly ownLists: OwnLists
  readonly usage: UsageMeter
  readonly meter: Meter
}

/** Somebody who was let in. */
type Entrant = { readonly key: MeteredKey; readonly account: HeldAccount }

/**
 * Checks with the account's own lists at the cost of the caller's units, which are given back when the check fails, and counts
 * what was done. A promise only when something has to be waited for. Throws, or rejects with, `quota_exceeded`. A pass of null:
 * nothing limits it.
 */
export function metered(
  needs: Needs,
  entrant: Entrant,
  pass: Pass | null,
  question: Question,
): Outcome | Promise<Outcome> {
  const { subject, deep } = question
  const units = deep ? LIMITS.deepCheckUnits : 1
  const charged = pass?.charge(units)
  try {
    const standing =
      subject.domain === null
        ? question.standing
        : needs.ownLists.standing(entrant.account.id, subject.normalized, subject.domain)
    const asked =
      charged instanceof Promise || standing instanceof Promise
        ? later(needs, question, charged, standing)
        : needs.check(withStanding(question, standing))
    return asked instanceof Promise
      ? countedLate(needs, entrant, pass, units, asked)
      : counted(needs, entrant, pass, units, asked)
  } catch (error) {
    return refunded(pass, units, error)
  }
}

async function countedLate(
  needs: Needs,
  entrant: Entrant,
  pass: Pass | null,
  units: number,
  asked: Promise<Outcome>,
): Promise<Outcome> {
  try {
    return counted(needs, entrant, pass, units, await asked)
  } catch (error) {
    return refunded(pass, units, error)
  }
}

async function later(
  { check }: Needs,
  question: Question,
  charged: void | Promise<void>,
  standing: Standing | Promise<Standing>,
): Promise<Outcome> {
  // Both are waited for: what was charged is known when the other has failed, and neither fails unheard.
  const [paid, found] = await Promise.allSettled([charged, standing])
  if (paid.status === "rejected") throw paid.reason
  if (found.status === "rejected") throw found.reason
  return await check(withStanding(question, found.value))
}

/** A deep check that tells nothing deep costs what a plain one does: the rest is given back. */
function counted(
  { meter, usage }: Needs,
  { key, account }: Entrant,
  pass: Pass | null,
  units: number,
  outcome: Outcome,
): Outcome {
  const { verdict, evidence } = outcome.settled
  const isDeep = units > 1 && tellsDeep(outcome)
  if (units > 1 && !isDeep) pass?.refund(units - 1)
  meter.verdict(verdict, evidence.isCached)
  usage.note(account.id, key, { kind: isDeep ? "deep_check" : "check", category: verdict.category })
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
