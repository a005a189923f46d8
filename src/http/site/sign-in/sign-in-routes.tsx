import { Elysia } from "elysia"
import type { VNode } from "preact"
import { LIMITS } from "../../../contract/limits.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { normalizeAccountEmail } from "../../../customers/accounts/account-email.ts"
import type { RateLimiter } from "../../../customers/quota/rate/rate-limiter.ts"
import { emailByBrowser, emailByLink, openSignIn } from "../../../customers/sign-in/pending-sign-ins.ts"
import { parseTypedCode } from "../../../customers/sign-in/secrets.ts"
import { endSession, userAgentLabel } from "../../../customers/sign-in/sessions.ts"
import {
  type SignInCredential,
  type SignInDeps,
  type SignInResult,
  signIn as signInBy,
} from "../../../customers/sign-in/sign-in.ts"
import type { SignInMails } from "../../../customers/sign-in/sign-in-mails.ts"
import { listTerms } from "../../../customers/terms/terms.ts"
import { queryParameters } from "../../request/request-url.ts"
import type { Assets } from "../assets.ts"
import type { Cookies } from "../cookies.ts"
import type { SubmittedForm } from "../form-body.ts"
import type { Guards, PageResult } from "../guards.ts"
import type { PageResponses } from "../page-responses.ts"
import { safeNextPath, withNextPath } from "./next-path.ts"
import { createSignInLimits, type SignInLimits } from "./sign-in-limits.ts"
import {
  CodePage,
  type CommonSignInProps,
  FirstKeyPage,
  LinkPage,
  SignInEndedPage,
  SignInPage,
} from "./sign-in-pages.tsx"

/** @jsxImportSource preact */
/** The pages by which people sign in, and what their forms do. */
export function signInRoutes(needs: SignInRoutesDeps) {
  const { pages, enter } = needs
  const parts = createSignInContext(needs)
  return new Elysia({ normalize: false })
    .get(ROUTES.signIn.path, ({ request }) =>
      enter.allowAnonymous(request, async () => {
        const next = nextPathInUrl(request)
        if ((await enter.signedInUser(request)) !== null) return pages.redirect(next, request)
        return <SignInPage {...(await parts.commonProps(next))} email="" error={null} />
      }),
    )
    .post(
      ROUTES.postSignIn.path,
      ({ request }) => enter.allowAnonymousForm(request, form => handleSignInRequest(parts, request, form)),
      {
        parse: "none",
      },
    )
    .use(proofRoutes(parts))
}

/** Opens a sign-in and sends its mail. Nobody looks whether there is an account: that would show in the answer's time. */
async function handleSignInRequest(parts: SignInContext, request: Request, form: SubmittedForm): Promise<PageResult> {
  const { pages, cookies, limits, signIn, baseUrl } = parts
  limits.admitRequest(request)
  const next = safeNextPath(form.text("next"))
  const to = normalizeAccountEmail(form.text("email"))
  if (to === null) {
    const email = form.text("email").slice(0, ECHOED_LENGTH_MAX)
    const page = <SignInPage {...(await parts.commonProps(next))} email={email} error={INVALID_EMAIL} />
    return pages.render(page, request, { status: PROBLEMS.invalid_input.status })
  }
  limits.admitEmail(to)
  const { link, code, browser } = await openSignIn(signIn.store, signIn.clock, signIn.random, to)
  const path = withNextPath(ROUTES.signInLink.path, next, { token: link })
  signIn.mails.send({ to, link: `${baseUrl()}${path}`, code })
  return pages.redirect(withNextPath(ROUTES.signInCode.path, next), request, {
    "Set-Cookie": cookies.write("sign_in", browser),
  })
}

const INVALID_EMAIL = "This is no email address that can have an account. One looks like name@example.com."

/** How much of what was sent stands in the field again. */
const ECHOED_LENGTH_MAX = 300

/** What the pages of the sign-in are built from. */
type SignInRoutesDeps = {
  readonly pages: PageResponses
  readonly enter: Guards
  readonly cookies: Cookies
  readonly files: Assets
  readonly baseUrl: () => string
  /** Who signs in has no key. */
  readonly keyless: RateLimiter
  readonly clientOf: (request: Request) => string
  readonly signIn: SignInDeps & { readonly mails: Pick<SignInMails, "send" | "isLogged"> }
}

/** The same, and what all of these pages have in common. */
type SignInContext = SignInRoutesDeps & {
  readonly limits: SignInLimits
  readonly commonProps: (next: string) => Promise<CommonSignInProps>
}

/** Builds what all pages of the sign-in have in common. */
function createSignInContext(needs: SignInRoutesDeps): SignInContext {
  const { files, signIn, keyless, clientOf } = needs
  return {
    ...needs,
    limits: createSignInLimits(keyless, clientOf),
    commonProps: async next => ({
      next,
      terms: (await listTerms(signIn.store))[0] ?? null,
      scripts: [await files.path("once.js")],
    }),
  }
}

/** The page that somebody gets to by signing in, from the URL of a page of the sign-in. */
const nextPathInUrl = (request: Request): string => safeNextPath(queryParameters(request.url).get("next") ?? "")

