/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { useContext } from "preact/hooks"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Challenge } from "../../../customers/free-checks/challenges.ts"
import { InsecurePageNotice, PassForm, type PassPageAssets } from "../pass.tsx"
import { curlCommand } from "../ui/format.ts"
import { FlashMessage, FormError, TextField } from "../ui/forms.tsx"
import { CodeBlock, Layout } from "../ui/layout.tsx"
import { Offer } from "../ui/visitor.tsx"
import { withNextPath } from "./next-path.ts"

/** The terms that a first sign-in accepts. Null when none are published. */
type SignInTerms = { readonly version: string; readonly url: string } | null

/** What all sign-in pages need. */
export type CommonSignInProps = {
  /** The path of the page after the sign-in, from `safeNextPath`. */
  readonly next: string
  readonly terms: SignInTerms
}

type SignInPageProps = CommonSignInProps & {
  /** The rejected input, or empty. */
  readonly email: string
  /** What is wrong with the email; null: nothing. */
  readonly error: string | null
  /** Whether an account with the address, if there is one, got its mail all the same. */
  readonly isMailHeld?: boolean
}

/** The form that requests a sign-in mail. */
export function SignInPage({ next, terms, email, error, isMailHeld = false }: SignInPageProps) {
  const isSignUpOpen = useContext(Offer).isSignUpOpen
  return (
    <Layout route="signIn" title="Sign in">
      <p class="lead">You need no password. We email you a code and a link, and either one signs you in.</p>
      <SignInForm path={ROUTES.postSignIn.path} next={next} button="Email me a code">
        <TextField
          name="email"
          label="Email address"
          hint={
            isSignUpOpen
              ? "New here? We create your account when you sign in."
              : "New here? You need an invitation from an administrator of this server."
          }
          error={error}
          value={email}
          inputMode="email"
          autoComplete="email"
          autoCapitalize="none"
          spellcheck={false}
          maxLength={LIMITS.addressBytesMax}
          required
        />
      </SignInForm>
      {isMailHeld ? <HeldMailNote next={next} /> : null}
      {isSignUpOpen ? <TermsNotice terms={terms} /> : null}
    </Layout>
  )
}

type SignUpQuestionPageProps = CommonSignInProps & {
  readonly email: string
  /** The address that was probably meant. Null: the question is whether to use a throw-away or dead one. */
  readonly suggestion: string | null
  readonly kind: "throw_away" | "dead"
}

/** Asks about an address that is probably mistyped, throw-away or dead, before a mail goes to it. */
export function SignUpQuestionPage({ next, email, suggestion, kind }: SignUpQuestionPageProps) {
  return (
    <Layout route="signIn" title="Check the address">
      <div class="card" role="status">
        <p class="asked">You entered {email}</p>
        <h2>{suggestion === null ? QUESTIONS[kind] : `Did you mean ${suggestion}?`}</h2>
        <div class="actions">
          <AddressButton email={suggestion ?? email} next={next} confirmed={suggestion === null ? email : ""}>
            {suggestion === null ? "Use it anyway" : `Use ${suggestion}`}
          </AddressButton>
          {suggestion === null ? null : (
            <AddressButton email={email} next={next} confirmed={email} isQuiet>
              Keep {email}
            </AddressButton>
          )}
        </div>
        <p>
          <a href={withNextPath(ROUTES.signIn.path, next)}>Use another address</a>
        </p>
      </div>
      <HeldMailNote next={next} />
    </Layout>
  )
}

const QUESTIONS = {
  throw_away: "This looks like a throw-away address. You may lose access to your account. Use it anyway?",
  dead: "This address cannot receive email. You would not get your code. Use it anyway?",
} as const

/** Why an address gets no account, beside its field. */
export const SIGN_UP_REFUSALS = {
  throw_away: "This is a throw-away address. Use an address that you keep.",
  dead: "This address cannot receive email. Check its spelling, or use another one.",
} as const

type AddressButtonProps = {
  readonly email: string
  readonly next: string
  readonly confirmed: string
  readonly isQuiet?: boolean
  readonly children: ComponentChildren
}

function AddressButton({ email, next, confirmed, isQuiet = false, children }: AddressButtonProps) {
  return (
    <form method="post" action={ROUTES.postSignIn.path}>
      <input type="hidden" name="email" value={email} />
      <input type="hidden" name="next" value={next} />
      <input type="hidden" name="confirmed" value={confirmed} />
      <button type="submit" {...(isQuiet ? { class: "small" } : {})}>
        {children}
      </button>
    </form>
  )
}

