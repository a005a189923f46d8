import { type Log, logError } from "../../base/log.ts"
import { createIntervals } from "../../base/time.ts"
import type { Settings } from "../../config/settings.ts"
import { pruneSignIns } from "../../customers/sign-in/pending-sign-ins.ts"
import { pruneSessions } from "../../customers/sign-in/sessions.ts"
import type { SignInDeps } from "../../customers/sign-in/sign-in.ts"
import { SignInMails, type SignInMailsDeps } from "../../customers/sign-in/sign-in-mails.ts"
import type { Store } from "../../customers/store/core/store.ts"
import type { System } from "../../system/system.ts"

/** How often sign-ins and sessions that are over are deleted, and how many of each at once: more than can come meanwhile. */
const PRUNE_MS = 60_000
const PRUNED_ROWS_MAX = 1000

/** The sign-in at work. */
export type SignInService = SignInDeps & {
  readonly mails: SignInMails
  /** Deletes what is over. It never rejects. */
  readonly prune: () => Promise<void>
  /** Starts what is done in the background. */
  readonly start: () => void
  /** Ends it. */
  readonly stop: () => Promise<void>
}

/** Builds the sign-in over an open store. */
export function createSignInService(
  system: System,
  settings: Settings,
  store: Store,
  log: Log,
  sendNow: SignInMailsDeps["sendNow"],
): SignInService {
  const { clock, random, runInterval } = system
  const mails = new SignInMails({ ...system, log, sendNow, hasMailServer: settings.MAILKIND_SMTP_URL !== null })
  const prune = async (): Promise<void> => {
    await pruneSignIns(store, clock, PRUNED_ROWS_MAX)
    await pruneSessions(store, clock, PRUNED_ROWS_MAX)
  }
  const quietly = (): Promise<void> =>
    prune().catch(logError(log, "sign-ins and sessions that are over were not deleted"))
  const repeated = createIntervals(runInterval, [[PRUNE_MS, () => void quietly()]])
  return {
    ...{ store, clock, random, newAccountTier: settings.MAILKIND_DEFAULT_TIER },
    mails,
    prune: quietly,
    start: repeated.start,
    stop: async () => {
      repeated.stop()
      mails.stop()
    },
  }
}
