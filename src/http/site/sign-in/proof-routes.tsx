/** @jsxImportSource preact */
import { Elysia } from "elysia"
import type { VNode } from "preact"
import { LIMITS } from "../../../contract/limits.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { agentWords } from "../../../customers/sign-in/agent-words.ts"
import { typedCode } from "../../../customers/sign-in/code.ts"
import { endSession } from "../../../customers/sign-in/sessions.ts"
import { type Brought, type SigningIn, signIn as signInBy } from "../../../customers/sign-in/sign-in.ts"
import { emailByBrowser, emailByLink } from "../../../customers/sign-in/sign-ins.ts"
import { queryOf } from "../../query.ts"
import type { Form } from "../form.ts"
import type { Shown } from "../signed-in.ts"
import { FirstKeyPage } from "./first-key-page.tsx"
import { leadingTo, ownPage } from "./own-page.ts"
import { CodePage, LinkPage, OverPage } from "./sign-in-page.tsx"
import { nextIn, type SignInParts } from "./sign-in-parts.ts"

/** The pages to which people bring the code or the link of a mail, and what their forms do. */
export function proofRoutes(parts: SignInParts) {
  const { enter } = parts
  return new Elysia({ normalize: false })
    .get(ROUTES.signInCode.path, ({ request }) => enter.anybody(request, () => codePage(parts, request)))
    .post(
      ROUTES.postSignInCode.path,
      ({ request }) => enter.anybodysForm(request, form => codeTyped(parts, request, form)),
      { parse: "none" },
    )
    .get(ROUTES.signInLink.path, ({ request }) => enter.anybody(request, () => linkPage(parts, request)))
    .post(
      ROUTES.postSignInLink.path,
      ({ request }) => enter.anybodysForm(request, form => linkUsed(parts, request, form)),
      { parse: "none" },
    )
}

async function codePage(parts: SignInParts, request: Request): Promise<Shown> {
  const { enter, pages, cookies } = parts
  const next = nextIn(request)
  if ((await enter.visitor(request)) !== null) return pages.goTo(next, request)
  const browser = cookies.read(request, "sign_in")
  if (browser === "") return pages.goTo(leadingTo(ROUTES.signIn.path, next), request)
  return await codeForm(parts, browser, next, null)
}

/** The form for the code, as long as the sign-in of this browser is open. */
async function codeForm(parts: SignInParts, browser: string, next: string, fault: string | null): Promise<VNode> {
  const { signIn, common } = parts
  const email = await emailByBrowser(signIn.store, signIn.clock, browser)
  if (email === null) return <OverPage next={next} end="code" />
  return <CodePage {...(await common(next))} email={email} isLogged={signIn.mails.isLogged(email)} fault={fault} />
}

async function codeTyped(parts: SignInParts, request: Request, form: Form): Promise<Shown> {
  const { limits, cookies } = parts
  limits.brings(request)
  const next = ownPage(form.text("next"))
  const browser = cookies.read(request, "sign_in")
  const code = typedCode(form.text("code"))
  if (code === null) return refused(parts, request, await codeForm(parts, browser, next, NO_CODE))
  const end = await entered(parts, request, next, { kind: "code", browser, code })
  if (end instanceof Response) return end
  if (end.kind === "gone") return refused(parts, request, <OverPage next={next} end="code" />)
  if (end.triesLeft === 0) return refused(parts, request, <OverPage next={next} end="tries" />)
  return refused(parts, request, await codeForm(parts, browser, next, wrongCode(end.triesLeft)))
}

async function linkPage(parts: SignInParts, request: Request): Promise<Shown> {
  const { enter, pages, signIn, common } = parts
  const next = nextIn(request)
  const token = queryOf(request.url).get("token") ?? ""
  const email = await emailByLink(signIn.store, signIn.clock, token)
  if (email !== null) return <LinkPage {...(await common(next))} email={email} token={token} />
  if ((await enter.visitor(request)) !== null) return pages.goTo(next, request)
  return <OverPage next={next} end="link" />
}

async function linkUsed(parts: SignInParts, request: Request, form: Form): Promise<Shown> {
  parts.limits.brings(request)
  const next = ownPage(form.text("next"))
  const end = await entered(parts, request, next, { kind: "link", link: form.text("token") })
  return end instanceof Response ? end : refused(parts, request, <OverPage next={next} end="link" />)
}

/** The answer to who is signed in now, or was before; else why nobody is. */
async function entered(
  parts: SignInParts,
  request: Request,
  next: string,
  brought: Brought,
): Promise<Response | Exclude<SigningIn, { readonly kind: "signed_in" }>> {
  const { enter, pages, cookies, signIn, baseUrl, files } = parts
  const before = await enter.visitor(request)
  const end = await signInBy(signIn, brought, agentWords(request.headers.get("user-agent")))
  // A form that was sent twice: the first time has signed this browser in.
  if (end.kind === "gone" && before !== null) return pages.goTo(next, request)
  if (end.kind !== "signed_in") return end
  // The browser forgets the session that it had, so nobody else may keep it.
  if (before !== null) await endSession(signIn.store, before.account.id, before.session.id)
  const { account, firstKey, opened } = end
  const answer =
    firstKey === null
      ? pages.goTo(next, request)
      : pages.page(
          <FirstKeyPage
            {...{
              email: account.email,
              text: firstKey,
              baseUrl: baseUrl(),
              next,
              scripts: [await files.path("copy.js")],
            }}
          />,
          request,
        )
  answer.headers.append("Set-Cookie", cookies.write("session", opened.secret))
  answer.headers.append("Set-Cookie", cookies.erase("sign_in"))
  return answer
}

const refused = ({ pages }: SignInParts, request: Request, page: VNode): Response =>
  pages.page(page, request, { status: PROBLEMS.invalid_input.status })

const NO_CODE = `The code has ${LIMITS.signInCodeDigits} digits, and nothing else.`

const wrongCode = (triesLeft: number): string =>
  `That is not the latest code. You have ${triesLeft === 1 ? "one more try" : `${triesLeft} more tries`}.`
