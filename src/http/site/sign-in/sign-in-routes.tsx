/** @jsxImportSource preact */

import type { VNode } from "preact"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { normalizeAccountEmail } from "../../../customers/accounts/account-email.ts"
import { findAccountByEmail } from "../../../customers/accounts/accounts.ts"
import type { PassChange } from "../../../customers/free-checks/passes.ts"
import { findInvitation } from "../../../customers/sign-in/invitations.ts"
import { emailByBrowser, emailByLink, openSignIn } from "../../../customers/sign-in/pending-sign-ins.ts"
import { parseTypedCode } from "../../../customers/sign-in/secrets.ts"
import { endSession, userAgentLabel } from "../../../customers/sign-in/sessions.ts"
import { type SignInCredential, type SignInResult, signIn as signInWith } from "../../../customers/sign-in/sign-in.ts"
import { areCodesLocked } from "../../../customers/sign-in/wrong-codes.ts"
import { listTerms } from "../../../customers/terms/terms.ts"
import type { Exchange } from "../../exchange.ts"
import { queryParameters } from "../../request/request-url.ts"
import { isTooManyRequests, Problem } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { ownerChanges } from "../attributed-changes.ts"
import type { SubmittedForm } from "../form-body.ts"
import type { PageResult } from "../guards.ts"
import { canSolveChallenge, passPageAssets, SOLUTION_FIELD, withPassCookie } from "../pass.tsx"
import type { SiteContext } from "../site-context.ts"
import { nextPathInUrl, safeNextPath, withNextPath } from "./next-path.ts"
import { createSignInLimits, type SignInLimits } from "./sign-in-limits.ts"
import {
  CodePage,
  type CommonSignInProps,
  FirstKeyPage,
  LinkPage,
  SIGN_UP_REFUSALS,
  SignInEndedPage,
  SignInPage,
  SignInPassPage,
  SignUpQuestionPage,
} from "./sign-in-pages.tsx"
import type { SignUpConcern } from "./sign-up-check.ts"

/** The sign-in by mail: a form requests it, and a code or a link from the mail completes it. */
export function signInRoutes(site: SiteContext) {
  const { pages, guards } = site
  const context = createSignInContext(site)
  return handlers({
    signIn: exchange =>
      guards.allowAnonymous(exchange, async () => {
        const next = nextPathInUrl(exchange)
        if ((await guards.signedInUser(exchange)) !== null) return pages.redirect(next, exchange)
        return <SignInPage {...(await context.commonProps(next))} email="" error={null} />
      }),
    postSignIn: exchange => guards.allowAnonymousForm(exchange, form => handleSignInRequest(context, exchange, form)),
    ...proofRoutes(context),
  })
}

/** Handles a request for a mail. What is refused because of its rate keeps what was typed, and the field for the latest code. */
async function handleSignInRequest(
  context: SignInContext,
  exchange: Exchange,
  form: SubmittedForm,
): Promise<PageResult> {
  try {
    return await requestSignIn(context, exchange, form)
  } catch (error) {
    if (!isTooManyRequests(error)) throw error
    const next = safeNextPath(form.text("next"))
    const typed = form.text("email")
    const browser = context.cookies.read(exchange.request, "sign_in")
    const waiting = browser === "" ? null : await emailByBrowser(context.signIn.store, context.signIn.clock, browser)
    const page =
      waiting !== null && waiting === normalizeAccountEmail(typed)
        ? await codeFormPage(context, browser, next, null, { refusal: error.detail })
        : await signInPage(context, next, typed, error.detail)
    return context.pages.renderProblem(page, exchange, error)
  }
}

/** The form, with what was typed and what is wrong with it. */
async function signInPage(
  context: SignInContext,
  next: string,
  typed: string,
  error: string | null,
  isMailHeld = false,
): Promise<VNode> {
  const email = typed.slice(0, ECHOED_LENGTH_MAX)
  return <SignInPage {...(await context.commonProps(next))} email={email} error={error} isMailHeld={isMailHeld} />
}

