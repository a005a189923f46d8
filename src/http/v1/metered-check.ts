import type { Clock } from "../../base/outside-world.ts"
import { dayEndMs, utcDay } from "../../base/time.ts"
import type { Check, CheckRequest, OwnListMatch } from "../../check/check.ts"
import type { CheckOutcome } from "../../check/result/result.ts"
import type { AccountRules } from "../../contract/account-rules.ts"
import { LIMITS } from "../../contract/limits.ts"
import { testProblem } from "../../contract/test-addresses.ts"
import type { CallerAccount } from "../../customers/keys/key-cache.ts"
import type { OwnListCache } from "../../customers/own-lists/own-list-cache.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import { metered } from "../admission/metered.ts"
import { callerOf, type Exchange } from "../exchange.ts"
import type { Meter } from "../metrics/meter.ts"
import { Problem, quotaExceeded, rateLimited } from "../response/problem.ts"

type MeteredCheckDeps = {
  readonly check: Check
  readonly ownLists: OwnListCache
  readonly usage: UsageMeter
  readonly meter: Meter
}

/**
 * Charges the units of an admitted request, checks with the lists and rules of its account, and records verdict and usage. Gives a promise only when
 * the database or the network is needed. Throws, or rejects with, `quota_exceeded`.
 */
export function runMeteredCheck(
  deps: MeteredCheckDeps,
  exchange: Exchange,
  request: CheckRequest,
): CheckOutcome | Promise<CheckOutcome> {
  const units = request.isDeep ? LIMITS.deepCheckUnits : 1
  return metered(
    deps,
    exchange,
    units,
    () => checkForAccount(deps, callerOf(exchange).account, request),
    outcome => {
      const isDeep = units > 1 && hasDeepEvidence(outcome)
      // A deep check that found neither age nor homepage and fetched nothing costs as much as a plain one.
      if (units > 1 && !isDeep) exchange.lease?.refund(units - 1)
      const { verdict, evidence } = outcome.judged
      deps.meter.recordVerdict(verdict, evidence.isCached)
      return { kind: isDeep ? "deep_check" : "check", verdict }
    },
  )
}

function checkForAccount(
  { check, ownLists }: MeteredCheckDeps,
  { id, rules }: CallerAccount,
  request: CheckRequest,
): CheckOutcome | Promise<CheckOutcome> {
  const { subject } = request
  const match = subject.domain === null ? request.ownListMatch : ownLists.lookup(id, subject)
  return match instanceof Promise
    ? checkOnceMatched(check, match, request, rules)
    : check(requestFor(request, match, rules))
}

async function checkOnceMatched(
  check: Check,
  match: Promise<OwnListMatch>,
  request: CheckRequest,
  rules: AccountRules | undefined,
): Promise<CheckOutcome> {
  return await check(requestFor(request, await match, rules))
}

/** How many units a check cost that was asked to be deep, or was not. */
export const unitsOf = (outcome: CheckOutcome, isDeep: boolean): number => {
  if (outcome.subject.isTest) return 0
  return isDeep && hasDeepEvidence(outcome) ? LIMITS.deepCheckUnits : 1
}

/** An age of null costs no network request: many top-level domains have no registry that publishes it. */
const hasDeepEvidence = ({ judged: { evidence }, wasFetched }: CheckOutcome): boolean =>
  wasFetched || evidence.homepage.known || (evidence.ageDays.known && evidence.ageDays.value !== null)

/** The request with what the account has. Most accounts have nothing that concerns it: then it is the same object. */
function requestFor(request: CheckRequest, ownListMatch: OwnListMatch, rules: AccountRules | undefined): CheckRequest {
  const { blockedBy, isAllowed, isOperatorAllowed } = ownListMatch
  const isListed = blockedBy !== null || isAllowed || isOperatorAllowed
  return isListed || rules !== undefined ? { ...request, ownListMatch, rules } : request
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
