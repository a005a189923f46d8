import type { VNode } from "preact"
import { LIMITS } from "../../contract/limits.ts"
import type { Account } from "../../customers/accounts/accounts.ts"
import type { Session, SignedIn } from "../../customers/sign-in/sessions.ts"
import type { TermsState } from "../../customers/terms/held-terms.ts"
import type { Bodies } from "../body.ts"
import type { Load } from "../load.ts"
import { Problem } from "../problem.ts"
import type { Cookies } from "./cookies.ts"
import { type Form, readForm } from "./form.ts"
import { refuseForeign } from "./own-origin.ts"
import type { PageAnswers } from "./page-answers.ts"
import type { RefusedAsPage } from "./refused-page.tsx"

/** Who sits before a page. */
export type Visitor = {
  readonly account: Account
  readonly session: Session
  /** Whether the operator named the account's email in `MAILKIND_ADMINS`. */
  readonly isAdmin: boolean
  /** How the account stands to the terms: every page says so where they wait to be accepted. */
  readonly terms: TermsState
}

/** What a page's work gives: a page to show, or a whole answer. */
export type Shown = VNode | Response

/** The ways into what is for people who are signed in. Whatever is thrown inside is answered as a page. */
export type Entrance = {
  /** Shows a page to who is signed in; others are sent to sign in first. */
  readonly page: (request: Request, work: (visitor: Visitor) => Promise<Shown>) => Promise<Response>
  /** Does what a form of ours asks for. A form has `LIMITS.bodyBytesMax` octets at most, unless told otherwise. */
  readonly form: (
    request: Request,
    work: (visitor: Visitor, form: Form) => Promise<Shown>,
    bytesMax?: number,
  ) => Promise<Response>
}

/** The entrances for accounts and for admins, and for forms of visitors who need not be signed in. */
export type Entrances = {
  readonly account: Entrance
  /** To who is no admin there is no such page: `not_found`. */
  readonly admin: Entrance
  /** Whatever is thrown inside is answered as a page. */
  readonly anybody: (request: Request, work: () => Promise<Shown> | Shown) => Promise<Response>
  readonly anybodysForm: (request: Request, work: (form: Form) => Promise<Shown>) => Promise<Response>
  /** Who is signed in; null: nobody. */
  readonly visitor: (request: Request) => Promise<Visitor | null>
}

/** What the entrances are built from. */
export type EntranceNeeds = {
  readonly pages: PageAnswers
  readonly cookies: Cookies
  readonly baseUrl: () => string
  readonly sessionOf: (secret: string) => Promise<SignedIn | null>
  readonly isAdmin: (email: string) => boolean
  readonly termsOf: (account: Account) => TermsState
  readonly refused: RefusedAsPage
  /** How much the server has to do: pages are refused as anything else is. */
  readonly load: Pick<Load, "refuseShed"> & Bodies
  /** Where somebody signs in who wanted to see the page of this path. */
  readonly signInFor: (path: string) => string
}

/** Builds the entrances of one server. */
export function entrances(needs: EntranceNeeds): Entrances {
  const { pages, baseUrl, refused, load } = needs
  const visitor = visitors(needs)
  const anybody: Entrances["anybody"] = async (request, work) => {
    try {
      const shown = await work()
      return shown instanceof Response ? shown : pages.page(shown, request)
    } catch (error) {
      return refused(error, request)
    }
  }
  /** The free checker has bounds of its own. */
  const served: Entrances["anybody"] = (request, work) => anybody(request, () => withRoom(load, work))
  const formOf = async (request: Request, bytesMax: number = LIMITS.bodyBytesMax): Promise<Form> => {
    refuseForeign(request, baseUrl())
    return await readForm(request, bytesMax, load)
  }
  const entrance = (admits: (who: Visitor) => void): Entrance => {
    /** A form of somebody whose session is over leads to the sign-in too, and from there to the page it stood on. */
    const signInFirst = (request: Request): Response => pages.goTo(needs.signInFor(pageBehind(request)), request)
    return {
      page: (request, work) =>
        served(request, async () => {
          const who = await visitor(request)
          if (who === null) return signInFirst(request)
          admits(who)
          return await work(who)
        }),
      form: (request, work, bytesMax) =>
        served(request, async () => {
          refuseForeign(request, baseUrl())
          const who = await visitor(request)
          if (who === null) return signInFirst(request)
          admits(who)
          return await work(who, await formOf(request, bytesMax))
        }),
    }
  }
  return {
    account: entrance(() => undefined),
    admin: entrance(who => {
      if (!who.isAdmin) throw new Problem("not_found", "No such page.")
    }),
    anybody,
    anybodysForm: (request, work) => served(request, async () => await work(await formOf(request))),
    visitor,
  }
}

/** Does the work unless the server has as much to do as it can. */
function withRoom<T>(load: EntranceNeeds["load"], work: () => T): T {
  load.refuseShed(false)
  return work()
}

/** Finds out who asks. */
function visitors({ cookies, sessionOf, isAdmin, termsOf }: EntranceNeeds): Entrances["visitor"] {
  return async request => {
    const signedIn = await sessionOf(cookies.read(request, "session"))
    if (signedIn === null) return null
    const { account } = signedIn
    return { ...signedIn, isAdmin: isAdmin(account.email), terms: termsOf(account) }
  }
}

/** The path and query of the page that was asked for, or on which a form stood. */
function pageBehind(request: Request): string {
  const url = request.method === "POST" ? URL.parse(request.headers.get("referer") ?? "") : URL.parse(request.url)
  return url === null ? "/" : `${url.pathname}${url.search}`
}
