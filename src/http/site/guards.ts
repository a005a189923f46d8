import type { VNode } from "preact"
import { LIMITS } from "../../contract/limits.ts"
import type { Account } from "../../customers/accounts/accounts.ts"
import type { ActiveSession, Session } from "../../customers/sign-in/sessions.ts"
import type { TermsState } from "../../customers/terms/terms-cache.ts"
import type { LoadShedder } from "../admission/load-shedder.ts"
import type { Exchange } from "../exchange.ts"
import type { KeylessBodyReservations } from "../request/body.ts"
import { Problem } from "../response/problem.ts"
import type { Cookies } from "./cookies.ts"
import { NO_PAGE, type RenderErrorPage } from "./error-page.tsx"
import { readForm, type SubmittedForm } from "./form-body.ts"
import type { PageResponses } from "./page-responses.ts"
import { assertSameOrigin } from "./same-origin.ts"

/** The signed-in user of a request. */
export type SignedInUser = {
  readonly account: Account
  readonly session: Session
  /** Whether the operator named the account's email in `MAILKIND_ADMINS`. */
  readonly isAdmin: boolean
  /** Whether the account has accepted the terms. Every page shows a banner while it has not. */
  readonly terms: TermsState
}

/** What a page handler returns: a page to render, or a complete response. */
export type PageResult = VNode | Response

type UserHandler = (user: SignedInUser) => Promise<PageResult>

/** Runs a handler for signed-in users only. Whatever the handler throws becomes an error page. */
export type Guard = {
  /** Serves a page. Redirects to the sign-in when nobody is signed in. */
  readonly page: (exchange: Exchange, handler: UserHandler) => Promise<Response>
  /** Serves a form of our own pages. `bytesMax` is `LIMITS.bodyBytesMax` by default. */
  readonly form: (
    exchange: Exchange,
    handler: (user: SignedInUser, form: SubmittedForm) => Promise<PageResult>,
    bytesMax?: number,
  ) => Promise<Response>
  /** The same for a form whose body the handler reads by itself, as it arrives. */
  readonly upload: (exchange: Exchange, handler: UserHandler) => Promise<Response>
}

/** The guards of all page handlers. */
export type Guards = {
  readonly requireAccount: Guard
  /** Throws `not_found` for users who are not administrators, so that the page seems not to exist. */
  readonly requireAdmin: Guard
  /**
   * Runs a handler for everybody, without shedding load: the free checker has bounds of its own. The header knows who is signed in,
   * unless the database does not answer.
   */
  readonly allowAnonymous: (exchange: Exchange, handler: () => Promise<PageResult> | PageResult) => Promise<Response>
  /** Serves a form of our own pages for everybody. Its body is bounded as one without a key, whoever is signed in. */
  readonly allowAnonymousForm: (
    exchange: Exchange,
    handler: (form: SubmittedForm) => Promise<PageResult>,
  ) => Promise<Response>
  /** The signed-in user; null when nobody is signed in. */
  readonly signedInUser: (exchange: Exchange) => Promise<SignedInUser | null>
  /** Finds out for the header who looks at a page for everybody. Without a session it asks no database, and it never rejects. */
  readonly findViewer: (exchange: Exchange) => Promise<void>
}

/** What the guards need. */
export type GuardDeps = {
  readonly pages: PageResponses
  readonly cookies: Cookies
  readonly baseUrl: () => string
  readonly findSession: (secret: string) => Promise<ActiveSession | null>
  readonly isAdmin: (email: string) => boolean
  readonly termsStateOf: (account: Account) => TermsState
  readonly renderErrorPage: RenderErrorPage
  /** Sheds page requests as it sheds API requests. */
  readonly loadShedder: Pick<LoadShedder, "assertCapacity"> & KeylessBodyReservations
  readonly clientOf: (request: Request) => string
  /** The path of the sign-in that leads back to `path`. */
  readonly signInPath: (path: string) => string
}

