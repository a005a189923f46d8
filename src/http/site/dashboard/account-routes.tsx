/** @jsxImportSource preact */

import { logError } from "../../../base/log.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { normalizeAccountEmail } from "../../../customers/accounts/account-email.ts"
import { exportAccount } from "../../../customers/accounts/account-export.ts"
import { setWantedNotices } from "../../../customers/accounts/mail-switches.ts"
import { endOtherSessions, endSession } from "../../../customers/sign-in/sessions.ts"
import { acceptTerms } from "../../../customers/terms/terms.ts"
import { type Exchange, logOf } from "../../exchange.ts"
import { Problem } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { deleteAccount, ownerChanges } from "../attributed-changes.ts"
import { flashMessage, withFlash } from "../links.ts"
import { streamText } from "../page-responses.ts"
import type { SiteContext } from "../site-context.ts"
import {
  ACCOUNT_FLASH,
  AccountDeletedPage,
  AccountPage,
  accountPageReader,
  type ReadAccountPageData,
} from "./account-page.tsx"

/** The account page with its forms: emails, sessions, terms, export and deletion. */
export function accountRoutes(site: SiteContext) {
  const { pages, guards, cookies } = site
  const { requireAccount } = guards
  const readPageData = accountPageReader(site)
  const done = (flash: keyof typeof ACCOUNT_FLASH, exchange: Exchange) =>
    pages.redirect(withFlash(ROUTES.account.path, flash), exchange)
  return handlers({
    account: exchange =>
      requireAccount.page(exchange, async user => (
        <AccountPage data={await readPageData(user)} flash={flashMessage(exchange.request.url, ACCOUNT_FLASH)} />
      )),
    postMailSwitches: exchange =>
      requireAccount.form(exchange, async ({ account }, form) => {
        const isThere = await setWantedNotices(ownerChanges(site, { account }), account.id, form.all("mail"))
        if (!isThere) throw new Problem("not_found", ACCOUNT_GONE)
        return done("emails-saved", exchange)
      }),
    postSessionEnd: exchange =>
      requireAccount.form(exchange, async ({ account, session }, form) => {
        const id = form.text("session")
        if (id === "") await endOtherSessions(ownerChanges(site, { account }), account.id, session.id)
        else await endSession(ownerChanges(site, { account }), account.id, id)
        return done(id === "" ? "sessions-ended" : "session-ended", exchange)
      }),
    postSignOut: exchange =>
      guards.allowAnonymousForm(exchange, async () => {
        const user = await guards.signedInUser(exchange)
        if (user !== null) await endSession(ownerChanges(site, user), user.account.id, user.session.id)
        return pages.redirect(ROUTES.home.path, exchange, { "Set-Cookie": cookies.clear("session") })
      }),
    postTermsAcceptance: exchange =>
      requireAccount.form(exchange, async (user, form) => {
        const result = await acceptTerms(ownerChanges(site, user), user.account.id, form.text("version"))
        if (result.kind === "accepted") return done("terms-accepted", exchange)
        if (result.kind === "unknown_account") throw new Problem("not_found", ACCOUNT_GONE)
        if (result.kind === "none_published" || user.terms.kind === "accepted") return done("terms-settled", exchange)
        // Another process may have published newer terms that this process has not read yet.
        const { version, url } = result.terms
        const data = await readPageData({ ...user, terms: { ...user.terms, version, url } })
        return pages.renderInvalid(<AccountPage data={data} flash={null} error={NEWER_TERMS_PUBLISHED} />, exchange)
      }),
    ...dataRoutes(site, readPageData),
  })
}

/** The export of all data of the account as a file, and the deletion of the account. */
function dataRoutes(site: SiteContext, readPageData: ReadAccountPageData) {
  const { pages, guards, cookies, changes, requestLog, log } = site
  return handlers({
    accountExport: exchange =>
      guards.requireAccount.page(exchange, async ({ account }) => {
        await requestLog?.flushAccount(account.id)
        const parts = exportAccount(changes.store, changes.clock(), account.id)
        return pages.download(
          streamText(parts, logError(logOf(log, exchange), "account export failed")),
          exchange,
          EXPORT_FILE,
        )
      }),
    postAccountDeletion: exchange =>
      guards.requireAccount.form(exchange, async (user, form) => {
        const input = form.text("email")
        if (normalizeAccountEmail(input) !== user.account.email) {
          const page = <AccountPage data={await readPageData(user)} flash={null} rejectedDeletion={{ input }} />
          return pages.renderInvalid(page, exchange)
        }
        await deleteAccount(site, ownerChanges(site, user), user.account.id)
        exchange.viewer = null
        return pages.render(<AccountDeletedPage />, exchange, { headers: { "Set-Cookie": cookies.clear("session") } })
      }),
  })
}

const EXPORT_FILE = { fileName: "mailkind-account.json", mediaType: "application/json" } as const

const ACCOUNT_GONE = "Your account was deleted a moment ago."

/** Only the version that was displayed is accepted. */
const NEWER_TERMS_PUBLISHED =
  "Nothing was accepted, because newer terms were published while you had the page open. Read the version above."
