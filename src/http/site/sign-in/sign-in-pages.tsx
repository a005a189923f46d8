/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { useContext } from "preact/hooks"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Challenge } from "../../../customers/free-checks/challenges.ts"
import { InsecurePageNotice, PassForm, type PassPageAssets } from "../pass.tsx"
import { curlCommand, tierName } from "../ui/format.ts"
import { ActionButton, FlashMessage, FormError, HiddenFields, LinkButton, TextField } from "../ui/forms.tsx"
import { CalmLayout, CodeBlock, Layout } from "../ui/layout.tsx"
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
    <CalmLayout route="signIn" title="Sign in">
      <p class="lead">No password. We email you a code.</p>
      <SignInForm path={ROUTES.postSignIn.path} fields={{ next }} button="Email me a code">
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
      {isMailHeld ? <HeldMailNote next={next} email={email} /> : null}
      {isSignUpOpen ? <TermsNotice terms={terms} /> : null}
    </CalmLayout>
  )
}

type SignUpQuestionPageProps = Pick<CommonSignInProps, "next"> & {
  readonly email: string
  /** The address that was probably meant. Null: the question is whether to use a disposable or dead one. */
  readonly suggestion: string | null
  readonly kind: "throw_away" | "dead"
}

/** Asks about an address that is probably mistyped, disposable or dead, before a mail goes to it. */
export function SignUpQuestionPage({ next, email, suggestion, kind }: SignUpQuestionPageProps) {
  const path = ROUTES.postSignIn.path
  const keep = { path, fields: { email, next, confirmed: email }, look: "quiet" } as const
  const other = withNextPath(ROUTES.signIn.path, next)
  return (
    <CalmLayout route="signIn" title="Check the address">
      <div role="status">
        {suggestion === null ? (
          <>
            <p class="lead">
              <strong>{email}</strong> {QUESTIONS[kind]}
            </p>
            <div class="actions">
              <LinkButton path={other} label="Use another address" />
              <ActionButton {...keep} label="Use it anyway" />
            </div>
          </>
        ) : (
          <>
            <p class="lead">
              Did you mean <strong>{suggestion}</strong>? You entered {email}.
            </p>
            <div class="actions">
              <ActionButton
                path={path}
                fields={{ email: suggestion, next }}
                label={`Use ${suggestion}`}
                look="primary"
              />
              <ActionButton {...keep} label={`Keep ${email}`} />
              <a href={other}>Use another address</a>
            </div>
          </>
        )}
      </div>
      <HeldMailNote next={next} email={email} />
    </CalmLayout>
  )
}

const QUESTIONS = {
  throw_away: "looks like a disposable address. You could lose access to your account.",
  dead: "cannot receive email, so the code would not reach you.",
} as const

/** Why an address gets no account, beside its field. */
export const SIGN_UP_REFUSALS = {
  throw_away: "This is a disposable address. Use one that you keep.",
  dead: "This address cannot receive email. Check the spelling, or use another one.",
} as const

