import type { VNode } from "preact"
import { LIMITS } from "../../contract/limits.ts"
import type { Account } from "../../customers/accounts/accounts.ts"
import type { ActiveSession, Session } from "../../customers/sign-in/sessions.ts"
import type { TermsState } from "../../customers/terms/terms-cache.ts"
import type { LoadShedder } from "../admission/load-shedder.ts"
import type { BodyReservations } from "../request/body.ts"
import { Problem } from "../response/problem.ts"
import type { Cookies } from "./cookies.ts"
import type { RenderErrorPage } from "./error-page.tsx"
import { readForm, type SubmittedForm } from "./form-body.ts"
import type { PageResponses } from "./page-responses.ts"
import { assertSameOrigin } from "./same-origin.ts"

/** Who sits before a page. */
export type SignedInUser = {
  readonly account: Account
  readonly session: Session
  /** Whether the operator named the account's email in `MAILKIND_ADMINS`. */
  readonly isAdmin: boolean
  /** How the account stands to the terms: every page says so where they wait to be accepted. */
  readonly terms: TermsState
}

/** What a page's work gives: a page to show, or a whole answer. */
export type PageResult = VNode | Response

/** The ways into what is for people who are signed in. Whatever is thrown inside is answered as a page. */
export type Guard = {
  /** Shows a page to who is signed in; others are sent to sign in first. */
  readonly page: (request: Request, work: (visitor: SignedInUser) => Promise<PageResult>) => Promise<Response>
  /** Does what a form of ours asks for. A form has `LIMITS.bodyBytesMax` octets at most, unless told otherwise. */
  readonly form: (
    request: Request,
    work: (visitor: SignedInUser, form: SubmittedForm) => Promise<PageResult>,
    bytesMax?: number,
  ) => Promise<Response>
}

/** The entrances for accounts and for admins, and for forms of visitors who need not be signed in. */
export type Guards = {
  readonly requireAccount: Guard
  /** To who is no admin there is no such page: `not_found`. */
  readonly requireAdmin: Guard
  /** Whatever is thrown inside is answered as a page. */
  readonly allowAnonymous: (request: Request, work: () => Promise<PageResult> | PageResult) => Promise<Response>
  readonly allowAnonymousForm: (
    request: Request,
    work: (form: SubmittedForm) => Promise<PageResult>,
  ) => Promise<Response>
  /** Who is signed in; null: nobody. */
  readonly signedInUser: (request: Request) => Promise<SignedInUser | null>
}

/** What the entrances are built from. */
export type GuardDeps = {
  readonly pages: PageResponses
  readonly cookies: Cookies
  readonly baseUrl: () => string
  readonly findSession: (secret: string) => Promise<ActiveSession | null>
  readonly isAdmin: (email: string) => boolean
  readonly termsStateOf: (account: Account) => TermsState
  readonly renderErrorPage: RenderErrorPage
  /** How much the server has to do: pages are refused as anything else is. */
  readonly loadShedder: Pick<LoadShedder, "assertCapacity"> & BodyReservations
  /** Where somebody signs in who wanted to see the page of this path. */
  readonly signInPath: (path: string) => string
}

/** Builds the entrances of one server. */
export function createGuards(needs: GuardDeps): Guards {
  const { pages, baseUrl, renderErrorPage, loadShedder } = needs
  const signedInUser = createUserLookup(needs)
  const allowAnonymous: Guards["allowAnonymous"] = async (request, work) => {
    try {
      const shown = await work()
      return shown instanceof Response ? shown : pages.render(shown, request)
    } catch (error) {
      return renderErrorPage(error, request)
    }
  }
  /** The free checker has bounds of its own. */
  const served: Guards["allowAnonymous"] = (request, work) =>
    allowAnonymous(request, () => withCapacity(loadShedder, work))
  const formOf = async (request: Request, bytesMax: number = LIMITS.bodyBytesMax): Promise<SubmittedForm> => {
    assertSameOrigin(request, baseUrl())
    return await readForm(request, bytesMax, loadShedder)
  }
  const entrance = (admits: (who: SignedInUser) => void): Guard => {
    /** A form of somebody whose session is over leads to the sign-in too, and from there to the page it stood on. */
    const signInFirst = (request: Request): Response =>
      pages.redirect(needs.signInPath(originatingPath(request)), request)
    return {
      page: (request, work) =>
        served(request, async () => {
          const who = await signedInUser(request)
          if (who === null) return signInFirst(request)
          admits(who)
          return await work(who)
        }),
      form: (request, work, bytesMax) =>
        served(request, async () => {
          assertSameOrigin(request, baseUrl())
          const who = await signedInUser(request)
          if (who === null) return signInFirst(request)
          admits(who)
          return await work(who, await formOf(request, bytesMax))
        }),
    }
  }
  return {
    requireAccount: entrance(() => undefined),
    requireAdmin: entrance(who => {
      if (!who.isAdmin) throw new Problem("not_found", "No such page.")
    }),
    allowAnonymous,
    allowAnonymousForm: (request, work) => served(request, async () => await work(await formOf(request))),
    signedInUser,
  }
}

/** Does the work unless the server has as much to do as it can. */
function withCapacity<T>(load: GuardDeps["loadShedder"], work: () => T): T {
  load.assertCapacity(false)
  return work()
}

/** Finds out who asks. */
function createUserLookup({ cookies, findSession, isAdmin, termsStateOf }: GuardDeps): Guards["signedInUser"] {
  return async request => {
    const signedIn = await findSession(cookies.read(request, "session"))
    if (signedIn === null) return null
    const { account } = signedIn
    return { ...signedIn, isAdmin: isAdmin(account.email), terms: termsStateOf(account) }
  }
}

/** The path and query of the page that was asked for, or on which a form stood. */
function originatingPath(request: Request): string {
  const url = request.method === "POST" ? URL.parse(request.headers.get("referer") ?? "") : URL.parse(request.url)
  return url === null ? "/" : `${url.pathname}${url.search}`
}
