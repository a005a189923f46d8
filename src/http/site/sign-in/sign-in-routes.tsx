/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { accountEmail } from "../../../customers/accounts/account-email.ts"
import { openSignIn } from "../../../customers/sign-in/sign-ins.ts"
import type { Form } from "../form.ts"
import type { Shown } from "../signed-in.ts"
import { leadingTo, ownPage } from "./own-page.ts"
import { proofRoutes } from "./proof-routes.tsx"
import { SignInPage } from "./sign-in-page.tsx"
import { nextIn, type SignInParts, type SignInRoutesNeeds, signInParts } from "./sign-in-parts.ts"

/** The pages by which people sign in, and what their forms do. */
export function signInRoutes(needs: SignInRoutesNeeds) {
  const { pages, enter } = needs
  const parts = signInParts(needs)
  return new Elysia({ normalize: false })
    .get(ROUTES.signIn.path, ({ request }) =>
      enter.anybody(request, async () => {
        const next = nextIn(request)
        if ((await enter.visitor(request)) !== null) return pages.goTo(next, request)
        return <SignInPage {...(await parts.common(next))} email="" fault={null} />
      }),
    )
    .post(ROUTES.postSignIn.path, ({ request }) => enter.anybodysForm(request, form => asked(parts, request, form)), {
      parse: "none",
    })
    .use(proofRoutes(parts))
}

/** Opens a sign-in and sends its mail. Nobody looks whether there is an account: that would show in the answer's time. */
async function asked(parts: SignInParts, request: Request, form: Form): Promise<Shown> {
  const { pages, cookies, limits, signIn, baseUrl } = parts
  limits.asks(request)
  const next = ownPage(form.text("next"))
  const to = accountEmail(form.text("email"))
  if (to === null) {
    const email = form.text("email").slice(0, SHOWN_LENGTH_MAX)
    const page = <SignInPage {...(await parts.common(next))} email={email} fault={NO_ADDRESS} />
    return pages.page(page, request, { status: PROBLEMS.invalid_input.status })
  }
  limits.asksFor(to)
  const { link, code, browser } = await openSignIn(signIn.store, signIn.clock, signIn.random, to)
  const path = leadingTo(ROUTES.signInLink.path, next, { token: link })
  signIn.mails.send({ to, link: `${baseUrl()}${path}`, code })
  return pages.goTo(leadingTo(ROUTES.signInCode.path, next), request, {
    "Set-Cookie": cookies.write("sign_in", browser),
  })
}

const NO_ADDRESS = "This is no email address that can have an account. One looks like name@example.com."

/** How much of what was sent stands in the field again. */
const SHOWN_LENGTH_MAX = 300