/** Opens a sign-in and sends its mail, unless something is wrong with the address. */
async function requestSignIn(context: SignInContext, exchange: Exchange, form: SubmittedForm): Promise<PageResult> {
  const { pages, cookies, limits, signUpCheck, clientOf } = context
  limits.admitRequest(exchange)
  const next = safeNextPath(form.text("next"))
  const to = normalizeAccountEmail(form.text("email"))
  if (to === null)
    return pages.renderInvalid(await signInPage(context, next, form.text("email"), INVALID_EMAIL), exchange)
  const passChange = limits.admitEmail(to) === "admitted" ? null : await usePass(context, exchange, form, to)
  if (passChange instanceof Response) return passChange
  const isConfirmed = normalizeAccountEmail(form.text("confirmed")) === to
  const maySignUp = context.signIn.maySignUp(to)
  // Where nobody signs up, only addresses with an account get a mail, and they were looked at when it was made.
  const concern = maySignUp ? openConcern(await signUpCheck(to, clientOf(exchange.request)), isConfirmed) : null
  const browser = await openAndSend(context, to, next, concern === null && maySignUp)
  const response =
    concern === null
      ? pages.redirect(withNextPath(ROUTES.signInCode.path, next), exchange)
      : await concernResponse(context, exchange, next, to, concern)
  response.headers.append("Set-Cookie", cookies.write("sign_in", browser))
  return withPassCookie(cookies, response, passChange)
}

/** What is still wrong with an address after the visitor has insisted on it or not. */
function openConcern(concern: SignUpConcern | null, isConfirmed: boolean): SignUpConcern | null {
  if (concern === null || !isConfirmed) return concern
  return concern.fault?.isRefused ? { ...concern, suggestion: null } : null
}

/**
 * Opens a sign-in, sends its mail and returns the secret for the browser. A mail that is not for everybody goes only to an address that
 * has an account. Then the account is looked for whatever comes of it, and neither the page nor the response time shows the result.
 */
async function openAndSend(
  { signIn, baseUrl }: SignInContext,
  to: string,
  next: string,
  isForEverybody: boolean,
): Promise<string> {
  const { link, code, browser } = await openSignIn(signIn.store, signIn.clock, signIn.random, to)
  const isWanted = isForEverybody || (await findAccountByEmail(signIn.store, to)) !== null
  const path = withNextPath(ROUTES.signInLink.path, next, { token: link })
  if (isWanted) signIn.mails.send({ to, link: `${baseUrl()}${path}`, code })
  return browser
}

/** Asks about the address, or refuses it at its field. */
async function concernResponse(
  context: SignInContext,
  exchange: Exchange,
  next: string,
  email: string,
  { suggestion, fault }: SignUpConcern,
): Promise<Response> {
  const { pages } = context
  const kind = fault?.kind ?? "dead"
  if (suggestion === null && fault?.isRefused)
    return pages.renderInvalid(await signInPage(context, next, email, SIGN_UP_REFUSALS[kind], true), exchange)
  return pages.render(<SignUpQuestionPage {...{ next, email, suggestion, kind }} />, exchange)
}

/**
 * Uses a check of the visitor's pass, or of a new one, while so many ask to sign in that a pass is required. Returns the page that
 * gets a pass if the visitor has none.
 */
async function usePass(
  { pages, cookies, limits, signIn, assets }: SignInContext,
  exchange: Exchange,
  form: SubmittedForm,
  email: string,
): Promise<PassChange | Response> {
  const { passes } = signIn
  const proof = { pass: cookies.read(exchange.request, "pass"), solution: form.text(SOLUTION_FIELD) }
  const { change, refund } = await passes.claim(proof)
  if (refund === null) {
    const page = (
      <SignInPassPage
        assets={canSolveChallenge(exchange.request) ? await passPageAssets(assets) : null}
        challenge={await passes.challenge()}
        email={email}
        confirmed={form.text("confirmed").slice(0, ECHOED_LENGTH_MAX)}
        next={safeNextPath(form.text("next"))}
      />
    )
    return withPassCookie(cookies, pages.renderProblem(page, exchange, new Problem("pass_required", BUSY)), change)
  }
  try {
    limits.admitEmail(email, true)
  } catch (refused) {
    await refund()
    throw refused
  }
  return change
}

const BUSY = "So many people are signing in right now that you need to solve a puzzle."
const INVALID_EMAIL = "This is not an email address that can have an account. It should look like name@example.com."