/** It is shown whether the address has an account or not, so that it does not tell which. */
function HeldMailNote({ next }: { readonly next: string }) {
  return (
    <p>
      Do you already have an account with this address? Then we emailed you a code.{" "}
      <a href={withNextPath(ROUTES.signInCode.path, next, { held: "yes" })}>Enter the code</a>
    </p>
  )
}

type SignInPassPageProps = {
  /** Null: the visitor's browser cannot solve the puzzle. */
  readonly assets: PassPageAssets | null
  readonly challenge: Challenge
  readonly email: string
  /** The address that the visitor insists on, or empty. */
  readonly confirmed: string
  readonly next: string
}

/** Obtains a pass by a proof of work while many ask to sign in, then sends the form again by itself. */
export function SignInPassPage({ assets, challenge, email, confirmed, next }: SignInPassPageProps) {
  const back = <a href={withNextPath(ROUTES.signIn.path, next)}>Back to sign-in</a>
  if (assets === null)
    return (
      <Layout route="signIn" title="Too many people are signing in">
        <p class="lead">Try again in a few minutes. You need no puzzle when fewer people sign in.</p>
        <InsecurePageNotice />
        <p>{back}</p>
      </Layout>
    )
  return (
    <Layout route="signIn" title="One moment, please" styles={[assets.styles]} scripts={[assets.widget, assets.script]}>
      <p class="lead">
        Many people are signing in right now. Your browser solves a short puzzle to show that you are not a bot. Then we
        email a code and a link to <strong>{email}</strong>.
      </p>
      <PassForm
        assets={assets}
        path={ROUTES.postSignIn.path}
        fields={{ email, next, confirmed }}
        challenge={challenge}
        alternatives={
          <>
            The puzzle needs JavaScript and a recent browser. Or try again in a few minutes: you need no puzzle when
            fewer people sign in. {back}
          </>
        }
      />
    </Layout>
  )
}

type CodePageProps = CommonSignInProps & {
  readonly email: string
  /** Whether link and code went to the log, because no mail can be sent to the address. */
  readonly isLogged: boolean
  /** What is wrong with the code; null: nothing. */
  readonly error: string | null
  /** The code that was typed and not tried. */
  readonly code?: string
  /** Whether the mail went only to an account that exists. */
  readonly isMailHeld?: boolean
  /** Why no other mail is sent; null: nothing was refused. */
  readonly refusal?: string | null
}

/** The form for the code from the mail, in the browser that requested it. */
export function CodePage(props: CodePageProps) {
  const isSignUpOpen = useContext(Offer).isSignUpOpen
  const { next, terms, email, isLogged, error, code = "", refusal = null } = props
  // Whether the address has an account is told to nobody.
  const isMailHeld = props.isMailHeld === true || !isSignUpOpen
  return (
    <Layout route="signInCode" title={isLogged ? "Check the server log" : "Check your email"}>
      <FormError message={refusal} />
      <p class="lead">
        {isLogged ? (
          <>
            This server cannot send email to <strong>{email}</strong>.{" "}
            {isSignUpOpen ? "Its" : "If it has an account, the server’s"} log has a code and a link for you.
          </>
        ) : (
          <>
            {isMailHeld ? "If it has an account, we emailed a code and a link to " : "We emailed a code and a link to "}
            <strong>{email}</strong>.
          </>
        )}{" "}
        Enter the code here, or open the link. Either works once, within {LIMITS.signInMinutes} minutes.
      </p>
      <SignInForm path={ROUTES.postSignInCode.path} next={next} button="Sign in">
        <TextField
          name="code"
          label="Code"
          hint={`${LIMITS.signInCodeDigits} digits.`}
          error={error}
          value={code}
          inputMode="numeric"
          autoComplete="one-time-code"
          required
        />
      </SignInForm>
      <p>
        {isLogged ? "Wrong address?" : "No email after a few minutes? Check your spam folder and the address above."}{" "}
        <a href={withNextPath(ROUTES.signIn.path, next)}>Ask again</a>
      </p>
      {isSignUpOpen ? <TermsNotice terms={terms} /> : null}
    </Layout>
  )
}

/** Explains that no code is accepted for the address today, in place of the form for one. The link works. */
export function CodesLockedPage({ next, isLogged }: { readonly next: string; readonly isLogged: boolean }) {
  return (
    <Layout route="signInCode" title="Open the link">
      <p class="lead">
        Someone entered {LIMITS.wrongCodesPerAddressAndDay} wrong codes for your address today, so no code is accepted
        for it until 00:00 UTC. Please open the link {isLogged ? "from the log" : "in the mail"}. It still works.
      </p>
      <p>
        <a href={withNextPath(ROUTES.signIn.path, next)}>Ask again</a>
      </p>
    </Layout>
  )
}

