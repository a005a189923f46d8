import { utcDay } from "../base/time.ts"
import { createPasses, type Passes } from "./free-checks/passes.ts"
import type { SignInDeps } from "./sign-in/sign-in.ts"
import { SignInMails, type SignInMailsDeps } from "./sign-in/sign-in-mails.ts"
import type { StoredContext } from "./stored-context.ts"

/** The settings that the sign-in reads. */
type SignInSettings = { readonly MAILKIND_SMTP_URL: object | null; readonly MAILKIND_DEFAULT_TIER: number }

/** Sign-in by mail. */
export type SignInService = SignInDeps & {
  readonly mails: SignInMails
  readonly passes: Passes
  /** Gives up the mails that wait for their next try. */
  readonly stop: () => void
}

/** Creates the service over an open store. */
export function createSignInService(
  { system, settings, store, log, trustedTime }: StoredContext<SignInSettings>,
  sendNow: SignInMailsDeps["sendNow"],
): SignInService {
  const { clock, random } = system
  const mails = new SignInMails({ ...system, log, sendNow, hasMailServer: settings.MAILKIND_SMTP_URL !== null })
  return {
    store,
    clock,
    today: () => utcDay(trustedTime.reference()),
    random,
    newAccountTier: settings.MAILKIND_DEFAULT_TIER,
    mails,
    passes: createPasses({ store, clock, random }),
    stop: () => mails.stop(),
  }
}
