import { failing, type Log } from "./base/log.ts"
import { repeating } from "./base/repeating.ts"
import type { Settings } from "./config/settings.ts"
import { pruneSessions } from "./customers/sign-in/sessions.ts"
import type { SignInTools } from "./customers/sign-in/sign-in.ts"
import { SignInMails, type SignInMailTools } from "./customers/sign-in/sign-in-mails.ts"
import { pruneSignIns } from "./customers/sign-in/sign-ins.ts"
import type { Store } from "./customers/store/store.ts"
import type { World } from "./world.ts"

/** How often sign-ins and sessions that are over are deleted, and how many of each at once: more than can come meanwhile. */
const PRUNE_MS = 60_000
const PRUNED_MAX = 1000

/** The sign-in at work. */
export type SignInAtWork = SignInTools & {
  readonly mails: SignInMails
  /** Deletes what is over. It never rejects. */
  readonly prune: () => Promise<void>
  /** Starts what is done in the background. */
  readonly begin: () => void
  /** Ends it. */
  readonly end: () => Promise<void>
}

/** Builds the sign-in over an open store. */
export function signInAtWork(
  world: World,
  settings: Settings,
  store: Store,
  log: Log,
  sendNow: SignInMailTools["sendNow"],
): SignInAtWork {
  const { clock, random, every } = world
  const mails = new SignInMails({ ...world, log, sendNow, isSending: settings.MAILKIND_SMTP_URL !== null })
  const prune = async (): Promise<void> => {
    await pruneSignIns(store, clock, PRUNED_MAX)
    await pruneSessions(store, clock, PRUNED_MAX)
  }
  const quietly = (): Promise<void> =>
    prune().catch(failing(log, "sign-ins and sessions that are over were not deleted"))
  const repeated = repeating(every, [[PRUNE_MS, () => void quietly()]])
  return {
    ...{ store, clock, random, newAccountTier: settings.MAILKIND_DEFAULT_TIER },
    mails,
    prune: quietly,
    begin: repeated.begin,
    end: async () => {
      repeated.end()
      mails.end()
    },
  }
}
