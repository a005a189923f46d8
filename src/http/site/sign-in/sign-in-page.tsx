/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { TextField } from "../fields.tsx"
import { Layout } from "../layout.tsx"
import { leadingTo } from "./own-page.ts"

/** The terms that a first sign-in accepts; null: none are published. */
export type ShownTerms = { readonly version: string; readonly url: string } | null

/** What all pages of the sign-in know. */
export type SignInPageProps = {
  /** The page that somebody gets to by signing in, as `ownPage` gives it. */
  readonly next: string
  readonly terms: ShownTerms
  readonly scripts: readonly string[]
}

type AskProps = SignInPageProps & {
  /** What was typed before. */
  readonly email: string
  /** What is wrong with it; null: nothing. */
  readonly fault: string | null
}

/** Where somebody asks to sign in. */
export function SignInPage({ next, terms, scripts, email, fault }: AskProps) {
  return (
    <Layout route="signIn" title="Sign in" scripts={scripts}>
      <p class="lead">
        There is no password: we send a link and a code to your email address, and either signs you in.
      </p>
      <NextForm path={ROUTES.postSignIn.path} next={next} button="Send me a link">
        <TextField
          name="email"
          label="Email address"
          hint="If it has no account yet, signing in makes one."
          fault={fault}
          value={email}
          inputMode="email"
          autoComplete="email"
          autoCapitalize="none"
          spellcheck={false}
          maxLength={LIMITS.addressOctetsMax}
          required
        />
      </NextForm>
      <TermsSentence terms={terms} />
    </Layout>
  )
}

type CodeProps = SignInPageProps & {
  readonly email: string
  /** Whether link and code went to the log, since no mail reaches the address. */
  readonly isLogged: boolean
  /** What is wrong with the code that was typed; null: nothing. */
  readonly fault: string | null
}

/** Where the browser that asked takes the code from the mail. */
export function CodePage({ next, terms, scripts, email, isLogged, fault }: CodeProps) {
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
      <NextForm path={ROUTES.postSignInCode.path} next={next} button="Sign in">
        <TextField
          name="code"
          label="Code"
          hint={`${LIMITS.signInCodeDigits} digits.`}
          fault={fault}
          inputMode="numeric"
          autoComplete="one-time-code"
          required
        />
      </NextForm>
      <p>
        {isLogged
          ? "Is the address wrong?"
          : "Is the address wrong, or is there no mail after some minutes, and none among the unwanted ones?"}{" "}
        <a href={leadingTo(ROUTES.signIn.path, next)}>Ask again</a>.
      </p>
      <TermsSentence terms={terms} />
    </Layout>
  )
}

type LinkProps = SignInPageProps & { readonly email: string; readonly token: string }

/**
 * Where the link in the mail leads. Programs that open the links of a mail, to see whether they are safe, press no button; and
 * who was sent somebody else's link sees whose account it opens.
 */
export function LinkPage({ next, terms, scripts, email, token }: LinkProps) {
  return (
    <Layout route="signInLink" title="Sign in" scripts={scripts}>
      <p class="lead">
        You sign in as <strong>{email}</strong>.
      </p>
      <NextForm path={ROUTES.postSignInLink.path} next={next} button="Sign in">
        <input type="hidden" name="token" value={token} />
      </NextForm>
      <TermsSentence terms={terms} />
    </Layout>
  )
}

/** What ended a sign-in, as far as it is known. */
const ENDS = {
  link: `The link was used before, is older than ${LIMITS.signInMinutes} minutes, or a part of it is missing.`,
  code: `The mail's link or code was used before, or it is older than ${LIMITS.signInMinutes} minutes.`,
  tries: `That is not the code, and it was the last of ${LIMITS.signInTriesMax} tries.`,
} as const

type OverProps = { readonly next: string; readonly end: keyof typeof ENDS }

/** What somebody sees whose sign-in is gone. */
export function OverPage({ next, end }: OverProps) {
  return (
    <Layout route={end === "link" ? "signInLink" : "signInCode"} title="This sign-in is over">
      <p class="lead">{ENDS[end]}</p>
      <p>
        <a class="button" href={leadingTo(ROUTES.signIn.path, next)}>
          Ask again
        </a>
      </p>
    </Layout>
  )
}

type NextFormProps = {
  readonly path: string
  readonly next: string
  readonly button: string
  readonly children: ComponentChildren
}

function NextForm({ path, next, button, children }: NextFormProps) {
  return (
    <form class="form" method="post" action={path}>
      <input type="hidden" name="next" value={next} />
      {children}
      <button type="submit">{button}</button>
    </form>
  )
}

function TermsSentence({ terms }: { readonly terms: ShownTerms }) {
  return terms === null ? null : (
    <p class="hint">
      With your first sign-in you accept the <a href={terms.url}>terms, version {terms.version}</a>.
    </p>
  )
}
