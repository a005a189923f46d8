/** @jsxImportSource preact */
import { Elysia } from "elysia"
import type { VNode } from "preact"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { normalizeAccountEmail } from "../../../customers/accounts/account-email.ts"
import type { PassChange } from "../../../customers/free-checks/passes.ts"
import { emailByBrowser, emailByLink, openSignIn } from "../../../customers/sign-in/pending-sign-ins.ts"
import { parseTypedCode } from "../../../customers/sign-in/secrets.ts"
import { endSession, userAgentLabel } from "../../../customers/sign-in/sessions.ts"
import { type SignInCredential, type SignInResult, signIn as signInWith } from "../../../customers/sign-in/sign-in.ts"
import { areCodesLocked } from "../../../customers/sign-in/wrong-codes.ts"
import { listTerms } from "../../../customers/terms/terms.ts"
import { queryParameters } from "../../request/request-url.ts"
import { Problem } from "../../response/problem.ts"
import type { SubmittedForm } from "../form-body.ts"
import type { PageResult } from "../guards.ts"
import { passPageAssets, SOLUTION_FIELD, withPassCookie } from "../pass.tsx"
import type { SiteContext } from "../site-context.ts"
import { nextPathInUrl, safeNextPath, withNextPath } from "./next-path.ts"
import { createSignInLimits, type SignInLimits } from "./sign-in-limits.ts"
import {
  CodePage,
  CodesLockedPage,
  type CommonSignInProps,
  FirstKeyPage,
  LinkPage,
  SignInEndedPage,
  SignInPage,
  SignInPassPage,
} from "./sign-in-pages.tsx"

/** The sign-in by mail: a form requests it, and a code or a link from the mail completes it. */
export function signInRoutes(site: SiteContext) {
  const { pages, guards } = site
  const context = createSignInContext(site)
  return new Elysia({ normalize: false })
    .get(ROUTES.signIn.path, ({ request }) =>
      guards.allowAnonymous(request, async () => {
        const next = nextPathInUrl(request)
        if ((await guards.signedInUser(request)) !== null) return pages.redirect(next, request)
        return <SignInPage {...(await context.commonProps(next))} email="" error={null} />
      }),
    )
    .post(
      ROUTES.postSignIn.path,
      ({ request }) => guards.allowAnonymousForm(request, form => handleSignInRequest(context, request, form)),
      {
        parse: "none",
      },
    )
    .use(proofRoutes(context))
}

/** Opens a sign-in and sends its mail. It does not look for an account, which the response time would reveal. */
async function handleSignInRequest(context: SignInContext, request: Request, form: SubmittedForm): Promise<PageResult> {
  const { pages, cookies, limits, signIn, baseUrl } = context
  limits.admitRequest(request)
  const next = safeNextPath(form.text("next"))
  const to = normalizeAccountEmail(form.text("email"))
  if (to === null) {
    const email = form.text("email").slice(0, ECHOED_LENGTH_MAX)
    const page = <SignInPage {...(await context.commonProps(next))} email={email} error={INVALID_EMAIL} />
    return pages.renderInvalid(page, request)
  }
  const passChange = limits.admitEmail(to) === "admitted" ? null : await usePass(context, request, form, to)
  if (passChange instanceof Response) return passChange
  const { link, code, browser } = await openSignIn(signIn.store, signIn.clock, signIn.random, to)
  const path = withNextPath(ROUTES.signInLink.path, next, { token: link })
  signIn.mails.send({ to, link: `${baseUrl()}${path}`, code })
  const response = pages.redirect(withNextPath(ROUTES.signInCode.path, next), request, {
    "Set-Cookie": cookies.write("sign_in", browser),
  })
  return withPassCookie(cookies, response, passChange)
}

/**
 * Uses a check of the visitor's pass, or of a new one, while so many ask to sign in that a pass is required. Returns the page that
 * gets a pass if the visitor has none.
 */
async function usePass(
  { pages, cookies, limits, signIn, assets }: SignInContext,
  request: Request,
  form: SubmittedForm,
  email: string,
): Promise<PassChange | Response> {
  const { passes } = signIn
  const proof = { pass: cookies.read(request, "pass"), solution: form.text(SOLUTION_FIELD) }
  const { change, refund } = await passes.claim(proof)
  if (refund === null) {
    const page = (
      <SignInPassPage
        assets={await passPageAssets(assets)}
        challenge={await passes.challenge()}
        email={email}
        next={safeNextPath(form.text("next"))}
      />
    )
    const problem = new Problem("pass_required", "So many people ask to sign in just now that a pass is needed.")
    return withPassCookie(cookies, pages.renderProblem(page, request, problem), change)
  }
  try {
    limits.admitEmail(email, true)
  } catch (refused) {
    await refund()
    throw refused
  }
  return change
}

const INVALID_EMAIL = "This is no email address that can have an account. One looks like name@example.com."

/** How much of a rejected input is displayed again. */
const ECHOED_LENGTH_MAX = 300

/** What all sign-in handlers need. */
type SignInContext = SiteContext & {
  readonly limits: SignInLimits
  readonly commonProps: (next: string) => Promise<CommonSignInProps>
}

function createSignInContext(site: SiteContext): SignInContext {
  const { assets, signIn, keyless, clientOf } = site
  return {
    ...site,
    limits: createSignInLimits(keyless, clientOf),
    commonProps: async next => ({
      next,
      terms: (await listTerms(signIn.store))[0] ?? null,
      scripts: [await assets.path("once.js")],
    }),
  }
}