/** It is shown whether the address has an account or not, so that it does not tell which. */
function HeldMailNote({ next, email }: { readonly next: string; readonly email: string }) {
  return (
    <p class="hint">
      If {email} has an account, we sent a code there.{" "}
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
      <CalmLayout route="signIn" title="Too many people are signing in">
        <p class="lead">Please try again in a few minutes.</p>
        <InsecurePageNotice />
        <p>{back}</p>
      </CalmLayout>
    )
  return (
    <CalmLayout route="signIn" title="One moment" styles={[assets.styles]} scripts={[assets.widget, assets.script]}>
      <p class="lead">
        Many people are signing in. Your browser solves a short puzzle, then we email a code to <strong>{email}</strong>
        .
      </p>
      <PassForm
        assets={assets}
        path={ROUTES.postSignIn.path}
        fields={{ email, next, confirmed }}
        challenge={challenge}
        alternatives={<>Does it not work? Try again in a few minutes, when fewer people sign in. {back}</>}
      />
    </CalmLayout>
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

/** The form for the code from the email, in the browser that requested it. */
export function CodePage(props: CodePageProps) {
  const isSignUpOpen = useContext(Offer).isSignUpOpen
  const { next, terms, email, isLogged, error, code = "", refusal = null } = props
  // Whether the address has an account is told to nobody.
  const isMailHeld = props.isMailHeld === true || !isSignUpOpen
  return (
    <CalmLayout route="signInCode" title={isLogged ? "Check the server log" : "Check your email"}>
      <FormError message={refusal} />
      <p class="lead">
        {isLogged
          ? `This server cannot send email. ${isSignUpOpen ? "Its" : "If the address has an account, the"} log has a code for `
          : `${isMailHeld ? "If it has an account, we" : "We"} emailed a code to `}
        <strong>{email}</strong>.
      </p>
      <SignInForm path={ROUTES.postSignInCode.path} fields={{ next }} button="Sign in">
        <TextField
          name="code"
          label="Code"
          hint={`${LIMITS.signInCodeDigits} digits, valid for ${LIMITS.signInMinutes} minutes. The link in the ${isLogged ? "log" : "email"} works too.`}
          error={error}
          value={code}
          inputMode="numeric"
          autoComplete="one-time-code"
          spellcheck={false}
          required
        />
      </SignInForm>
      <p class="hint">
        {isLogged ? "Wrong address?" : "No email? Check your spam folder and the address above."}{" "}
        <a href={withNextPath(ROUTES.signIn.path, next)}>Change the address or get a new code</a>
      </p>
      {isSignUpOpen ? <TermsNotice terms={terms} /> : null}
    </CalmLayout>
  )
}

type LinkPageProps = CommonSignInProps & {
  /** What the mail with the link was for. */
  readonly of: keyof typeof LINK_PAGES
  readonly email: string
  /** That of an invitation; null: it is none. */
  readonly tier: number | null
  readonly token: string
  /** Why the sign-in was refused; null: it was not. */
  readonly refusal?: string | null
}

const LINK_PAGES = {
  link: {
    ...({ route: "signInLink", target: "postSignInLink", title: "Sign in" } as const),
    ...{ lead: "You are about to sign in as", button: "Sign in" },
  },
  invitation: {
    ...({ route: "invitation", target: "postInvitation", title: "Accept the invitation" } as const),
    ...{ lead: "An administrator of this server invites", button: "Accept and sign in" },
  },
}

/**
 * The page behind the link in a mail. It signs in only when the button is pressed, so that link scanners do not use the link up, and it
 * names the account, in case the link was meant for somebody else.
 */
export function LinkPage({ of, next, terms, email, tier, token, refusal = null }: LinkPageProps) {
  const { route, target, title, lead, button } = LINK_PAGES[of]
  return (
    <CalmLayout route={route} title={title}>
      <FormError message={refusal} />
      <p class="lead">
        {lead} <strong>{email}</strong>.
      </p>
      {tier === null ? null : <p>You get an account in the tier {tierName(tier)}, with an API key.</p>}
      <SignInForm path={ROUTES[target].path} fields={{ next, token }} button={button} />
      <TermsNotice terms={terms} />
    </CalmLayout>
  )
}

/** How a sign-in ends without success: why, in a sentence, and the button that starts another one. */
const ENDS = {
  invitation: {
    ...({ route: "invitation", title: "This invitation has ended", button: "Sign in" } as const),
    message: `It was used or revoked, or it is older than ${LIMITS.invitationDays} days. If you accepted it, sign in. Otherwise, ask your administrator for a new one.`,
  },
  link: {
    ...({ route: "signInLink", title: "This link has expired", button: "Get a new link" } as const),
    message: `A link works once, within ${LIMITS.signInMinutes} minutes.`,
  },
  code: {
    ...({ route: "signInCode", title: "This code has expired", button: "Get a new code" } as const),
    message: `A code works once, within ${LIMITS.signInMinutes} minutes.`,
  },
  tries: {
    ...({ route: "signInCode", title: "This sign-in has ended", button: "Get a new code" } as const),
    message: `That code is wrong, and it was the last of ${LIMITS.signInTriesMax} tries.`,
  },
  // The link works all the same.
  locked: {
    ...({ route: "signInCode", title: "Open the link", button: "Get a new link" } as const),
    message: `Someone entered ${LIMITS.wrongCodesPerAddressAndDay} wrong codes for your address today, so codes are off until 00:00 UTC. Use the link that came with the code.`,
  },
} as const

/** Explains that a sign-in has ended, or that it takes no code, and offers a new one. */
export function SignInEndedPage({ next, end }: { readonly next: string; readonly end: keyof typeof ENDS }) {
  const { route, title, message, button } = ENDS[end]
  return (
    <CalmLayout route={route} title={title}>
      <p class="lead">{message}</p>
      <LinkButton path={withNextPath(ROUTES.signIn.path, next)} label={button} />
    </CalmLayout>
  )
}

type SignInFormProps = {
  readonly path: string
  readonly fields: Readonly<Record<string, string>>
  readonly button: string
  readonly children?: ComponentChildren
}

const SignInForm = ({ path, fields, button, children }: SignInFormProps) => (
  <form class="form" method="post" action={path}>
    <HiddenFields fields={fields} />
    {children}
    <button type="submit">{button}</button>
  </form>
)

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
      <p class="lead">
        This is the first API key of <strong>{email}</strong>.
      </p>
      <div class="secret">
        <code class="copied">{keyText}</code>
      </div>
      <p class="told">
        Copy it now: you won’t see it again. Store it in an environment variable, never in code. If you lose it, revoke
        it and create another.
      </p>
      <CodeBlock
        caption="Paste this into a terminal"
        language="sh"
        code={curlCommand(baseUrl, EXAMPLE_EMAIL, keyText)}
      />
      <LinkButton path={next} label="Open your dashboard" />
    </Layout>
  )
}
