import type { Clock } from "../../base/outside-world.ts"
import { DAY_MS, utcDay } from "../../base/time.ts"
import type { Check, CheckRequest, OwnListMatch } from "../../check/check.ts"
import type { CheckOutcome } from "../../check/result/result.ts"
import { LIMITS } from "../../contract/limits.ts"
import { testProblem } from "../../contract/test-addresses.ts"
import type { CallerAccount } from "../../customers/keys/key-cache.ts"
import type { OwnListCache } from "../../customers/own-lists/own-list-cache.ts"
import type { MeteredKey } from "../../customers/usage/measures.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import type { RequestLease } from "../admission/request-lease.ts"
import type { Meter } from "../metrics/meter.ts"
import { Problem } from "../response/problem.ts"

/** By what a check is made, and where it is counted. */
type MeteredCheckDeps = {
  readonly check: Check
  readonly ownLists: OwnListCache
  readonly usage: UsageMeter
  readonly meter: Meter
}

/** Somebody who was let in. */
type MeteredCaller = { readonly key: MeteredKey; readonly account: CallerAccount }

/**
 * Checks with the account's own lists at the cost of the caller's units, which are given back when the check fails, and counts
 * what was done. A promise only when something has to be waited for. Throws, or rejects with, `quota_exceeded`. A pass of null:
 * nothing limits it.
 */
export function runMeteredCheck(
  needs: MeteredCheckDeps,
  entrant: MeteredCaller,
  pass: RequestLease | null,
  question: CheckRequest,
): CheckOutcome | Promise<CheckOutcome> {
  const { subject, isDeep: deep } = question
  const units = deep ? LIMITS.deepCheckUnits : 1
  const charged = pass?.charge(units)
  try {
    const standing =
      subject.domain === null
        ? question.ownListMatch
        : needs.ownLists.lookup(entrant.account.id, subject.normalized, subject.domain)
    const asked =
      charged instanceof Promise || standing instanceof Promise
        ? checkOnceCharged(needs, question, charged, standing)
        : needs.check(withOwnLists(question, standing))
    return asked instanceof Promise
      ? recordLater(needs, entrant, pass, units, asked)
      : recordOutcome(needs, entrant, pass, units, asked)
  } catch (error) {
    return refundAndThrow(pass, units, error)
  }
}

async function recordLater(
  needs: MeteredCheckDeps,
  entrant: MeteredCaller,
  pass: RequestLease | null,
  units: number,
  asked: Promise<CheckOutcome>,
): Promise<CheckOutcome> {
  try {
    return recordOutcome(needs, entrant, pass, units, await asked)
  } catch (error) {
    return refundAndThrow(pass, units, error)
  }
}

async function checkOnceCharged(
  { check }: MeteredCheckDeps,
  question: CheckRequest,
  charged: void | Promise<void>,
  standing: OwnListMatch | Promise<OwnListMatch>,
): Promise<CheckOutcome> {
  // Both are waited for: what was charged is known when the other has failed, and neither fails unheard.
  const [paid, found] = await Promise.allSettled([charged, standing])
  if (paid.status === "rejected") throw paid.reason
  if (found.status === "rejected") throw found.reason
  return await check(withOwnLists(question, found.value))
}

/** A deep check that tells nothing deep costs what a plain one does: the rest is given back. */
function recordOutcome(
  { meter, usage }: MeteredCheckDeps,
  { key, account }: MeteredCaller,
  pass: RequestLease | null,
  units: number,
  outcome: CheckOutcome,
): CheckOutcome {
  const { verdict, evidence } = outcome.judged
  const isDeep = units > 1 && hasDeepEvidence(outcome)
  if (units > 1 && !isDeep) pass?.refund(units - 1)
  meter.recordVerdict(verdict, evidence.isCached)
  usage.record(account.id, key, { kind: isDeep ? "deep_check" : "check", category: verdict.category })
  return outcome
}

/** That no registry tells the age is known without asking anybody, for many a top-level domain. */
const hasDeepEvidence = ({ judged: { evidence } }: CheckOutcome): boolean =>
  evidence.homepage.known || (evidence.ageDays.known && evidence.ageDays.value !== null)

/** What is refused was not charged; what fails by our own fault costs nothing. */
function refundAndThrow(pass: RequestLease | null, units: number, error: unknown): never {
  if (!(error instanceof Problem)) pass?.refund(units)
  throw error
}

const withOwnLists = (question: CheckRequest, ownListMatch: OwnListMatch): CheckRequest => {
  const { blockedBy, isAllowed, isOperatorAllowed } = ownListMatch
  return blockedBy === null && !isAllowed && !isOperatorAllowed ? question : { ...question, ownListMatch }
}

/** Throws the problem that the local part of a test address asks for, if it asks for one. */
function throwTestProblem(localPart: string, clock: Clock): void {
  const row = testProblem(localPart)
  if (row === undefined) return
  const midnightMs = (utcDay(clock()) + 1) * DAY_MS
  const detail = "The test address asks for this problem."
  switch (row.code) {
    case "rate_limited":
      throw new Problem(row.code, detail, { retry_after: row.retryAfterSeconds, limit: LIMITS.keylessPerSecond })
    case "quota_exceeded":
      throw new Problem(row.code, detail, {
        retry_after: Math.ceil((midnightMs - clock()) / 1000),
        limit: 0,
        resets_at: new Date(midnightMs).toISOString(),
      })
    case "internal_error":
      throw new Problem(row.code, detail)
  }
}

type TestAddressDeps = { readonly check: Check; readonly clock: Clock }

/** Checks a test address, which costs nothing. Rejects with the problem that the address asks for, if it asks for one. */
export async function checkTestAddress(
  { check, clock }: TestAddressDeps,
  question: CheckRequest,
): Promise<CheckOutcome> {
  throwTestProblem(question.subject.localPart ?? "", clock)
  return await check(question)
}
