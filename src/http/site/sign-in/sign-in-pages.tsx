/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Challenge } from "../../../customers/free-checks/challenges.ts"
import { PassForm, type PassPageAssets } from "../pass.tsx"
import { curlCommand } from "../ui/format.ts"
import { FlashMessage, TextField } from "../ui/forms.tsx"
import { CodeBlock, Layout } from "../ui/layout.tsx"
import { withNextPath } from "./next-path.ts"

/** The terms that a first sign-in accepts. Null when none are published. */
type SignInTerms = { readonly version: string; readonly url: string } | null

/** What all sign-in pages need. */
export type CommonSignInProps = {
  /** The path of the page after the sign-in, from `safeNextPath`. */
  readonly next: string
  readonly terms: SignInTerms
  readonly scripts: readonly string[]
}

type SignInPageProps = CommonSignInProps & {
  /** The rejected input, or empty. */
  readonly email: string
  /** What is wrong with the email; null: nothing. */
  readonly error: string | null
}

/** The form that requests a sign-in mail. */
export function SignInPage({ next, terms, scripts, email, error }: SignInPageProps) {
  return (
    <Layout route="signIn" title="Sign in" scripts={scripts}>
      <p class="lead">
        There is no password: we send a link and a code to your email address, and either signs you in.
      </p>
      <SignInForm path={ROUTES.postSignIn.path} next={next} button="Send me a link">
        <TextField
          name="email"
          label="Email address"
          hint="If it has no account yet, signing in makes one."
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
      <TermsNotice terms={terms} />
    </Layout>
  )
}

type SignInPassPageProps = {
  readonly assets: PassPageAssets
  readonly challenge: Challenge
  readonly email: string
  readonly next: string
}

/** Obtains a pass by a proof of work while many ask to sign in, then sends the form again by itself. */
export function SignInPassPage({ assets, challenge, email, next }: SignInPassPageProps) {
  return (
    <Layout route="signIn" title="One moment, please" styles={[assets.styles]} scripts={[assets.widget, assets.script]}>
      <p class="lead">
        Very many people ask to sign in just now. To show that no program asks, your browser does a short piece of
        arithmetic, and then we send a link and a code to <strong>{email}</strong>.
      </p>
      <PassForm
        assets={assets}
        path={ROUTES.postSignIn.path}
        fields={{ email, next }}
        challenge={challenge}
        alternatives={PASS_ALTERNATIVES}
      />
      <p>
        <a href={withNextPath(ROUTES.signIn.path, next)}>Back to the sign-in</a>
      </p>
    </Layout>
  )
}

/** As on the free checker's page, the widget needs `crypto.subtle`. */
const PASS_ALTERNATIVES =
  "It works over HTTPS, in a browser of the last years, with JavaScript. Or come again in some minutes: when fewer people ask, there is no such page."

type CodePageProps = CommonSignInProps & {
  readonly email: string
  /** Whether link and code went to the log, because no mail can be sent to the address. */
  readonly isLogged: boolean
  /** What is wrong with the code; null: nothing. */
  readonly error: string | null
}

/** The form for the code from the mail, in the browser that requested it. */
export function CodePage({ next, terms, scripts, email, isLogged, error }: CodePageProps) {
  return (
    <Layout route="signInCode" title={isLogged ? "Look into the log" : "Look into your mail"} scripts={scripts}>
      <p class="lead">
        {isLogged ? (
          <>
            This server sends no mail to <strong>{email}</strong>. Whoever runs it finds a link and a code in its log.
          </>
        ) : (
          <>
            We are sending a link and a code to <strong>{email}</strong>.
          </>
        )}{" "}
        Open the link, or type the code here. Either works once, within {LIMITS.signInMinutes} minutes.
      </p>
      <SignInForm path={ROUTES.postSignInCode.path} next={next} button="Sign in">
        <TextField
          name="code"
          label="Code"
          hint={`${LIMITS.signInCodeDigits} digits.`}
          error={error}
          inputMode="numeric"
          autoComplete="one-time-code"
          required
        />
      </SignInForm>
      <p>
        {isLogged
          ? "Is the address wrong?"
          : "Is the address wrong, or is there no mail after some minutes, and none among the unwanted ones?"}{" "}
        <a href={withNextPath(ROUTES.signIn.path, next)}>Ask again</a>.
      </p>
      <TermsNotice terms={terms} />
    </Layout>
  )
}

/** Explains that no code is accepted for the address today, in place of the form for one. The link works. */
export function CodesLockedPage({ next, isLogged }: { readonly next: string; readonly isLogged: boolean }) {
  return (
    <Layout route="signInCode" title="Open the link">
      <p class="lead">
        Today {LIMITS.wrongCodesPerAddressAndDay} wrong codes were typed for your address, here or elsewhere. So no code
        is accepted for it until 00:00 UTC. Please open the link {isLogged ? "from the log" : "in the mail"}: it works.
      </p>
      <p>
        <a href={withNextPath(ROUTES.signIn.path, next)}>Ask again</a>
      </p>
    </Layout>
  )
}

type LinkPageProps = CommonSignInProps & { readonly email: string; readonly token: string }

/**
 * The page behind the link in the mail. It signs in only when the button is pressed, so that link scanners do not use the link up,
 * and it names the account, in case the link was meant for somebody else.
 */
export function LinkPage({ next, terms, scripts, email, token }: LinkPageProps) {
  return (
    <Layout route="signInLink" title="Sign in" scripts={scripts}>
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

/** Why a sign-in ended. */
const END_MESSAGES = {
  link: `The link was used before, is older than ${LIMITS.signInMinutes} minutes, or a part of it is missing.`,
  code: `The mail's link or code was used before, or it is older than ${LIMITS.signInMinutes} minutes.`,
  tries: `That is not the code, and it was the last of ${LIMITS.signInTriesMax} tries.`,
} as const

type SignInEndedPageProps = { readonly next: string; readonly end: keyof typeof END_MESSAGES }

/** Explains that a sign-in has ended, and offers a new one. */
export function SignInEndedPage({ next, end }: SignInEndedPageProps) {
  return (
    <Layout route={end === "link" ? "signInLink" : "signInCode"} title="This sign-in is over">
      <p class="lead">{END_MESSAGES[end]}</p>
      <p>
        <a class="button" href={withNextPath(ROUTES.signIn.path, next)}>
          Ask again
        </a>
      </p>
    </Layout>
  )
}

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
      With your first sign-in you accept the <a href={terms.url}>terms, version {terms.version}</a>.
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
      <FlashMessage message="Your account is made, and you are signed in." />
      <p>
        You are <strong>{email}</strong>. This is the first key of your account:
      </p>
      <div class="secret">
        <code class="copied">{keyText}</code>
      </div>
      <p class="told">
        It is shown only now: copy it to where your program keeps its secrets, which is not its code. If it gets lost,
        revoke it and create another; an account has up to {LIMITS.keysPerAccountMax}.
      </p>
      <h2>Try it</h2>
      <p>Paste this into a shell.</p>
      <CodeBlock caption="Command" code={curlCommand(baseUrl, EXAMPLE_EMAIL, keyText)} />
      <p>
        <a class="button" href={next}>
          Go on to the dashboard
        </a>
      </p>
    </Layout>
  )
}
