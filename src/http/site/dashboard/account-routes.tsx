import { Elysia } from "elysia"
import { type Log, logError } from "../../../base/log.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { normalizeAccountEmail } from "../../../customers/accounts/account-email.ts"
import { exportAccount } from "../../../customers/accounts/account-export.ts"
import { removeAccount } from "../../../customers/accounts/accounts.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { endOtherSessions, endSession } from "../../../customers/sign-in/sessions.ts"
import type { ChangeLog } from "../../../customers/store/change-log/change-log.ts"
import { acceptTerms } from "../../../customers/terms/terms.ts"
import { Problem } from "../../response/problem.ts"
import type { Cookies } from "../cookies.ts"
import type { Guards } from "../guards.ts"
import { type PageResponses, streamText } from "../page-responses.ts"
import { flashMessage } from "../ui/forms.tsx"
import { ACCOUNT_FLASH, AccountDeletedPage, AccountPage, accountPageReader } from "./account-page.tsx"

/** @jsxImportSource preact */
/** What the pages about the account itself are built from. */
export type AccountRoutesDeps = {
  readonly pages: PageResponses
  readonly enter: Guards
  readonly cookies: Cookies
  readonly changes: ChangeLog
  readonly tiers: readonly TierLimits[]
}

/** The page about the account itself, what its forms do, and the way out. */
export function accountPageRoutes({ pages, enter, cookies, changes, tiers }: AccountRoutesDeps) {
  const { store } = changes
  const viewOf = accountPageReader(changes, tiers)
  const { path } = ROUTES.account
  return new Elysia({ normalize: false })
    .get(path, ({ request }) =>
      enter.requireAccount.page(request, async visitor => {
        return <AccountPage data={await viewOf(visitor)} flash={flashMessage(request.url, ACCOUNT_FLASH)} />
      }),
    )
    .post(
      ROUTES.postSessionEnd.path,
      ({ request }) =>
        enter.requireAccount.form(request, async ({ account, session }, form) => {
          const id = form.text("session")
          if (id === "") await endOtherSessions(store, account.id, session.id)
          else await endSession(store, account.id, id)
          return pages.redirect(`${path}?done=${id === "" ? "sessions-ended" : "session-ended"}`, request)
        }),
      { parse: "none" },
    )
    .post(
      ROUTES.postSignOut.path,
      ({ request }) =>
        enter.allowAnonymousForm(request, async () => {
          const visitor = await enter.signedInUser(request)
          if (visitor !== null) await endSession(store, visitor.account.id, visitor.session.id)
          return pages.redirect(ROUTES.home.path, request, { "Set-Cookie": cookies.clear("session") })
        }),
      { parse: "none" },
    )
}

/** @jsxImportSource preact */
/** What lets people take along what is theirs, and go. */
type AccountDataRoutesDeps = {
  readonly pages: PageResponses
  readonly enter: Guards
  readonly cookies: Cookies
  readonly changes: ChangeLog
  readonly tiers: readonly TierLimits[]
  readonly log: Log
}

const EXPORT_FILE = { fileName: "mailkind-account.json", mediaType: "application/json" } as const

/** Everything that is kept about the account as a file, and the deletion of the account. */
export function accountDataRoutes({ pages, enter, cookies, changes, tiers, log }: AccountDataRoutesDeps) {
  const { store, clock } = changes
  const viewOf = accountPageReader(changes, tiers)
  return new Elysia({ normalize: false })
    .get(ROUTES.accountExport.path, ({ request }) =>
      enter.requireAccount.page(request, async ({ account }) => {
        const parts = exportAccount(store, clock(), account.id)
        return pages.download(streamText(parts, logError(log, "an export broke off")), request, EXPORT_FILE)
      }),
    )
    .post(
      ROUTES.postAccountDeletion.path,
      ({ request }) =>
        enter.requireAccount.form(request, async (visitor, form) => {
          const input = form.text("email")
          if (normalizeAccountEmail(input) === visitor.account.email) {
            await removeAccount(changes, visitor.account.id)
            return pages.render(<AccountDeletedPage />, request, {
              headers: { "Set-Cookie": cookies.clear("session") },
            })
          }
          const page = <AccountPage data={await viewOf(visitor)} flash={null} rejectedDeletion={{ input }} />
          return pages.render(page, request, { status: PROBLEMS.invalid_input.status })
        }),
      { parse: "none" },
    )
}

/** @jsxImportSource preact */
/** What accepts terms. */
type TermsAcceptanceRoutesDeps = {
  readonly pages: PageResponses
  readonly enter: Guards
  readonly changes: ChangeLog
  readonly tiers: readonly TierLimits[]
}

const NEWER_TERMS_PUBLISHED =
  "Nothing was accepted: newer terms were published since that page was shown. Please read the version that is named above."

/** What the button under the terms does: it accepts the version that was shown, and no other. */
export function termsAcceptanceRoutes({ pages, enter, changes, tiers }: TermsAcceptanceRoutesDeps) {
  const viewOf = accountPageReader(changes, tiers)
  const { path } = ROUTES.account
  return new Elysia({ normalize: false }).post(
    ROUTES.postTermsAcceptance.path,
    ({ request }) =>
      enter.requireAccount.form(request, async (visitor, form) => {
        const result = await acceptTerms(changes, visitor.account.id, form.text("version"))
        if (result.kind === "accepted") return pages.redirect(`${path}?done=terms-accepted`, request)
        if (result.kind === "unknown_account") throw new Problem("not_found", "Your account was deleted a moment ago.")
        if (result.kind === "none_published" || visitor.terms.kind === "accepted")
          return pages.redirect(`${path}?done=terms-settled`, request)
        // Another process may have published them, and this one not have read of it yet.
        const { version, url } = result.terms
        const view = await viewOf({ ...visitor, terms: { ...visitor.terms, version, url } })
        const page = <AccountPage data={view} flash={null} error={NEWER_TERMS_PUBLISHED} />
        return pages.render(page, request, { status: PROBLEMS.invalid_input.status })
      }),
    { parse: "none" },
  )
}
