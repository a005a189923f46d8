/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { readAccountDetails } from "../../../customers/account-details.ts"
import { normalizeAccountEmail } from "../../../customers/accounts/account-email.ts"
import { type Account, findAccount, setTier } from "../../../customers/accounts/accounts.ts"
import { changeOperatorNote } from "../../../customers/accounts/operator-note.ts"
import { resumeAccount, suspendAccount } from "../../../customers/accounts/suspension.ts"
import { listActsAbout } from "../../../customers/audit/audit.ts"
import { findKey, listKeys, revokeKey } from "../../../customers/keys/keys.ts"
import type { AttributedLog } from "../../../customers/store/change-log/change-log.ts"
import type { Exchange } from "../../exchange.ts"
import { invalidInput, Problem } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { adminChanges, deleteAccount } from "../attributed-changes.ts"
import type { SubmittedForm } from "../form-body.ts"
import type { PageResult, SignedInUser } from "../guards.ts"
import { flashMessage, pathWithId, withFlash } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import { formatNumber } from "../ui/format.ts"
import { AdminAccountDeletionPage, type RejectedAdminForms } from "./account-forms.tsx"
import {
  ACTS_SHOWN,
  ADMIN_ACCOUNT_FLASH,
  AdminAccountPage,
  KeyRevocationPage,
  type PageDetails,
} from "./account-page.tsx"
import { parseTier } from "./tier-field.tsx"

/** How many of an account's keys are displayed: the active ones, then the latest revoked ones. */
const KEYS_DISPLAYED_MAX = 100

/** The page of an account, with the forms that change it or one of its keys. */
export function adminAccountRoutes(site: SiteContext) {
  const { requireAdmin } = site.guards
  const form = (handle: (sent: SentForm) => Promise<PageResult>) => (exchange: ExchangeWithId) =>
    requireAdmin.form(exchange, (user, fields) =>
      handle({ site, user, exchange, form: fields, id: exchange.params.id, log: adminChanges(site, user) }),
    )
  return handlers({
    adminAccount: exchange =>
      requireAdmin.page(exchange, user => accountPage({ site, user, exchange, id: exchange.params.id })),
    postAdminTier: form(handleTier),
    postAdminNote: form(handleNote),
    postAdminSuspension: form(handleSuspension),
    postAdminResumption: form(handleResumption),
    adminAccountDeletion: exchange =>
      requireAdmin.page(exchange, async user => (
        <AdminAccountDeletionPage account={await otherAccount(site, user, exchange.params.id)} rejected={null} />
      )),
    postAdminAccountDeletion: form(handleDeletion),
    adminKeyRevocation: exchange =>
      requireAdmin.page(exchange, async () => {
        const key = await findKey(site.changes.store, exchange.params.id)
        const account = key && (await findAccount(site.changes.store, key.accountId))
        if (key === null || account === null) throw new Problem("not_found", "No such key.")
        return <KeyRevocationPage apiKey={key} account={account} />
      }),
    postAdminKeyRevocation: form(handleKeyRevocation),
  })
}

type ExchangeWithId = Exchange & { readonly params: { readonly id: string } }

/** A request for the page of an account. */
type PageRequest = {
  readonly site: SiteContext
  readonly user: SignedInUser
  readonly exchange: Exchange
  readonly id: string
}

/** A form about an account, or about a key; `id` is that of its path. */
type SentForm = PageRequest & { readonly form: SubmittedForm; readonly log: AttributedLog }

async function accountPage({ site, user, exchange, id }: PageRequest, rejected: RejectedAdminForms = {}) {
  const details = await readPageDetails(site, id)
  const flash = flashMessage(exchange.request.url, ADMIN_ACCOUNT_FLASH)
  return <AdminAccountPage user={user} details={details} tiers={site.tiers} flash={flash} rejected={rejected} />
}

async function readPageDetails({ changes, terms, usageOf }: SiteContext, id: string): Promise<PageDetails> {
  const { store, clock } = changes
  const account = await findAccount(store, id)
  if (account === null) throw unknownAccount()
  // The usage comes first: reading it writes when keys were last used.
  const usage = await usageOf(account)
  const details = await readAccountDetails({ store, clock, terms }, id)
  if (details === null) throw unknownAccount()
  return {
    ...{ ...details, usage, nowMs: clock() },
    keys: await listKeys(store, id, KEYS_DISPLAYED_MAX),
    acts: await listActsAbout(store, id, ACTS_SHOWN + 1),
  }
}

