/** @jsxImportSource preact */

import { domainToALabels } from "../../../base/idna.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { normalizeAccountEmail } from "../../../customers/accounts/account-email.ts"
import {
  type AccountSearch,
  createAccount,
  findAccount,
  searchAccounts,
  setTier,
} from "../../../customers/accounts/accounts.ts"
import { readOperatorNote } from "../../../customers/accounts/operator-note.ts"
import { listActsAbout } from "../../../customers/audit/audit.ts"
import { findKey, listKeys, revokeKey } from "../../../customers/keys/keys.ts"
import { invitationLink, invite, listInvitations, revokeInvitation } from "../../../customers/sign-in/invitations.ts"
import { listSessions } from "../../../customers/sign-in/sessions.ts"
import { currentTermsVersion } from "../../../customers/terms/terms.ts"
import type { Exchange } from "../../exchange.ts"
import { Problem } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { adminChanges } from "../attributed-changes.ts"
import type { SignedInUser } from "../guards.ts"
import { flashMessage, pathWithId, queryParameter, withFlash } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import { paginate } from "../ui/pagination.tsx"
import type { RejectedAdminForms } from "./account-forms.tsx"
import { type AccountDetails, ADMIN_ACCOUNT_FLASH, AdminAccountPage, KeyRevocationPage } from "./account-page.tsx"
import { ACCOUNTS_FLASH, AccountsPage, type RejectedAccountForm } from "./accounts-page.tsx"
import { ROWS_PER_PAGE } from "./admin-layout.tsx"
import { InvitationLinkPage, type RejectedInvitation } from "./invitation-section.tsx"
import { parseTier } from "./tier-labels.ts"

/** How many of an account's keys are displayed: the active ones, then the latest revoked ones. */
const KEYS_DISPLAYED_MAX = 100

/** How many of the latest acts of administrators are displayed with an account. */
const ACTS_DISPLAYED_MAX = 20

/** The list of accounts, the page of one account, and their forms. */
export function adminAccountsRoutes(site: SiteContext) {
  const { guards, changes } = site
  return handlers({
    adminAccounts: exchange => guards.requireAdmin.page(exchange, () => accountsPage(site, exchange, null)),
    postAdminAccount: exchange => handleCreateAccount(site, exchange),
    postAdminInvitation: exchange => handleInvite(site, exchange),
    postAdminInvitationRevocation: exchange => handleInvitationRevocation(site, exchange, exchange.params.id),
    adminAccount: exchange =>
      guards.requireAdmin.page(exchange, user => adminAccountPage(site, user, exchange, exchange.params.id)),
    postAdminTier: exchange => handleSetTier(site, exchange, exchange.params.id),
    adminKeyRevocation: exchange =>
      guards.requireAdmin.page(exchange, async () => {
        const key = await findKey(changes.store, exchange.params.id)
        const account = key && (await findAccount(changes.store, key.accountId))
        if (key === null || account === null) throw new Problem("not_found", "No such key.")
        return <KeyRevocationPage apiKey={key} account={account} />
      }),
    postAdminKeyRevocation: exchange => handleRevokeKey(site, exchange, exchange.params.id),
  })
}

async function accountsPage(
  { changes: { store, clock }, tiers, defaultTier }: SiteContext,
  exchange: Exchange,
  rejected: RejectedAccountForm | null,
  rejectedInvitation: RejectedInvitation | null = null,
) {
  const search = queryParameter(exchange.request.url, "email")
  // If the account of the cursor was deleted meanwhile, the first page is displayed.
  const previous = await findAccount(store, queryParameter(exchange.request.url, "after"))
  const accountsRead = await searchAccounts(store, {
    ...parseAccountSearch(search),
    afterEmail: previous?.email ?? "",
    countMax: ROWS_PER_PAGE + 1,
    nowMs: clock(),
  })
  return (
    <AccountsPage
      accounts={paginate(accountsRead, ROWS_PER_PAGE)}
      search={search}
      isFirstPage={previous === null}
      tiers={tiers}
      defaultTier={defaultTier}
      flash={flashMessage(exchange.request.url, ACCOUNTS_FLASH)}
      rejected={rejected}
      invitations={await listInvitations(store, clock)}
      rejectedInvitation={rejectedInvitation}
    />
  )
}

/** A key's last characters: its checksum, in base 62. */
const KEY_LAST4 = /^[0-9A-Za-z]{4}$/

/** What a search text may be: the beginning of an email, a domain with or without its `@`, or the end of a key. */
function parseAccountSearch(search: string): Pick<AccountSearch, "emailPrefix" | "domain" | "keyLast4"> {
  const lower = search.normalize("NFC").toLowerCase()
  const domain = /^@?([^@\s]+\.[^@\s]+)$/.exec(lower)?.[1] ?? /^@([^@\s]+)$/.exec(lower)?.[1] ?? null
  return {
    emailPrefix: normalizeAccountEmail(search) ?? lower,
    domain: domain === null ? null : domainToALabels(domain),
    keyLast4: KEY_LAST4.test(search) ? search : null,
  }
}