/** The pages that take the code or the link of a mail. */
function proofRoutes(context: SignInContext) {
  const { guards } = context
  return new Elysia({ normalize: false })
    .get(ROUTES.signInCode.path, ({ request }) => guards.allowAnonymous(request, () => codePage(context, request)))
    .post(
      ROUTES.postSignInCode.path,
      ({ request }) => guards.allowAnonymousForm(request, form => handleCode(context, request, form)),
      { parse: "none" },
    )
    .get(ROUTES.signInLink.path, ({ request }) => guards.allowAnonymous(request, () => linkPage(context, request)))
    .post(
      ROUTES.postSignInLink.path,
      ({ request }) => guards.allowAnonymousForm(request, form => handleLink(context, request, form)),
      { parse: "none" },
    )
}

async function codePage(context: SignInContext, request: Request): Promise<PageResult> {
  const { guards, pages, cookies } = context
  const next = nextPathInUrl(request)
  if ((await guards.signedInUser(request)) !== null) return pages.redirect(next, request)
  const browser = cookies.read(request, "sign_in")
  if (browser === "") return pages.redirect(withNextPath(ROUTES.signIn.path, next), request)
  return await codeFormPage(context, browser, next, null)
}

/** The form for the code, or the page that says that this browser's sign-in has ended or takes only the link. */
async function codeFormPage(
  context: SignInContext,
  browser: string,
  next: string,
  error: string | null,
): Promise<VNode> {
  const { signIn, commonProps } = context
  const email = await emailByBrowser(signIn.store, signIn.clock, browser)
  if (email === null) return <SignInEndedPage next={next} end="code" />
  if (await areCodesLocked(signIn.store, signIn.clock, email))
    return <CodesLockedPage next={next} isLogged={signIn.mails.isLogged(email)} />
  return <CodePage {...(await commonProps(next))} email={email} isLogged={signIn.mails.isLogged(email)} error={error} />
}

async function handleCode(context: SignInContext, request: Request, form: SubmittedForm): Promise<PageResult> {
  const { limits, cookies, pages } = context
  limits.admitProof(request)
  const next = safeNextPath(form.text("next"))
  const browser = cookies.read(request, "sign_in")
  const code = parseTypedCode(form.text("code"))
  if (code === null) return pages.renderInvalid(await codeFormPage(context, browser, next, MALFORMED_CODE), request)
  const result = await completeSignIn(context, request, next, { kind: "code", browser, code })
  if (result instanceof Response) return result
  if (result.kind === "gone") return pages.renderInvalid(<SignInEndedPage next={next} end="code" />, request)
  if (result.kind === "codes_locked")
    return pages.renderInvalid(await codeFormPage(context, browser, next, null), request)
  if (result.triesLeft === 0) return pages.renderInvalid(<SignInEndedPage next={next} end="tries" />, request)
  return pages.renderInvalid(await codeFormPage(context, browser, next, wrongCodeMessage(result.triesLeft)), request)
}

async function linkPage(context: SignInContext, request: Request): Promise<PageResult> {
  const { guards, pages, signIn, commonProps } = context
  const next = nextPathInUrl(request)
  const token = queryParameters(request.url).get("token") ?? ""
  const email = await emailByLink(signIn.store, signIn.clock, token)
  if (email !== null) return <LinkPage {...(await commonProps(next))} email={email} token={token} />
  if ((await guards.signedInUser(request)) !== null) return pages.redirect(next, request)
  return <SignInEndedPage next={next} end="link" />
}

async function handleLink(context: SignInContext, request: Request, form: SubmittedForm): Promise<PageResult> {
  context.limits.admitProof(request)
  const next = safeNextPath(form.text("next"))
  const result = await completeSignIn(context, request, next, { kind: "link", link: form.text("token") })
  return result instanceof Response
    ? result
    : context.pages.renderInvalid(<SignInEndedPage next={next} end="link" />, request)
}

/** Signs in with a code or a link. Returns the response for a signed-in browser, else why the sign-in failed. */
async function completeSignIn(
  context: SignInContext,
  request: Request,
  next: string,
  credential: SignInCredential,
): Promise<Response | Exclude<SignInResult, { readonly kind: "signed_in" }>> {
  const { guards, pages, cookies, signIn, baseUrl } = context
  const previousUser = await guards.signedInUser(request)
  const result = await signInWith(signIn, credential, userAgentLabel(request.headers.get("user-agent")))
  // The form was sent twice, and the first request has signed this browser in.
  if (result.kind === "gone" && previousUser !== null) return pages.redirect(next, request)
  if (result.kind !== "signed_in") return result
  // The new cookie replaces that of the previous session, which must not stay valid unseen.
  if (previousUser !== null) await endSession(signIn.store, previousUser.account.id, previousUser.session.id)
  const { account, firstKey, newSession } = result
  const response =
    firstKey === null
      ? pages.redirect(next, request)
      : pages.render(<FirstKeyPage email={account.email} keyText={firstKey} baseUrl={baseUrl()} next={next} />, request)
  response.headers.append("Set-Cookie", cookies.write("session", newSession.secret))
  response.headers.append("Set-Cookie", cookies.clear("sign_in"))
  return response
}

const MALFORMED_CODE = `The code has ${LIMITS.signInCodeDigits} digits, and nothing else.`

const wrongCodeMessage = (triesLeft: number): string =>
  `That is not the latest code. You have ${triesLeft === 1 ? "one more try" : `${triesLeft} more tries`}.`