/** How much of a rejected input is displayed again. */
const ECHOED_LENGTH_MAX = 300
const ECHOED_CODE_LENGTH_MAX = 20

/** What all sign-in handlers need. */
type SignInContext = SiteContext & {
  readonly limits: SignInLimits
  readonly commonProps: (next: string) => Promise<CommonSignInProps>
}

function createSignInContext(site: SiteContext): SignInContext {
  const { signIn, keyless, clientOf } = site
  return {
    ...site,
    limits: createSignInLimits(keyless, clientOf),
    commonProps: async next => ({ next, terms: (await listTerms(signIn.store))[0] ?? null }),
  }
}

/** The pages that take the code or the link of a mail. */
function proofRoutes(context: SignInContext) {
  const { allowAnonymous, allowAnonymousForm } = context.guards
  const linkOf = (of: LinkKind) => (exchange: Exchange) =>
    allowAnonymous(exchange, () => linkPage(context, exchange, of))
  const useOf = (of: LinkKind) => (exchange: Exchange) =>
    allowAnonymousForm(exchange, form => handleLink(context, exchange, of, form))
  return handlers({
    signInCode: exchange => allowAnonymous(exchange, () => codePage(context, exchange)),
    postSignInCode: exchange => allowAnonymousForm(exchange, form => handleCode(context, exchange, form)),
    ...{ signInLink: linkOf("link"), postSignInLink: useOf("link") },
    ...{ invitation: linkOf("invitation"), postInvitation: useOf("invitation") },
  })
}

async function codePage(context: SignInContext, exchange: Exchange): Promise<PageResult> {
  const { guards, pages, cookies } = context
  const next = nextPathInUrl(exchange)
  if ((await guards.signedInUser(exchange)) !== null) return pages.redirect(next, exchange)
  const browser = cookies.read(exchange.request, "sign_in")
  if (browser === "") return pages.redirect(withNextPath(ROUTES.signIn.path, next), exchange)
  const isMailHeld = queryParameters(exchange.request.url).get("held") === "yes"
  return await codeFormPage(context, browser, next, null, { isMailHeld })
}

/** The form for the code, or the page that says that this browser's sign-in has ended or takes only the link. */
async function codeFormPage(
  context: SignInContext,
  browser: string,
  next: string,
  error: string | null,
  kept: { readonly code?: string; readonly refusal?: string; readonly isMailHeld?: boolean } = {},
): Promise<VNode> {
  const { signIn, commonProps } = context
  const email = await emailByBrowser(signIn.store, signIn.clock, browser)
  if (email === null) return <SignInEndedPage next={next} end="code" />
  if (await areCodesLocked(signIn.store, signIn.today(), email)) return <SignInEndedPage next={next} end="locked" />
  const isLogged = signIn.mails.isLogged(email)
  return <CodePage {...(await commonProps(next))} email={email} isLogged={isLogged} error={error} {...kept} />
}

/** Why a proof is refused because of its rate; null: it may be tried. */
function proofRefusal({ limits }: SignInContext, exchange: Exchange): Problem | null {
  try {
    limits.admitProof(exchange)
    return null
  } catch (error) {
    if (isTooManyRequests(error)) return error
    throw error
  }
}

async function handleCode(context: SignInContext, exchange: Exchange, form: SubmittedForm): Promise<PageResult> {
  const { cookies, pages } = context
  const next = safeNextPath(form.text("next"))
  const browser = cookies.read(exchange.request, "sign_in")
  const typed = form.text("code").slice(0, ECHOED_CODE_LENGTH_MAX)
  const refusal = proofRefusal(context, exchange)
  if (refusal !== null) {
    const page = await codeFormPage(context, browser, next, null, { code: typed, refusal: refusal.detail })
    return pages.renderProblem(page, exchange, refusal)
  }
  const code = parseTypedCode(form.text("code"))
  if (code === null) {
    // A digit too few or too many is quickly corrected; anything else is typed anew, as a wrong code is.
    const kept = /^[\d\s]*$/.test(typed) ? { code: typed } : {}
    return pages.renderInvalid(await codeFormPage(context, browser, next, MALFORMED_CODE, kept), exchange)
  }
  const result = await completeSignIn(context, exchange, next, { kind: "code", browser, code })
  if (result instanceof Response) return result
  if (result.kind === "gone") return pages.renderInvalid(<SignInEndedPage next={next} end="code" />, exchange)
  if (result.kind === "codes_locked")
    return pages.renderInvalid(await codeFormPage(context, browser, next, null), exchange)
  if (result.triesLeft === 0) return pages.renderInvalid(<SignInEndedPage next={next} end="tries" />, exchange)
  return pages.renderInvalid(await codeFormPage(context, browser, next, wrongCodeMessage(result.triesLeft)), exchange)
}

