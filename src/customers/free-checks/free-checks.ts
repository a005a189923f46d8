import type { Clock, Random } from "../../base/outside-world.ts"
import { dayEndMs, secondsUntil } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { RateLimiter } from "../quota/rate/rate-limiter.ts"
import { rateSubject } from "../quota/rate/rate-subject.ts"
import type { UnitQuota } from "../quota/units/unit-quota.ts"
import { keyedHash } from "../sign-in/installation-secret.ts"
import type { Store } from "../store/core/store.ts"
import { allowancesOn, pruneClientDays, prunePasses, refundToAllowances, takeFromAllowances } from "./allowances.ts"
import { bannedUntilMs, clientNetwork, pruneBans, recordStrike } from "./bans.ts"
import { type Challenge, issueChallenge } from "./challenges.ts"
import { createFreeCheckKeys, type LoadFreeCheckKeys } from "./derived-keys.ts"
import { claimPass, type PassChange, type PassProof } from "./passes.ts"

/** Whether a client may send a check. */
export type FreeCheckAdmission =
  | { readonly kind: "welcome" }
  | { readonly kind: "banned"; readonly waitS: number }
  | { readonly kind: "too_fast"; readonly waitS: number }

/** The client of a check, with its pass or solution. */
export type FreeCheckRequest = PassProof & { readonly client: string }

/** The result of asking for a check. */
export type FreeCheckGrant = { readonly change: PassChange } & (
  | { readonly kind: "granted"; readonly refund: () => Promise<void> }
  | { readonly kind: "pass_required" }
  | { readonly kind: "busy"; readonly resetsAtMs: number; readonly waitS: number }
)

/** Admits checks without a key. Clients are named by `ClientResolver`. All functions reject when the store fails. */
export type FreeChecks = {
  /** Counts one request of the client. A request that is too fast is a strike against its network. */
  readonly admit: (client: string) => Promise<FreeCheckAdmission>
  readonly challenge: () => Promise<Challenge>
  /**
   * Takes one check from the pass, or from a new pass if the solution earns one, or from the daily allowances of the client and
   * its IPv6 /48; and then from the budget that all visitors share, whose second half needs a pass. A check that is not granted
   * costs nothing.
   */
  readonly grant: (request: FreeCheckRequest) => Promise<FreeCheckGrant>
  /** Deletes expired rows, at most `rowsMax` of a kind, and returns their count. */
  readonly prune: (nowMs: TrustedInstant, rowsMax: number) => Promise<number>
}

type FreeChecksDeps = {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  /** Shared by all processes that serve the same visitors. */
  readonly rates: RateLimiter
  readonly units: UnitQuota
  /** The budget of a day. */
  readonly perDay: number
}

const VISITOR_RATE = {
  perSecond: LIMITS.freeRequestsPerSecond,
  burst: LIMITS.freeRequestsBurst,
  isBurstWhole: true,
} as const

/**
 * The rate of recorded strikes of all networks together: each is a row and a commit, so an attacker with many networks
 * could otherwise write without bound. Far above what banning a network takes.
 */
const STRIKES_RATE = { perSecond: 20, burst: 300 }

/** The subject of the budget's units, among accounts and keys. */
const BUDGET_SUBJECT = "free checker"

/** Creates it over a store. */
export function createFreeChecks(deps: FreeChecksDeps): FreeChecks {
  const { store, clock, random } = deps
  const context = { ...deps, keys: createFreeCheckKeys(store, random) }
  return {
    admit: client => admitClient(context, client),
    challenge: async () => await issueChallenge(await context.keys(), clock, random),
    grant: async request => {
      const claim = await claimCheck(context, request)
      return claim.refund === null
        ? { kind: "pass_required", change: claim.change }
        : await chargeBudget(context, claim)
    },
    prune: async (nowMs, rowsMax) => {
      let count = 0
      for (const prune of [pruneBans, prunePasses, pruneClientDays]) count += await prune(store, nowMs, rowsMax)
      return count
    },
  }
}

type FreeChecksContext = FreeChecksDeps & { readonly keys: LoadFreeCheckKeys }

async function admitClient(context: FreeChecksContext, client: string): Promise<FreeCheckAdmission> {
  const untilMs = await bannedUntilMs(context.store, context.clock, await networkHash(context, client))
  if (untilMs !== null) return { kind: "banned", waitS: secondsUntil(untilMs, context.clock()) }
  const { waitS } = context.rates.admit(rateSubject("freeCheck", client), VISITOR_RATE)
  if (waitS === 0) return { kind: "welcome" }
  await addStrike(context, client)
  return { kind: "too_fast", waitS }
}

const networkHash = async ({ keys }: FreeChecksContext, client: string): Promise<string> =>
  keyedHash((await keys()).network, clientNetwork(client))

async function addStrike(context: FreeChecksContext, client: string): Promise<void> {
  if (context.rates.admit(rateSubject("freeCheckStrikes"), STRIKES_RATE).waitS > 0) return
  await recordStrike(context.store, context.clock, await networkHash(context, client))
}

/** A check taken from a pass or allowances, before the budget. `refund` null: there was nothing to take it from. */
type ClaimedCheck = {
  readonly change: PassChange
  readonly hasPass: boolean
  readonly refund: (() => Promise<void>) | null
}

async function claimCheck(context: FreeChecksContext, request: FreeCheckRequest): Promise<ClaimedCheck> {
  const { store, units, keys } = context
  const { client } = request
  const { change, refund, wrongCount } = await claimPass(context, request)
  for (let wrong = 0; wrong < wrongCount; wrong++) await addStrike(context, client)
  if (refund !== null) return { change, hasPass: true, refund }
  const allowances = allowancesOn(units.today(), (await keys()).client, client)
  const isTaken = await takeFromAllowances(store, allowances)
  return { change, hasPass: false, refund: isTaken ? () => refundToAllowances(store, allowances) : null }
}

/** Takes from the budget, too; if it refuses, the check is given back. */
async function chargeBudget(
  { units, perDay }: FreeChecksContext,
  { change, hasPass, refund }: ClaimedCheck,
): Promise<FreeCheckGrant> {
  const taken = await Promise.resolve(units.take(BUDGET_SUBJECT, 1, perDay)).catch(async (fault: unknown) => {
    await refund?.()
    throw fault
  })
  if (!taken.isTaken) {
    await refund?.()
    const resetsAtMs = dayEndMs(taken.day)
    return { kind: "busy", change, resetsAtMs, waitS: secondsUntil(resetsAtMs, units.now()) }
  }
  const giveAllBack = async (): Promise<void> => {
    units.refund(BUDGET_SUBJECT, 1, taken.day)
    await refund?.()
  }
  const usedBefore = perDay - taken.remaining - 1
  if (hasPass || usedBefore * 100 < perDay * LIMITS.freeChecksWithoutPassPercent)
    return { kind: "granted", change, refund: giveAllBack }
  await giveAllBack()
  return { kind: "pass_required", change }
}