/** Builds the guards of one server. */
export function createGuards(deps: GuardDeps): Guards {
  const { pages, baseUrl, loadShedder } = deps
  const signedInUser = createUserLookup(deps)
  const answer = createAnswer(deps)
  const withCapacity: Guards["allowAnonymous"] = (exchange, handler) =>
    answer(exchange, () => {
      loadShedder.assertCapacity(false)
      return handler()
    })
  const findViewer = createViewerLookup(deps, signedInUser)
  const { readOwnForm, readAnonymousForm } = createFormReaders(deps)
  const createGuard = (assertAllowed: (user: SignedInUser) => void): Guard => {
    const asUser = async (exchange: Exchange, handler: UserHandler): Promise<PageResult> => {
      const user = await signedInUser(exchange)
      if (user === null) return pages.redirect(deps.signInPath(originatingPath(exchange)), exchange)
      assertAllowed(user)
      return await handler(user)
    }
    const upload: Guard["upload"] = (exchange, handler) =>
      withCapacity(exchange, () => {
        assertSameOrigin(exchange.request, baseUrl())
        return asUser(exchange, handler)
      })
    return {
      page: (exchange, handler) => withCapacity(exchange, () => asUser(exchange, handler)),
      form: (exchange, handler, bytesMax) =>
        upload(exchange, async user => await handler(user, await readOwnForm(exchange, bytesMax))),
      upload,
    }
  }
  return {
    requireAccount: createGuard(() => undefined),
    requireAdmin: createGuard(user => {
      if (!user.isAdmin) throw new Problem("not_found", NO_PAGE)
    }),
    allowAnonymous: (exchange, handler) => answer(exchange, () => findViewer(exchange).then(handler)),
    allowAnonymousForm: (exchange, handler) =>
      withCapacity(exchange, () =>
        findViewer(exchange)
          .then(() => readAnonymousForm(exchange))
          .then(handler),
      ),
    signedInUser,
    findViewer,
  }
}

/** Renders what a handler returns. What it throws becomes an error page. */
const createAnswer =
  ({ pages, renderErrorPage }: GuardDeps): Guards["allowAnonymous"] =>
  async (exchange, handler) => {
    try {
      const result = await handler()
      return result instanceof Response ? result : pages.render(result, exchange)
    } catch (error) {
      return renderErrorPage(error, exchange)
    }
  }

/** Readers of forms of our own pages: of a user who is signed in, and of everybody. */
function createFormReaders({ baseUrl, loadShedder, clientOf }: GuardDeps) {
  const readOwnForm = async (exchange: Exchange, bytesMax: number = LIMITS.bodyBytesMax): Promise<SubmittedForm> => {
    assertSameOrigin(exchange.request, baseUrl())
    return await readForm(exchange.request, bytesMax, loadShedder)
  }
  const readAnonymousForm = (exchange: Exchange): Promise<SubmittedForm> =>
    loadShedder.readKeylessBody(clientOf(exchange.request), () => readOwnForm(exchange))
  return { readOwnForm, readAnonymousForm }
}

function createUserLookup({ cookies, findSession, isAdmin, termsStateOf }: GuardDeps): Guards["signedInUser"] {
  return async exchange => {
    const active = await findSession(cookies.read(exchange.request, "session"))
    if (active === null) return null
    const { account } = active
    const user = { ...active, isAdmin: isAdmin(account.email), terms: termsStateOf(account) }
    exchange.viewer = { email: account.email, isAdmin: user.isAdmin }
    return user
  }
}

/** Finds out who looks at a page for everybody. Pages of an account find it out by themselves, and need it. */
const createViewerLookup =
  ({ cookies }: Pick<GuardDeps, "cookies">, signedInUser: Guards["signedInUser"]): Guards["findViewer"] =>
  async exchange => {
    // The page is there without the database too, with the header for strangers.
    if (cookies.read(exchange.request, "session") !== "") await signedInUser(exchange).catch(() => null)
  }

/** The path and query of the requested page; for a form, of the page that holds it. The sign-in leads back there. */
function originatingPath({ request }: Exchange): string {
  const url = request.method === "POST" ? URL.parse(request.headers.get("referer") ?? "") : URL.parse(request.url)
  return url === null ? "/" : `${url.pathname}${url.search}`
}
