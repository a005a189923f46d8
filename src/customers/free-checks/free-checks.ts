import type { Clock, Random } from "../../base/outside-world.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { RateLimiter } from "../quota/rate/rate-limiter.ts"
import { dayEndMs } from "../quota/units/quota-day.ts"
import type { UnitQuota } from "../quota/units/unit-quota.ts"
import type { Store } from "../store/core/store.ts"
import {
  clientToday,
  issuePass,
  pruneClientDays,
  prunePasses,
  refundToDay,
  refundToPass,
  takeFromDay,
  takeFromPass,
} from "./allowances.ts"
import { bannedUntilMs, clientNetwork, pruneBans, recordStrike } from "./bans.ts"
import { type Challenge, checkSolution, issueChallenge } from "./challenges.ts"
import { createFreeCheckKeys, keyedHash, type LoadFreeCheckKeys } from "./derived-keys.ts"

/** Whether a client may ask at all. */
export type FreeCheckAdmission =
  | { readonly kind: "welcome" }
  | { readonly kind: "banned"; readonly untilMs: number }
  | { readonly kind: "too_fast"; readonly waitS: number }

/** Who asks for a check, and what came with that. */
export type FreeCheckRequest = {
  readonly client: string
  /** The secret of a pass; empty: none came. */
  readonly pass: string
  /** The solution of a challenge; empty: none came. */
  readonly solution: string
}

/** The pass that the browser is to keep from now on: a new one's secret, or none; null: as before. */
export type PassChange = { readonly secret: string | null } | null

/** What came of asking for a check. */
export type FreeCheckGrant = { readonly change: PassChange } & (
  | { readonly kind: "granted"; readonly refund: () => Promise<void> }
  | { readonly kind: "pass_required" }
  | { readonly kind: "busy"; readonly resetsAtMs: number }
)

/** Who may check without a key, and how often. Clients are as `ClientResolver` names them. All of it rejects when the store fails. */
export type FreeChecks = {
  /** Counts one request of the client. One that comes too fast is held against its network. */
  readonly admit: (client: string) => Promise<FreeCheckAdmission>
  readonly challenge: () => Promise<Challenge>
  /**
   * Takes one check: of the pass; of a new pass, where the solution is worth one; of those that the client has without;
   * and then of the budget that all share. What is not granted costs nothing.
   */
  readonly grant: (visit: FreeCheckRequest) => Promise<FreeCheckGrant>
  /** Deletes what is over. To be called every few minutes. */
  readonly prune: () => Promise<void>
}

type FreeChecksDeps = {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  /** Shared by all that serve the same visitors. */
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
 * How many wrong things are noted, of all networks together: each is a row and a commit, and whoever has many networks could
 * else write without end. Far more than the few of a network that is to be banned fit in.
 */
const STRIKES_RATE = { perSecond: 20, burst: 300 }

/** Whose units the budget is, among accounts and keys. */
const BUDGET_SUBJECT = "free checker"

/** How many rows of a table one statement deletes at most: it keeps everything else waiting for about 10 ms. */
const PRUNED_MAX = 1000

/** Builds it over a store. */
export function createFreeChecks(given: FreeChecksDeps): FreeChecks {
  const { store, clock, random } = given
  const needs = { ...given, keys: createFreeCheckKeys(store, random) }
  return {
    admit: client => admitClient(needs, client),
    challenge: async () => await issueChallenge(await needs.keys(), clock, random),
    grant: async visit => {
      const turn = await claimCheck(needs, visit)
      return turn.refund === null ? { kind: "pass_required", change: turn.change } : await chargeBudget(needs, turn)
    },
    prune: async () => {
      for (const prune of [pruneBans, prunePasses, pruneClientDays])
        while ((await prune(store, clock, PRUNED_MAX)) >= PRUNED_MAX);
    },
  }
}

type FreeChecksContext = FreeChecksDeps & { readonly keys: LoadFreeCheckKeys }

async function admitClient(needs: FreeChecksContext, client: string): Promise<FreeCheckAdmission> {
  const untilMs = await bannedUntilMs(needs.store, needs.clock, await networkHash(needs, client))
  if (untilMs !== null) return { kind: "banned", untilMs }
  const { waitS } = needs.rates.admit(`free ${client}`, VISITOR_RATE)
  if (waitS === 0) return { kind: "welcome" }
  await addStrike(needs, client)
  return { kind: "too_fast", waitS }
}

const networkHash = async ({ keys }: FreeChecksContext, client: string): Promise<string> =>
  keyedHash((await keys()).network, clientNetwork(client))

async function addStrike(needs: FreeChecksContext, client: string): Promise<void> {
  if (needs.rates.admit("strikes of the free checker", STRIKES_RATE).waitS > 0) return
  await recordStrike(needs.store, needs.clock, await networkHash(needs, client))
}

/** A check that was taken of something, before the budget is asked. `giveBack` null: there was nothing to take it of. */
type ClaimedCheck = { readonly change: PassChange; readonly refund: (() => Promise<void>) | null }

async function claimCheck(needs: FreeChecksContext, visit: FreeCheckRequest): Promise<ClaimedCheck> {
  const { store, clock } = needs
  const { client, pass } = visit
  const shown = pass === "" ? null : await takeFromPass(store, clock, pass)
  if (shown === "taken") return { change: null, refund: () => refundToPass(store, pass) }
  if (shown === "forged") await addStrike(needs, client)
  const secret = await redeemSolution(needs, visit)
  if (secret !== null) return { change: { secret }, refund: () => refundToPass(store, secret) }
  const day = clientToday((await needs.keys()).client, client, clock)
  return {
    change: shown === null ? null : { secret: null },
    refund: (await takeFromDay(store, day)) ? () => refundToDay(store, day) : null,
  }
}

/** The secret of a new pass for the solution; null: none. Who sends a solution again is struck as who sends a wrong one. */
async function redeemSolution(
  needs: FreeChecksContext,
  { client, solution }: FreeCheckRequest,
): Promise<string | null> {
  if (solution === "") return null
  const { store, clock, random } = needs
  const found = await checkSolution(await needs.keys(), clock, solution)
  if (found.kind === "expired") return null
  const secret = found.kind === "solved" ? await issuePass(store, clock, random, found.nonce) : null
  if (secret === null) await addStrike(needs, client)
  return secret
}

/** Takes of the budget too; what that does not grant is given back. */
async function chargeBudget(
  { units, perDay }: FreeChecksContext,
  { change, refund }: ClaimedCheck,
): Promise<FreeCheckGrant> {
  const taken = await Promise.resolve(units.take(BUDGET_SUBJECT, 1, perDay)).catch(async (fault: unknown) => {
    await refund?.()
    throw fault
  })
  if (!taken.isTaken) {
    await refund?.()
    return { kind: "busy", change, resetsAtMs: dayEndMs(taken.day) }
  }
  const giveAllBack = async (): Promise<void> => {
    units.refund(BUDGET_SUBJECT, 1, taken.day)
    await refund?.()
  }
  return { kind: "granted", change, refund: giveAllBack }
}
