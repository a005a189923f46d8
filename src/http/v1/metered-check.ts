import type { Clock } from "../../base/outside-world.ts"
import { dayEndMs, utcDay } from "../../base/time.ts"
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
import { Problem, quotaExceeded, rateLimited } from "../response/problem.ts"

type MeteredCheckDeps = {
  readonly check: Check
  readonly ownLists: OwnListCache
  readonly usage: UsageMeter
  readonly meter: Meter
}

/** An admitted caller: an API key, or a signed-in user on the dashboard. */
type MeteredCaller = { readonly key: MeteredKey; readonly account: CallerAccount }

/**
 * Charges the caller's units, checks with the account's own lists, and records verdict and usage. When the check fails, the
 * units are refunded. `lease` null: the caller has no limits. Gives a promise only when the database or the network is
 * needed. Throws, or rejects with, `quota_exceeded`.
 */
export function runMeteredCheck(
  deps: MeteredCheckDeps,
  caller: MeteredCaller,
  lease: RequestLease | null,
  request: CheckRequest,
): CheckOutcome | Promise<CheckOutcome> {
  const { subject, isDeep } = request
  const units = isDeep ? LIMITS.deepCheckUnits : 1
  const charged = lease?.charge(units)
  try {
    const ownListMatch =
      subject.domain === null ? request.ownListMatch : deps.ownLists.lookup(caller.account.id, subject)
    const outcome =
      charged instanceof Promise || ownListMatch instanceof Promise
        ? checkOnceCharged(deps, request, charged, ownListMatch)
        : deps.check(withOwnLists(request, ownListMatch))
    return outcome instanceof Promise
      ? recordLater(deps, caller, lease, units, outcome)
      : recordOutcome(deps, caller, lease, units, outcome)
  } catch (error) {
    return refundAndThrow(lease, units, error)
  }
}

async function recordLater(
  deps: MeteredCheckDeps,
  caller: MeteredCaller,
  lease: RequestLease | null,
  units: number,
  outcome: Promise<CheckOutcome>,
): Promise<CheckOutcome> {
  try {
    return recordOutcome(deps, caller, lease, units, await outcome)
  } catch (error) {
    return refundAndThrow(lease, units, error)
  }
}

async function checkOnceCharged(
  { check }: MeteredCheckDeps,
  request: CheckRequest,
  charged: void | Promise<void>,
  ownListMatch: OwnListMatch | Promise<OwnListMatch>,
): Promise<CheckOutcome> {
  // Waits for both: a refund needs to know what was charged, and no rejection may stay unhandled.
  const [charge, match] = await Promise.allSettled([charged, ownListMatch])
  if (charge.status === "rejected") throw charge.reason
  if (match.status === "rejected") throw match.reason
  return await check(withOwnLists(request, match.value))
}

/** A deep check that found neither age nor homepage and fetched nothing costs as much as a plain one; the other units are refunded. */
function recordOutcome(
  { meter, usage }: MeteredCheckDeps,
  { key, account }: MeteredCaller,
  lease: RequestLease | null,
  units: number,
  outcome: CheckOutcome,
): CheckOutcome {
  const { verdict, evidence } = outcome.judged
  const isDeep = units > 1 && hasDeepEvidence(outcome)
  if (units > 1 && !isDeep) lease?.refund(units - 1)
  meter.recordVerdict(verdict, evidence.isCached)
  const kind = isDeep ? "deep_check" : "check"
  usage.record(account.id, key, { kind, category: verdict.category }, lease?.chargedDay)
  return outcome
}

/** How many units a check cost that was asked to be deep, or was not. */
export const unitsOf = (outcome: CheckOutcome, isDeep: boolean): number => {
  if (outcome.subject.isTest) return 0
  return isDeep && hasDeepEvidence(outcome) ? LIMITS.deepCheckUnits : 1
}

/** An age of null costs no network request: many top-level domains have no registry that publishes it. */
const hasDeepEvidence = ({ judged: { evidence }, wasFetched }: CheckOutcome): boolean =>
  wasFetched || evidence.homepage.known || (evidence.ageDays.known && evidence.ageDays.value !== null)

/** A `Problem` means that nothing was charged. Any other error is our own failure and costs the caller nothing. */
function refundAndThrow(lease: RequestLease | null, units: number, error: unknown): never {
  if (!(error instanceof Problem)) lease?.refund(units)
  throw error
}

const withOwnLists = (request: CheckRequest, ownListMatch: OwnListMatch): CheckRequest => {
  const { blockedBy, isAllowed, isOperatorAllowed } = ownListMatch
  return blockedBy === null && !isAllowed && !isOperatorAllowed ? request : { ...request, ownListMatch }
}

type TestAddressDeps = { readonly check: Check; readonly clock: Clock }

/** Checks a test address, which costs nothing. Rejects with the problem that an `error-…` address stands for. */
export async function checkTestAddress(
  { check, clock }: TestAddressDeps,
  request: CheckRequest,
): Promise<CheckOutcome> {
  throwTestProblem(request.subject.localPart ?? "", clock)
  return await check(request)
}

function throwTestProblem(localPart: string, clock: Clock): void {
  const row = testProblem(localPart)
  if (row === undefined) return
  const nowMs = clock()
  const detail = "This test address always gets this problem."
  switch (row.code) {
    case "rate_limited":
      throw rateLimited(detail, row.retryAfterSeconds, LIMITS.keylessPerSecond)
    case "quota_exceeded":
      throw quotaExceeded({ needed: 1, remaining: 0, limit: 0 }, dayEndMs(utcDay(nowMs)), nowMs, detail, null)
    case "internal_error":
      throw new Problem(row.code, detail)
  }
}
