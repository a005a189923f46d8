/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { ROUTES } from "../../../contract/routes.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { endOtherSessions, endSession } from "../../../customers/sign-in/sessions.ts"
import type { ChangeLog } from "../../../customers/store/changes.ts"
import type { Cookies } from "../cookies.ts"
import { doneWords } from "../deed.ts"
import type { PageAnswers } from "../page-answers.ts"
import type { Entrances } from "../signed-in.ts"
import { ACCOUNT_DEEDS, AccountPage } from "./account-page.tsx"
import { accountViews } from "./account-view.ts"

/** What the pages about the account itself are built from. */
export type AccountRoutesNeeds = {
  readonly pages: PageAnswers
  readonly enter: Entrances
  readonly cookies: Cookies
  readonly changes: ChangeLog
  readonly tiers: readonly TierLimits[]
}

/** The page about the account itself, what its forms do, and the way out. */
export function accountRoutes({ pages, enter, cookies, changes, tiers }: AccountRoutesNeeds) {
  const { store } = changes
  const viewOf = accountViews(changes, tiers)
  const { path } = ROUTES.account
  return new Elysia({ normalize: false })
    .get(path, ({ request }) =>
      enter.account.page(request, async visitor => {
        return <AccountPage view={await viewOf(visitor)} done={doneWords(request.url, ACCOUNT_DEEDS)} />
      }),
    )
    .post(
      ROUTES.postSessionEnd.path,
      ({ request }) =>
        enter.account.form(request, async ({ account, session }, form) => {
          const id = form.text("session")
          if (id === "") await endOtherSessions(store, account.id, session.id)
          else await endSession(store, account.id, id)
          return pages.goTo(`${path}?done=${id === "" ? "sessions-ended" : "session-ended"}`, request)
        }),
      { parse: "none" },
    )
    .post(
      ROUTES.postSignOut.path,
      ({ request }) =>
        enter.anybodysForm(request, async () => {
          const visitor = await enter.visitor(request)
          if (visitor !== null) await endSession(store, visitor.account.id, visitor.session.id)
          return pages.goTo(ROUTES.home.path, request, { "Set-Cookie": cookies.erase("session") })
        }),
      { parse: "none" },
    )
}