/** @jsxImportSource preact */
/** The pages to which people bring the code or the link of a mail, and what their forms do. */
function proofRoutes(parts: SignInContext) {
  const { enter } = parts
  return new Elysia({ normalize: false })
    .get(ROUTES.signInCode.path, ({ request }) => enter.allowAnonymous(request, () => codePage(parts, request)))
    .post(
      ROUTES.postSignInCode.path,
      ({ request }) => enter.allowAnonymousForm(request, form => handleCode(parts, request, form)),
      { parse: "none" },
    )
    .get(ROUTES.signInLink.path, ({ request }) => enter.allowAnonymous(request, () => linkPage(parts, request)))
    .post(
      ROUTES.postSignInLink.path,
      ({ request }) => enter.allowAnonymousForm(request, form => handleLink(parts, request, form)),
      { parse: "none" },
    )
}

async function codePage(parts: SignInContext, request: Request): Promise<PageResult> {
  const { enter, pages, cookies } = parts
  const next = nextPathInUrl(request)
  if ((await enter.signedInUser(request)) !== null) return pages.redirect(next, request)
  const browser = cookies.read(request, "sign_in")
  if (browser === "") return pages.redirect(withNextPath(ROUTES.signIn.path, next), request)
  return await codeFormPage(parts, browser, next, null)
}

/** The form for the code, as long as the sign-in of this browser is open. */
async function codeFormPage(parts: SignInContext, browser: string, next: string, fault: string | null): Promise<VNode> {
  const { signIn, commonProps } = parts
  const email = await emailByBrowser(signIn.store, signIn.clock, browser)
  if (email === null) return <SignInEndedPage next={next} end="code" />
  return <CodePage {...(await commonProps(next))} email={email} isLogged={signIn.mails.isLogged(email)} error={fault} />
}

async function handleCode(parts: SignInContext, request: Request, form: SubmittedForm): Promise<PageResult> {
  const { limits, cookies } = parts
  limits.admitProof(request)
  const next = safeNextPath(form.text("next"))
  const browser = cookies.read(request, "sign_in")
  const code = parseTypedCode(form.text("code"))
  if (code === null) return invalidInputPage(parts, request, await codeFormPage(parts, browser, next, MALFORMED_CODE))
  const end = await completeSignIn(parts, request, next, { kind: "code", browser, code })
  if (end instanceof Response) return end
  if (end.kind === "gone") return invalidInputPage(parts, request, <SignInEndedPage next={next} end="code" />)
  if (end.triesLeft === 0) return invalidInputPage(parts, request, <SignInEndedPage next={next} end="tries" />)
  return invalidInputPage(parts, request, await codeFormPage(parts, browser, next, wrongCodeMessage(end.triesLeft)))
}

async function linkPage(parts: SignInContext, request: Request): Promise<PageResult> {
  const { enter, pages, signIn, commonProps } = parts
  const next = nextPathInUrl(request)
  const token = queryParameters(request.url).get("token") ?? ""
  const email = await emailByLink(signIn.store, signIn.clock, token)
  if (email !== null) return <LinkPage {...(await commonProps(next))} email={email} token={token} />
  if ((await enter.signedInUser(request)) !== null) return pages.redirect(next, request)
  return <SignInEndedPage next={next} end="link" />
}

async function handleLink(parts: SignInContext, request: Request, form: SubmittedForm): Promise<PageResult> {
  parts.limits.admitProof(request)
  const next = safeNextPath(form.text("next"))
  const end = await completeSignIn(parts, request, next, { kind: "link", link: form.text("token") })
  return end instanceof Response ? end : invalidInputPage(parts, request, <SignInEndedPage next={next} end="link" />)
}

/** The answer to who is signed in now, or was before; else why nobody is. */
async function completeSignIn(
  parts: SignInContext,
  request: Request,
  next: string,
  brought: SignInCredential,
): Promise<Response | Exclude<SignInResult, { readonly kind: "signed_in" }>> {
  const { enter, pages, cookies, signIn, baseUrl, files } = parts
  const before = await enter.signedInUser(request)
  const end = await signInBy(signIn, brought, userAgentLabel(request.headers.get("user-agent")))
  // A form that was sent twice: the first time has signed this browser in.
  if (end.kind === "gone" && before !== null) return pages.redirect(next, request)
  if (end.kind !== "signed_in") return end
  // The browser forgets the session that it had, so nobody else may keep it.
  if (before !== null) await endSession(signIn.store, before.account.id, before.session.id)
  const { account, firstKey, newSession } = end
  const answer =
    firstKey === null
      ? pages.redirect(next, request)
      : pages.render(
          <FirstKeyPage
            {...{
              email: account.email,
              keyText: firstKey,
              baseUrl: baseUrl(),
              next,
              scripts: [await files.path("copy.js")],
            }}
          />,
          request,
        )
  answer.headers.append("Set-Cookie", cookies.write("session", newSession.secret))
  answer.headers.append("Set-Cookie", cookies.clear("sign_in"))
  return answer
}

const invalidInputPage = ({ pages }: SignInContext, request: Request, page: VNode): Response =>
  pages.render(page, request, { status: PROBLEMS.invalid_input.status })

const MALFORMED_CODE = `The code has ${LIMITS.signInCodeDigits} digits, and nothing else.`

const wrongCodeMessage = (triesLeft: number): string =>
  `That is not the latest code. You have ${triesLeft === 1 ? "one more try" : `${triesLeft} more tries`}.`
