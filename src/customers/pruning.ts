import { yieldThread } from "../base/concurrency.ts"
import { type Log, logError } from "../base/log.ts"
import type { LogMessage } from "../base/log-events.ts"
import { createIntervals, HOUR_MS, type RunInterval } from "../base/time.ts"
import { type TrustedInstant, type TrustedTime, whenTrusted } from "../base/trusted-clock.ts"
import { createAccountPruning } from "./accounts/account-pruning.ts"
import { pruneFormerUse } from "./accounts/former-use.ts"
import { pruneFormerSuspensions } from "./accounts/suspension.ts"
import { pruneActs } from "./audit/audit.ts"
import { pruneReportsOf } from "./feedback/feedback.ts"
import { prunePasses } from "./free-checks/allowances.ts"
import type { FreeChecks } from "./free-checks/free-checks.ts"
import { pruneIdempotentRequests } from "./idempotency/idempotent-requests.ts"
import { pruneKeysOf } from "./keys/keys.ts"
import { pruneNetworks } from "./keys/network-watch.ts"
import { pruneInvitations } from "./sign-in/invitations.ts"
import { pruneSignIns } from "./sign-in/pending-sign-ins.ts"
import { pruneSessions } from "./sign-in/sessions.ts"
import { pruneWrongCodes } from "./sign-in/wrong-codes.ts"
import type { Store } from "./store/core/store.ts"
import type { NodeClaims } from "./store/poll/node-claims.ts"
import { pruneTraffic } from "./usage/traffic.ts"
import { pruneUsageOf } from "./usage/usage-rows.ts"

type PruningDeps = {
  readonly store: Store
  readonly trustedTime: TrustedTime
  readonly runInterval: RunInterval
  readonly claims: NodeClaims
  readonly log: Log
  /** Deletes mails that are too old, at most so many of a kind, and returns their count. */
  readonly pruneMails: (nowMs: TrustedInstant, rowsMax: number) => Promise<number>
  /** Null: the operator turned them off. */
  readonly freeChecks: Pick<FreeChecks, "prune"> | null
}

/** What is too old: how often it is deleted, how, and what the log says when that fails. */
type Pruner = readonly [everyMs: number, prune: (nowMs: TrustedInstant) => Promise<unknown>, failure: LogMessage]

/** Deletes at most so many rows of a kind that are too old, and returns their count. */
type PruneRows = (store: Store, nowMs: TrustedInstant, rowsMax: number) => Promise<number>

const MINUTE_MS = 60_000
const TEN_MINUTES_MS = 600_000

/** How many rows of a kind a piece has, and how many pieces follow each other: a million rows are more than arrive in ten minutes. */
const PRUNED_ROWS_MAX = 1000
const PIECES_MAX = 1000

/** Deletes rows piece by piece, until a piece is not full. What has arrived is handled between two of them. */
const inPieces =
  <Instant>(prune: (nowMs: Instant, rowsMax: number) => Promise<number>) =>
  async (nowMs: Instant): Promise<void> => {
    for (let pieces = 0; pieces < PIECES_MAX && (await prune(nowMs, PRUNED_ROWS_MAX)) >= PRUNED_ROWS_MAX; pieces++)
      await yieldThread()
  }

/** Deletes in the background what is too old, by one process of the node, while the time is trusted. `pruneAll` does it now, and never rejects. */
export function createPruning({ store, trustedTime, runInterval, claims, log, pruneMails, freeChecks }: PruningDeps) {
  const stored = (prune: PruneRows) => inPieces((nowMs: TrustedInstant, rowsMax) => prune(store, nowMs, rowsMax))
  const signInRows = [pruneSignIns, pruneInvitations, pruneSessions, pruneWrongCodes, prunePasses].map(stored)
  const pruneSignInRows = async (nowMs: TrustedInstant): Promise<void> => {
    for (const prune of signInRows) await prune(nowMs)
  }
  const pruners: readonly Pruner[] = [
    [
      MINUTE_MS,
      createAccountPruning(store, [pruneUsageOf, pruneKeysOf, pruneReportsOf]),
      "old usage, keys and reports were not deleted",
    ],
    [MINUTE_MS, nowMs => pruneFormerUse(store, nowMs), "the use of deleted accounts was not deleted"],
    [MINUTE_MS, pruneSignInRows, "expired sign-ins and sessions were not deleted"],
    [MINUTE_MS, stored(pruneIdempotentRequests), "old answers to repeated requests were not deleted"],
    [TEN_MINUTES_MS, stored(pruneNetworks), "old networks of keys were not deleted"],
    [TEN_MINUTES_MS, inPieces(freeChecks?.prune ?? (async () => 0)), "expired data of free checks was not deleted"],
    [TEN_MINUTES_MS, inPieces(pruneMails), "old mails were not deleted"],
    [HOUR_MS, nowMs => pruneTraffic(store, nowMs), "old traffic was not deleted"],
  ]
  const works = pruners.map(
    ([everyMs, prune, failure]) => [everyMs, () => whenTrusted(trustedTime, prune), logError(log, failure)] as const,
  )
  // Too many acts are deleted even while the time is not trusted.
  const pruneAdministration = async (): Promise<void> => {
    await inPieces((nowMs: TrustedInstant | null, rowsMax) => pruneActs(store, nowMs, rowsMax))(trustedTime.now())
    await whenTrusted(trustedTime, nowMs => pruneFormerSuspensions(store, nowMs))
  }
  const administrationFailed = logError(log, "old acts of administrators and suspensions were not deleted")
  const all = [...works, [TEN_MINUTES_MS, pruneAdministration, administrationFailed] as const]
  return {
    ...createIntervals(claims.intervals("pruning", runInterval), all),
    pruneAll: async (): Promise<void> => {
      await Promise.all(all.map(([, work, onError]) => work().catch(onError)))
    },
  }
}