/** What the link of a mail is for. */
type LinkKind = "link" | "invitation"

/** Whose link it is, and the tier that an invitation gives; null: it leads nowhere any more. */
async function personOf({ signIn: { store, clock } }: SignInContext, of: LinkKind, token: string) {
  if (of === "invitation") return await findInvitation(store, clock, token)
  const email = await emailByLink(store, clock, token)
  return email === null ? null : { email, tier: null }
}

async function linkPage(context: SignInContext, exchange: Exchange, of: LinkKind): Promise<PageResult> {
  const { guards, pages, commonProps } = context
  const next = nextPathInUrl(exchange)
  const token = queryParameters(exchange.request.url).get("token") ?? ""
  const person = await personOf(context, of, token)
  if (person !== null) return <LinkPage {...(await commonProps(next))} of={of} {...person} token={token} />
  if (of === "link" && (await guards.signedInUser(exchange)) !== null) return pages.redirect(next, exchange)
  return <SignInEndedPage next={next} end={of} />
}

async function handleLink(
  context: SignInContext,
  exchange: Exchange,
  of: LinkKind,
  form: SubmittedForm,
): Promise<PageResult> {
  const { pages, commonProps } = context
  const next = safeNextPath(form.text("next"))
  const token = form.text("token")
  const refused = proofRefusal(context, exchange)
  if (refused !== null) {
    const person = await personOf(context, of, token)
    if (person === null) throw refused
    const page = <LinkPage {...(await commonProps(next))} of={of} {...person} token={token} refusal={refused.detail} />
    return pages.renderProblem(page, exchange, refused)
  }
  const result = await completeSignIn(context, exchange, next, { kind: of, link: token })
  return result instanceof Response ? result : pages.renderInvalid(<SignInEndedPage next={next} end={of} />, exchange)
}

/** Signs in with a code or a link. Returns the response for a signed-in browser, else why the sign-in failed. */
async function completeSignIn(
  context: SignInContext,
  exchange: Exchange,
  next: string,
  credential: SignInCredential,
): Promise<Response | Exclude<SignInResult, { readonly kind: "signed_in" }>> {
  const { guards, pages, cookies, signIn, baseUrl, isAdmin } = context
  const previousUser = await guards.signedInUser(exchange)
  const result = await signInWith(signIn, credential, userAgentLabel(exchange.request.headers.get("user-agent")))
  // The form was sent twice, and the first request has signed this browser in.
  if (result.kind === "gone" && previousUser !== null) return pages.redirect(next, exchange)
  if (result.kind !== "signed_in") return result
  // The new cookie replaces that of the previous session, which must not stay valid unseen.
  if (previousUser !== null)
    await endSession(ownerChanges(context, previousUser), previousUser.account.id, previousUser.session.id)
  const { account, firstKey, newSession } = result
  exchange.viewer = { email: account.email, isAdmin: isAdmin(account.email) }
  const response =
    firstKey === null
      ? pages.redirect(next, exchange)
      : pages.render(
          <FirstKeyPage email={account.email} keyText={firstKey} baseUrl={baseUrl()} next={next} />,
          exchange,
        )
  response.headers.append("Set-Cookie", cookies.write("session", newSession.secret))
  response.headers.append("Set-Cookie", cookies.clear("sign_in"))
  return response
}

const MALFORMED_CODE = `The code has ${LIMITS.signInCodeDigits} digits.`

const wrongCodeMessage = (triesLeft: number): string =>
  `That code is wrong, or it is not the latest one. You have ${triesLeft === 1 ? "one more try" : `${triesLeft} more tries`}.`
