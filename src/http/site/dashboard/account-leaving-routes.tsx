/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { failing, type Log } from "../../../base/log.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { accountEmail } from "../../../customers/accounts/account-email.ts"
import { accountExport } from "../../../customers/accounts/account-export.ts"
import { removeAccount } from "../../../customers/accounts/accounts.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import type { ChangeLog } from "../../../customers/store/changes.ts"
import type { Cookies } from "../cookies.ts"
import type { PageAnswers } from "../page-answers.ts"
import type { Entrances } from "../signed-in.ts"
import { streamOf } from "../stream-of.ts"
import { DeletedPage } from "./account-deletion.tsx"
import { AccountPage } from "./account-page.tsx"
import { accountViews } from "./account-view.ts"

/** What lets people take along what is theirs, and go. */
export type AccountLeavingNeeds = {
  readonly pages: PageAnswers
  readonly enter: Entrances
  readonly cookies: Cookies
  readonly changes: ChangeLog
  readonly tiers: readonly TierLimits[]
  readonly log: Log
}

const FILE = { name: "mailkind-account.json", mediaType: "application/json" } as const

/** Everything that is kept about the account as a file, and the deletion of the account. */
export function accountLeavingRoutes({ pages, enter, cookies, changes, tiers, log }: AccountLeavingNeeds) {
  const { store, clock } = changes
  const viewOf = accountViews(changes, tiers)
  return new Elysia({ normalize: false })
    .get(ROUTES.accountExport.path, ({ request }) =>
      enter.account.page(request, async ({ account }) => {
        const parts = accountExport(store, clock(), account.id)
        return pages.download(streamOf(parts, failing(log, "an export broke off")), request, FILE)
      }),
    )
    .post(
      ROUTES.postAccountDeletion.path,
      ({ request }) =>
        enter.account.form(request, async (visitor, form) => {
          const typed = form.text("email")
          if (accountEmail(typed) === visitor.account.email) {
            await removeAccount(changes, visitor.account.id)
            return pages.page(<DeletedPage />, request, { headers: { "Set-Cookie": cookies.erase("session") } })
          }
          const page = <AccountPage view={await viewOf(visitor)} done={null} deletion={{ typed }} />
          return pages.page(page, request, { status: PROBLEMS.invalid_input.status })
        }),
      { parse: "none" },
    )
}