const unknownAccount = () => new Problem("not_found", "No such account. It may have been deleted.")

/** Leads to the account's page, which says what was done. */
const showDone = ({ site, exchange, id }: PageRequest, done: keyof typeof ADMIN_ACCOUNT_FLASH): Response =>
  site.pages.redirect(withFlash(pathWithId("adminAccount", id), done), exchange)

/** Shows the account's page with a form that was refused. */
const showRefused = async (sent: SentForm, rejected: RejectedAdminForms): Promise<Response> =>
  sent.site.pages.renderInvalid(await accountPage(sent, rejected), sent.exchange)

async function handleTier(sent: SentForm) {
  const { kind } = await setTier(sent.log, sent.id, parseTier(sent.form.text("tier")))
  if (kind === "unknown_account") throw unknownAccount()
  return kind === "changed"
    ? showDone(sent, "tier-set")
    : await showRefused(sent, { tierError: "Choose one of the tiers." })
}

/** A text of several lines: browsers send a line break as two characters. */
const multilineText = (form: SubmittedForm, name: string): string => form.text(name).replaceAll("\r\n", "\n")

async function handleSuspension(sent: SentForm) {
  const { user, id, log, form } = sent
  assertOther(user, id)
  const reason = multilineText(form, "reason")
  const change = await suspendAccount(log, id, reason)
  if (change.kind === "unknown_account") throw unknownAccount()
  if (change.kind === "bad_reason") return await showRefused(sent, { reason })
  return showDone(sent, change.isNew ? "suspended" : "suspended-before")
}

async function handleResumption(sent: SentForm) {
  const change = await resumeAccount(sent.log, sent.id)
  if (change.kind !== "changed") throw unknownAccount()
  return showDone(sent, change.isNew ? "resumed" : "resumed-before")
}

/** Why a note was not saved. */
const NOTE_ERRORS = {
  too_long: `This note is longer than ${formatNumber(LIMITS.operatorNoteLengthMax)} characters. Shorten it and try again.`,
  changed_meanwhile:
    "Another administrator changed this note while you had this page open. Your text is still here, and nothing was saved. To replace the note below, save again.",
} as const

async function handleNote(sent: SentForm) {
  const { form, log, id } = sent
  const typed = multilineText(form, "note")
  const change = await changeOperatorNote(log, id, { note: typed, seen: form.text("seen") })
  if (change.kind === "changed") return showDone(sent, "note-saved")
  if (change.kind === "unknown_account") throw unknownAccount()
  const stored = change.kind === "changed_meanwhile" ? ` The note now: ${change.note || "empty"}` : ""
  return await showRefused(sent, { note: { typed, message: `${NOTE_ERRORS[change.kind]}${stored}` } })
}

/** The account, which is not the administrator's own. Throws a problem otherwise. */
async function otherAccount({ changes }: SiteContext, user: SignedInUser, id: string): Promise<Account> {
  const account = await findAccount(changes.store, id)
  if (account === null) throw unknownAccount()
  assertOther(user, id)
  return account
}

function assertOther({ account }: SignedInUser, id: string): void {
  if (account.id !== id) return
  const detail = "This is your own account. You can delete it on your account page."
  throw invalidInput([{ pointer: "", detail }])
}

async function handleDeletion({ site, user, exchange, id, log, form }: SentForm) {
  const { pages } = site
  const account = await otherAccount(site, user, id)
  const typed = form.text("email")
  if (normalizeAccountEmail(typed) !== account.email)
    return pages.renderInvalid(<AdminAccountDeletionPage account={account} rejected={typed} />, exchange)
  const isNew = await deleteAccount(site, log, id)
  return pages.redirect(withFlash(ROUTES.adminAccounts.path, isNew ? "deleted" : "deleted-before"), exchange)
}

async function handleKeyRevocation(sent: SentForm) {
  const revocation = await revokeKey(sent.log, sent.id, "admin")
  if (revocation.kind === "unknown_key") throw new Problem("not_found", "No such key.")
  return showDone({ ...sent, id: revocation.key.accountId }, revocation.isNew ? "key-revoked" : "key-revoked-before")
}
