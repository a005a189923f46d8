/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { normalizeAccountEmail } from "../../../customers/accounts/account-email.ts"
import { type Account, findAccount, removeAccount } from "../../../customers/accounts/accounts.ts"
import { changeOperatorNote } from "../../../customers/accounts/operator-note.ts"
import { resumeAccount, suspendAccount } from "../../../customers/accounts/suspension.ts"
import { UNIT_POOLS, unitSubject } from "../../../customers/accounts/unit-subjects.ts"
import type { Exchange } from "../../exchange.ts"
import { invalidInput } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { adminChanges } from "../attributed-changes.ts"
import type { SubmittedForm } from "../form-body.ts"
import type { SignedInUser } from "../guards.ts"
import { pathWithId, withFlash } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import { AdminAccountDeletionPage } from "./account-forms.tsx"
import { adminAccountPage, unknownAccountProblem } from "./accounts-routes.tsx"

/** Suspension, resumption, note and deletion of an account. */
export function adminAccountFormRoutes(site: SiteContext) {
  const { guards } = site
  return handlers({
    postAdminSuspension: exchange => handleSuspend(site, exchange, exchange.params.id),
    postAdminResumption: exchange => handleResume(site, exchange, exchange.params.id),
    postAdminNote: exchange => handleNote(site, exchange, exchange.params.id),
    adminAccountDeletion: exchange =>
      guards.requireAdmin.page(exchange, async user => (
        <AdminAccountDeletionPage account={await otherAccount(site, user, exchange.params.id)} rejected={null} />
      )),
    postAdminAccountDeletion: exchange => handleDelete(site, exchange, exchange.params.id),
  })
}

/** The account, which is not the administrator's own. Throws a problem otherwise. */
async function otherAccount({ changes }: SiteContext, user: SignedInUser, id: string): Promise<Account> {
  const account = await findAccount(changes.store, id)
  if (account === null) throw unknownAccountProblem()
  assertOther(user, id)
  return account
}

function assertOther({ account }: SignedInUser, id: string): void {
  if (account.id !== id) return
  const detail = "This is your own account. You can delete it on your account page."
  throw invalidInput([{ pointer: "", detail }])
}

/** A text of several lines: browsers send a line break as two characters. */
const multilineText = (form: SubmittedForm, name: string): string => form.text(name).replaceAll("\r\n", "\n")

const accountPath = (id: string, flash: string): string => withFlash(pathWithId("adminAccount", id), flash)

const handleSuspend = (site: SiteContext, exchange: Exchange, id: string) =>
  site.guards.requireAdmin.form(exchange, async (user, form) => {
    const { pages } = site
    assertOther(user, id)
    const reason = multilineText(form, "reason")
    const change = await suspendAccount(adminChanges(site, user), id, reason)
    switch (change.kind) {
      case "changed":
        return pages.redirect(accountPath(id, change.isNew ? "suspended" : "suspended-before"), exchange)
      case "bad_reason":
        return pages.renderInvalid(await adminAccountPage(site, user, exchange, id, { reason }), exchange)
      case "unknown_account":
        throw unknownAccountProblem()
    }
  })

const handleResume = (site: SiteContext, exchange: Exchange, id: string) =>
  site.guards.requireAdmin.form(exchange, async user => {
    const { pages } = site
    const change = await resumeAccount(adminChanges(site, user), id)
    if (change.kind !== "changed") throw unknownAccountProblem()
    return pages.redirect(accountPath(id, change.isNew ? "resumed" : "resumed-before"), exchange)
  })

/** Why a note was not saved. */
const NOTE_ERRORS = {
  too_long: "This note is too long. Shorten it and try again.",
  changed_meanwhile:
    "Another administrator changed this note while you had this page open. Your text is still here, and nothing was saved. To replace the note below, save again.",
} as const

const handleNote = (site: SiteContext, exchange: Exchange, id: string) =>
  site.guards.requireAdmin.form(exchange, async (user, form) => {
    const { pages } = site
    const typed = multilineText(form, "note")
    const wanted = { note: typed, seen: form.text("seen") }
    const change = await changeOperatorNote(adminChanges(site, user), id, wanted)
    if (change.kind === "changed") return pages.redirect(accountPath(id, "note-saved"), exchange)
    if (change.kind === "unknown_account") throw unknownAccountProblem()
    const stored = change.kind === "changed_meanwhile" ? ` The note now: ${change.note || "empty"}` : ""
    const message = `${NOTE_ERRORS[change.kind]}${stored}`
    return pages.renderInvalid(await adminAccountPage(site, user, exchange, id, { note: { typed, message } }), exchange)
  })

const handleDelete = (site: SiteContext, exchange: Exchange, id: string) =>
  site.guards.requireAdmin.form(exchange, async (user, form) => {
    const { pages, units } = site
    const account = await otherAccount(site, user, id)
    const typed = form.text("email")
    if (normalizeAccountEmail(typed) !== account.email)
      return pages.renderInvalid(<AdminAccountDeletionPage account={account} rejected={typed} />, exchange)
    // What is kept of its day is what it used, without what this process holds for it.
    await units.release(UNIT_POOLS.map(pool => unitSubject(id, pool)))
    const isNew = await removeAccount(adminChanges(site, user), id)
    return pages.redirect(withFlash(ROUTES.adminAccounts.path, isNew ? "deleted" : "deleted-before"), exchange)
  })