type LinkPageProps = CommonSignInProps & {
  readonly email: string
  readonly token: string
  /** Why the sign-in was refused; null: it was not. */
  readonly refusal?: string | null
}

/**
 * The page behind the link in the mail. It signs in only when the button is pressed, so that link scanners do not use the link up,
 * and it names the account, in case the link was meant for somebody else.
 */
export function LinkPage({ next, terms, email, token, refusal = null }: LinkPageProps) {
  return (
    <Layout route="signInLink" title="Sign in">
      <FormError message={refusal} />
      <p class="lead">
        You sign in as <strong>{email}</strong>.
      </p>
      <SignInForm path={ROUTES.postSignInLink.path} next={next} button="Sign in">
        <input type="hidden" name="token" value={token} />
      </SignInForm>
      <TermsNotice terms={terms} />
    </Layout>
  )
}

/** The page behind the link of an invitation. Only its button uses the link up. */
export function InvitationPage({ next, terms, email, token, refusal = null }: LinkPageProps) {
  return (
    <Layout route="invitation" title="Accept the invitation">
      <FormError message={refusal} />
      <p class="lead">
        You get an account for <strong>{email}</strong>, with a key.
      </p>
      <SignInForm path={ROUTES.postInvitation.path} next={next} button="Accept and sign in">
        <input type="hidden" name="token" value={token} />
      </SignInForm>
      <TermsNotice terms={terms} />
    </Layout>
  )
}

/** Why a sign-in ended. */
const END_MESSAGES = {
  invitation: `The invitation was used or revoked, or it is older than ${LIMITS.invitationDays} days. Or a part of the link is missing. If you have an account, sign in.`,
  link: `The link was already used, is older than ${LIMITS.signInMinutes} minutes, or a part of it is missing.`,
  code: `This code or its link was already used, or it is older than ${LIMITS.signInMinutes} minutes.`,
  tries: `That code is wrong, and it was the last of ${LIMITS.signInTriesMax} tries.`,
} as const

type SignInEndedPageProps = { readonly next: string; readonly end: keyof typeof END_MESSAGES }

/** Explains that a sign-in has ended, and offers a new one. */
export function SignInEndedPage({ next, end }: SignInEndedPageProps) {
  return (
    <Layout
      route={END_ROUTES[end]}
      title={end === "invitation" ? "This invitation has ended" : "This sign-in has ended"}
    >
      <p class="lead">{END_MESSAGES[end]}</p>
      <p>
        <a class="button" href={withNextPath(ROUTES.signIn.path, next)}>
          {end === "invitation" ? "Sign in" : "Ask again"}
        </a>
      </p>
    </Layout>
  )
}

const END_ROUTES = { invitation: "invitation", link: "signInLink", code: "signInCode", tries: "signInCode" } as const

type SignInFormProps = {
  readonly path: string
  readonly next: string
  readonly button: string
  readonly children: ComponentChildren
}

function SignInForm({ path, next, button, children }: SignInFormProps) {
  return (
    <form class="form" method="post" action={path}>
      <input type="hidden" name="next" value={next} />
      {children}
      <button type="submit">{button}</button>
    </form>
  )
}

function TermsNotice({ terms }: { readonly terms: SignInTerms }) {
  return terms === null ? null : (
    <p class="hint">
      When you create an account, you accept the <a href={terms.url}>terms, version {terms.version}</a>.
    </p>
  )
}

/** An address whose verdict needs no DNS. */
const EXAMPLE_EMAIL = "jane@gmail.com"

type FirstKeyPageProps = {
  readonly email: string
  /** The key itself, which is displayed only here. */
  readonly keyText: string
  readonly baseUrl: string
  readonly next: string
}

/** The response to a first sign-in: the account's first key, and a command that uses it. */
export function FirstKeyPage({ email, keyText, baseUrl, next }: FirstKeyPageProps) {
  return (
    <Layout route="signIn" title="Welcome">
      <FlashMessage message="Account created. You are signed in." />
      <p>
        Your account is <strong>{email}</strong>. This is your first API key:
      </p>
      <div class="secret">
        <code class="copied">{keyText}</code>
      </div>
      <p class="told">
        Copy the key now. You cannot see it again. Keep it with the secrets of your program, not in its code. If you
        lose it, revoke it and create a new one. You can have up to {LIMITS.keysPerAccountMax} keys.
      </p>
      <h2>Try it</h2>
      <p>Paste this into a terminal.</p>
      <CodeBlock caption="Command" code={curlCommand(baseUrl, EXAMPLE_EMAIL, keyText)} />
      <p>
        <a class="button" href={next}>
          Open your dashboard
        </a>
      </p>
    </Layout>
  )
}
