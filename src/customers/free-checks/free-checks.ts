import type { Clock, Random } from "../../base/clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import { dayEndMs } from "../quota/day.ts"
import type { RateLimiter } from "../quota/rate-limiter.ts"
import type { Units } from "../quota/units.ts"
import type { Store } from "../store/store.ts"
import { banEnd, pruneBans, strike } from "./bans.ts"
import { type Challenge, newChallenge, solved } from "./challenges.ts"
import { type HeldCheckerKeys, heldCheckerKeys, under } from "./checker-keys.ts"
import { clientDay, giveBackToDay, pruneClientDays, takeFromDay } from "./client-days.ts"
import { networkOf } from "./network.ts"
import { giveBackToPass, issuePass, prunePasses, takeFromPass } from "./passes.ts"

/** Whether a client may ask at all. */
export type Welcome =
  | { readonly kind: "welcome" }
  | { readonly kind: "banned"; readonly untilMs: number }
  | { readonly kind: "too_fast"; readonly waitS: number }

/** Who asks for a check, and what came with that. */
export type Visit = {
  readonly client: string
  /** The secret of a pass; empty: none came. */
  readonly pass: string
  /** The solution of a challenge; empty: none came. */
  readonly solution: string
}

/** The pass that the browser is to keep from now on: a new one's secret, or none; null: as before. */
export type PassChange = { readonly secret: string | null } | null

/** What came of asking for a check. */
export type Granted = { readonly change: PassChange } & (
  | { readonly kind: "granted"; readonly giveBack: () => Promise<void> }
  | { readonly kind: "pass_required" }
  | { readonly kind: "busy"; readonly resetsAtMs: number }
)

/** Who may check without a key, and how often. Clients are as `ClientAddress` names them. All of it rejects when the store fails. */
export type FreeChecks = {
  /** Counts one request of the client. One that comes too fast is held against its network. */
  readonly welcome: (client: string) => Promise<Welcome>
  readonly challenge: () => Promise<Challenge>
  /**
   * Takes one check: of the pass; of a new pass, where the solution is worth one; of those that the client has without;
   * and then of the budget that all share. What is not granted costs nothing.
   */
  readonly grant: (visit: Visit) => Promise<Granted>
  /** Deletes what is over. To be called every few minutes. */
  readonly prune: () => Promise<void>
}

type Needs = {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  /** Shared by all that serve the same visitors. */
  readonly rates: RateLimiter
  readonly units: Units
  /** The budget of a day. */
  readonly perDay: number
}

const RATE = { perSecond: LIMITS.freeRequestsPerSecond, burst: LIMITS.freeRequestsBurst, isBurstWhole: true } as const

/**
 * How many wrong things are noted, of all networks together: each is a row and a commit, and whoever has many networks could
 * else write without end. Far more than the few of a network that is to be banned fit in.
 */
const STRIKES_OF_ALL = { perSecond: 20, burst: 300 }

/** Whose units the budget is, among accounts and keys. */
const SUBJECT = "free checker"

/** How many rows of a table one statement deletes at most: it keeps everything else waiting for about 10 ms. */
const PRUNED_MAX = 1000

/** Builds it over a store. */
export function freeChecks(given: Needs): FreeChecks {
  const { store, clock, random } = given
  const needs = { ...given, keys: heldCheckerKeys(store, random) }
  return {
    welcome: client => welcomed(needs, client),
    challenge: async () => await newChallenge(await needs.keys(), clock, random),
    grant: async visit => {
      const turn = await turnOf(needs, visit)
      return turn.giveBack === null ? { kind: "pass_required", change: turn.change } : await budgeted(needs, turn)
    },
    prune: async () => {
      for (const prune of [pruneBans, prunePasses, pruneClientDays])
        while ((await prune(store, clock, PRUNED_MAX)) >= PRUNED_MAX);
    },
  }
}

type Held = Needs & { readonly keys: HeldCheckerKeys }

async function welcomed(needs: Held, client: string): Promise<Welcome> {
  const untilMs = await banEnd(needs.store, needs.clock, await networkHash(needs, client))
  if (untilMs !== null) return { kind: "banned", untilMs }
  const { waitS } = needs.rates.admit(`free ${client}`, RATE)
  if (waitS === 0) return { kind: "welcome" }
  await struck(needs, client)
  return { kind: "too_fast", waitS }
}

const networkHash = async ({ keys }: Held, client: string): Promise<string> =>
  under((await keys()).network, networkOf(client))

async function struck(needs: Held, client: string): Promise<void> {
  if (needs.rates.admit("strikes of the free checker", STRIKES_OF_ALL).waitS > 0) return
  await strike(needs.store, needs.clock, await networkHash(needs, client))
}

/** A check that was taken of something, before the budget is asked. `giveBack` null: there was nothing to take it of. */
type Turn = { readonly change: PassChange; readonly giveBack: (() => Promise<void>) | null }

async function turnOf(needs: Held, visit: Visit): Promise<Turn> {
  const { store, clock } = needs
  const { client, pass } = visit
  const shown = pass === "" ? null : await takeFromPass(store, clock, pass)
  if (shown === "taken") return { change: null, giveBack: () => giveBackToPass(store, pass) }
  if (shown === "forged") await struck(needs, client)
  const secret = await redeemed(needs, visit)
  if (secret !== null) return { change: { secret }, giveBack: () => giveBackToPass(store, secret) }
  const day = clientDay((await needs.keys()).client, client, clock)
  return {
    change: shown === null ? null : { secret: null },
    giveBack: (await takeFromDay(store, day)) ? () => giveBackToDay(store, day) : null,
  }
}

/** The secret of a new pass for the solution; null: none. Who sends a solution again is struck as who sends a wrong one. */
async function redeemed(needs: Held, { client, solution }: Visit): Promise<string | null> {
  if (solution === "") return null
  const { store, clock, random } = needs
  const found = await solved(await needs.keys(), clock, solution)
  if (found.kind === "expired") return null
  const secret = found.kind === "solved" ? await issuePass(store, clock, random, found.nonce) : null
  if (secret === null) await struck(needs, client)
  return secret
}

/** Takes of the budget too; what that does not grant is given back. */
async function budgeted({ units, perDay }: Held, { change, giveBack }: Turn): Promise<Granted> {
  const taken = await Promise.resolve(units.take(SUBJECT, 1, perDay)).catch(async (fault: unknown) => {
    await giveBack?.()
    throw fault
  })
  if (!taken.isTaken) {
    await giveBack?.()
    return { kind: "busy", change, resetsAtMs: dayEndMs(taken.day) }
  }
  const giveAllBack = async (): Promise<void> => {
    units.giveBack(SUBJECT, 1, taken.day)
    await giveBack?.()
  }
  return { kind: "granted", change, giveBack: giveAllBack }
}
