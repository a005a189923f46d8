import { derived } from "../base/lazy.ts"
import { utcDay } from "../base/time.ts"
import { createAdminCheck } from "./accounts/account-email.ts"
import { createPasses, type Passes } from "./free-checks/passes.ts"
import { smtpPlace } from "./notices/smtp-mailer.ts"
import { sendInvitation } from "./sign-in/invitations.ts"
import type { SignInDeps } from "./sign-in/sign-in.ts"
import { SignInMails, type SignInMailsDeps } from "./sign-in/sign-in-mails.ts"
import type { StoredContext } from "./stored-context.ts"

/** The settings that the sign-in reads. */
type SignInSettings = {
  readonly MAILKIND_SMTP_URL: { readonly reveal: () => string } | null
  readonly MAILKIND_DEFAULT_TIER: number
  readonly MAILKIND_SIGN_UP: string
  readonly MAILKIND_ADMINS: readonly string[]
}

/** Sign-in by mail. */
export type SignInService = SignInDeps & {
  /** Mails the link of an invitation. False: no mail server is set, or it does not take the mail. */
  readonly mailInvitation: (to: string, link: string) => Promise<boolean>
  /** Whether everybody can sign up. */
  readonly isSignUpOpen: boolean
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
  const isSignUpOpen = settings.MAILKIND_SIGN_UP === "open"
  const isAdmin = derived(() => settings.MAILKIND_ADMINS, createAdminCheck)
  const smtpUrl = settings.MAILKIND_SMTP_URL
  const mailServer = smtpUrl === null ? null : smtpPlace(smtpUrl.reveal())
  const mails = new SignInMails({ ...system, log, sendNow, mailServer })
  return {
    store,
    clock,
    today: () => utcDay(trustedTime.reference()),
    random,
    newAccountTier: settings.MAILKIND_DEFAULT_TIER,
    isSignUpOpen,
    maySignUp: email => isSignUpOpen || isAdmin()?.(email) === true,
    mails,
    mailInvitation: (to, link) => sendInvitation(sendNow, to, link),
    passes: createPasses({ store, clock, random }),
    stop: () => mails.stop(),
  }
}