const handleCreateAccount = (site: SiteContext, exchange: Exchange) =>
  site.guards.requireAdmin.form(exchange, async (user, form) => {
    const { pages, changes, random } = site
    const email = form.text("new-email")
    const tier = form.text("tier")
    const newAccount = { email, tier: parseTier(tier), termsVersion: await currentTermsVersion(changes.store) }
    const creation = await createAccount(adminChanges(site, user), random, newAccount)
    if (creation.kind === "created")
      return pages.redirect(withFlash(pathWithId("adminAccount", creation.account.id), "created"), exchange)
    const page = await accountsPage(site, exchange, { email, tier, reason: creation.kind })
    return pages.renderInvalid(page, exchange)
  })

const handleInvite = (site: SiteContext, exchange: Exchange) =>
  site.guards.requireAdmin.form(exchange, async (user, form) => {
    const { pages, random, signIn, baseUrl, hasMailServer } = site
    const [email, tier] = [form.text("invited-email"), form.text("invited-tier")]
    const result = await invite(adminChanges(site, user), random, { email, tier: parseTier(tier) })
    if (result.kind !== "invited")
      return pages.renderInvalid(
        await accountsPage(site, exchange, null, { email, tier, reason: result.kind }),
        exchange,
      )
    const link = invitationLink(baseUrl(), result.link)
    if (await signIn.mailInvitation(result.email, link))
      return pages.redirect(withFlash(ROUTES.adminAccounts.path, "invited"), exchange)
    return <InvitationLinkPage email={result.email} link={link} hasMailServer={hasMailServer} />
  })

const handleInvitationRevocation = (site: SiteContext, exchange: Exchange, id: string) =>
  site.guards.requireAdmin.form(exchange, async user => {
    if (!(await revokeInvitation(adminChanges(site, user), id)))
      throw new Problem("not_found", "No such invitation. It may have been used or revoked, or have ended.")
    return site.pages.redirect(withFlash(ROUTES.adminAccounts.path, "invitation-revoked"), exchange)
  })

/** The page of an account, with the forms that were refused. */
export async function adminAccountPage(
  site: SiteContext,
  user: SignedInUser,
  exchange: Exchange,
  id: string,
  rejected: RejectedAdminForms = {},
) {
  const details = await readAccountDetails(site, id)
  const flash = flashMessage(exchange.request.url, ADMIN_ACCOUNT_FLASH)
  return <AdminAccountPage user={user} details={details} tiers={site.tiers} flash={flash} rejected={rejected} />
}

async function readAccountDetails({ changes, terms, usageOf }: SiteContext, id: string): Promise<AccountDetails> {
  const { store, clock } = changes
  const account = await findAccount(store, id)
  if (account === null) throw unknownAccountProblem()
  const { today } = await usageOf(account)
  return {
    account,
    keys: await listKeys(store, id, KEYS_DISPLAYED_MAX),
    today,
    sessionCount: (await listSessions(store, clock, id)).length,
    nowMs: clock(),
    termsState: terms.stateOf(account),
    note: await readOperatorNote(store, id),
    acts: await listActsAbout(store, id, ACTS_DISPLAYED_MAX),
  }
}

const handleSetTier = (site: SiteContext, exchange: Exchange, id: string) =>
  site.guards.requireAdmin.form(exchange, async (user, form) => {
    const { pages } = site
    const change = await setTier(adminChanges(site, user), id, parseTier(form.text("tier")))
    switch (change.kind) {
      case "changed":
        return pages.redirect(withFlash(pathWithId("adminAccount", id), "tier-set"), exchange)
      case "unknown_account":
        throw unknownAccountProblem()
      case "unknown_tier": {
        const page = await adminAccountPage(site, user, exchange, id, { tierError: "Choose one of the tiers." })
        return pages.renderInvalid(page, exchange)
      }
    }
  })

const handleRevokeKey = (site: SiteContext, exchange: Exchange, id: string) =>
  site.guards.requireAdmin.form(exchange, async user => {
    const { pages } = site
    const revocation = await revokeKey(adminChanges(site, user), id, "admin")
    if (revocation.kind === "unknown_key") throw new Problem("not_found", "No such key.")
    const flash = revocation.isNew ? "key-revoked" : "key-revoked-before"
    return pages.redirect(withFlash(pathWithId("adminAccount", revocation.key.accountId), flash), exchange)
  })

/** The problem of an account that does not exist. */
export const unknownAccountProblem = () => new Problem("not_found", "No such account. It may have been deleted.")
