/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import type { ChangeLog } from "../../../customers/store/changes.ts"
import { acceptTerms } from "../../../customers/terms/terms.ts"
import { Problem } from "../../problem.ts"
import type { PageAnswers } from "../page-answers.ts"
import type { Entrances } from "../signed-in.ts"
import { AccountPage } from "./account-page.tsx"
import { accountViews } from "./account-view.ts"

/** What accepts terms. */
export type TermsRoutesNeeds = {
  readonly pages: PageAnswers
  readonly enter: Entrances
  readonly changes: ChangeLog
  readonly tiers: readonly TierLimits[]
}

const CHANGED =
  "Nothing was accepted: newer terms were published since that page was shown. Please read the version that is named above."

/** What the button under the terms does: it accepts the version that was shown, and no other. */
export function termsRoutes({ pages, enter, changes, tiers }: TermsRoutesNeeds) {
  const viewOf = accountViews(changes, tiers)
  const { path } = ROUTES.account
  return new Elysia({ normalize: false }).post(
    ROUTES.postTermsAcceptance.path,
    ({ request }) =>
      enter.account.form(request, async (visitor, form) => {
        const result = await acceptTerms(changes, visitor.account.id, form.text("version"))
        if (result.kind === "accepted") return pages.goTo(`${path}?done=terms-accepted`, request)
        if (result.kind === "unknown_account") throw new Problem("not_found", "Your account was deleted a moment ago.")
        if (result.kind === "none_published" || visitor.terms.kind === "accepted")
          return pages.goTo(`${path}?done=terms-settled`, request)
        // Another process may have published them, and this one not have read of it yet.
        const { version, url } = result.terms
        const view = await viewOf({ ...visitor, terms: { ...visitor.terms, version, url } })
        const page = <AccountPage view={view} done={null} refused={CHANGED} />
        return pages.page(page, request, { status: PROBLEMS.invalid_input.status })
      }),
    { parse: "none" },
  )
}
