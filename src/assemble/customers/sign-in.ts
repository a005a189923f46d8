import { logError } from "../../base/log.ts"
import { createIntervals, utcDay } from "../../base/time.ts"
import { type TrustedInstant, whenTrusted } from "../../base/trusted-clock.ts"
import { prunePasses } from "../../customers/free-checks/allowances.ts"
import { createPasses, type Passes } from "../../customers/free-checks/passes.ts"
import { pruneSignIns } from "../../customers/sign-in/pending-sign-ins.ts"
import { pruneSessions } from "../../customers/sign-in/sessions.ts"
import type { SignInDeps } from "../../customers/sign-in/sign-in.ts"
import { SignInMails, type SignInMailsDeps } from "../../customers/sign-in/sign-in-mails.ts"
import { pruneWrongCodes } from "../../customers/sign-in/wrong-codes.ts"
import type { StoreContext } from "../context.ts"

/** How often expired sign-ins and sessions are deleted, and how many of each at once: more than can arrive meanwhile. */
const PRUNE_MS = 60_000
const PRUNED_ROWS_MAX = 1000

/** Sign-in by mail, and its background work. */
export type SignInService = SignInDeps & {
  readonly mails: SignInMails
  readonly passes: Passes
  /** Deletes expired sign-ins, sessions, passes and counts. Never rejects. */
  readonly prune: () => Promise<void>
  /** Starts the background work. */
  readonly start: () => void
  /** Stops it. */
  readonly stop: () => Promise<void>
}

/** Creates the service over an open store. */
export function createSignInService(
  { system, settings, store, log, trustedTime }: StoreContext,
  sendNow: SignInMailsDeps["sendNow"],
): SignInService {
  const { clock, random, runInterval } = system
  const mails = new SignInMails({ ...system, log, sendNow, hasMailServer: settings.MAILKIND_SMTP_URL !== null })
  const pruneExpired = async (nowMs: TrustedInstant): Promise<void> => {
    for (const pruneRows of [pruneSignIns, pruneSessions, pruneWrongCodes, prunePasses])
      await pruneRows(store, nowMs, PRUNED_ROWS_MAX)
  }
  const prune = async (): Promise<void> => {
    await whenTrusted(trustedTime, pruneExpired).catch(logError(log, "expired sign-ins and sessions were not deleted"))
  }
  const intervals = createIntervals(runInterval, [[PRUNE_MS, () => void prune()]])
  return {
    store,
    clock,
    today: () => utcDay(trustedTime.reference()),
    random,
    newAccountTier: settings.MAILKIND_DEFAULT_TIER,
    mails,
    passes: createPasses({ store, clock, random }),
    prune,
    start: intervals.start,
    stop: async () => {
      intervals.stop()
      mails.stop()
    },
  }
}
