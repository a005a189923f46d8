/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { ROUTES } from "../../../contract/routes.ts"
import { normalizeAccountEmail } from "../../../customers/accounts/account-email.ts"
import { createAccount, findAccount, searchAccounts, setTier } from "../../../customers/accounts/accounts.ts"
import { findKey, listKeys, revokeKey } from "../../../customers/keys/keys.ts"
import { listSessions } from "../../../customers/sign-in/sessions.ts"
import { currentTermsVersion } from "../../../customers/terms/terms.ts"
import { Problem } from "../../response/problem.ts"
import type { SignedInUser } from "../guards.ts"
import { flashMessage, pathWithId, queryParameter, withFlash } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import { paginate } from "../ui/pagination.tsx"
import { type AccountDetails, ADMIN_ACCOUNT_FLASH, AdminAccountPage, KeyRevocationPage } from "./account-page.tsx"
import { AccountsPage, parseTier, type RejectedAccountForm } from "./accounts-page.tsx"
import { ROWS_PER_PAGE } from "./admin-layout.tsx"

/** How many of an account's keys are displayed: the active ones, then the latest revoked ones. */
const KEYS_DISPLAYED_MAX = 100

/** The list of accounts, the page of one account, and their forms. */
export function adminAccountsRoutes(site: SiteContext) {
  const { guards, changes } = site
  return new Elysia({ normalize: false })
    .get(ROUTES.adminAccounts.path, ({ request }) =>
      guards.requireAdmin.page(request, user => accountsPage(site, user, request, null)),
    )
    .post(ROUTES.postAdminAccount.path, ({ request }) => handleCreateAccount(site, request), { parse: "none" })
    .get(ROUTES.adminAccount.path, ({ request, params }) =>
      guards.requireAdmin.page(request, user => adminAccountPage(site, user, request, params.id, null)),
    )
    .post(ROUTES.postAdminTier.path, ({ request, params }) => handleSetTier(site, request, params.id), {
      parse: "none",
    })
    .get(ROUTES.adminKeyRevocation.path, ({ request, params }) =>
      guards.requireAdmin.page(request, async user => {
        const key = await findKey(changes.store, params.id)
        const account = key && (await findAccount(changes.store, key.accountId))
        if (key === null || account === null) throw new Problem("not_found", "No such key.")
        return <KeyRevocationPage user={user} apiKey={key} account={account} />
      }),
    )
    .post(ROUTES.postAdminKeyRevocation.path, ({ request, params }) => handleRevokeKey(site, request, params.id), {
      parse: "none",
    })
}

async function accountsPage(
  { changes: { store }, tiers, defaultTier }: SiteContext,
  user: SignedInUser,
  request: Request,
  rejected: RejectedAccountForm | null,
) {
  const emailPrefix = queryParameter(request.url, "email")
  // If the account of the cursor was deleted meanwhile, the first page is displayed.
  const previous = await findAccount(store, queryParameter(request.url, "after"))
  const accountsRead = await searchAccounts(store, {
    emailPrefix: normalizeAccountEmail(emailPrefix) ?? emailPrefix.normalize("NFC").toLowerCase(),
    afterEmail: previous?.email ?? "",
    countMax: ROWS_PER_PAGE + 1,
  })
  return (
    <AccountsPage
      user={user}
      accounts={paginate(accountsRead, ROWS_PER_PAGE)}
      emailPrefix={emailPrefix}
      isFirstPage={previous === null}
      tiers={tiers}
      defaultTier={defaultTier}
      rejected={rejected}
    />
  )
}

const handleCreateAccount = (site: SiteContext, request: Request) =>
  site.guards.requireAdmin.form(request, async (user, form) => {
    const { pages, changes, random } = site
    const email = form.text("new-email")
    const tier = form.text("tier")
    const termsVersion = await currentTermsVersion(changes.store)
    const creation = await createAccount(changes, random, { email, tier: parseTier(tier), termsVersion })
    if (creation.kind === "created")
      return pages.redirect(withFlash(pathWithId("adminAccount", creation.account.id), "created"), request)
    const page = await accountsPage(site, user, request, { email, tier, reason: creation.kind })
    return pages.renderInvalid(page, request)
  })

async function adminAccountPage(
  site: SiteContext,
  user: SignedInUser,
  request: Request,
  id: string,
  tierError: string | null,
) {
  const details = await readAccountDetails(site, id)
  const flash = flashMessage(request.url, ADMIN_ACCOUNT_FLASH)
  return <AdminAccountPage user={user} details={details} tiers={site.tiers} flash={flash} tierError={tierError} />
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
    termsState: terms.stateOf(account),
  }
}

const handleSetTier = (site: SiteContext, request: Request, id: string) =>
  site.guards.requireAdmin.form(request, async (user, form) => {
    const { pages, changes } = site
    const change = await setTier(changes, id, parseTier(form.text("tier")))
    switch (change.kind) {
      case "changed":
        return pages.redirect(withFlash(pathWithId("adminAccount", id), "tier-set"), request)
      case "unknown_account":
        throw unknownAccountProblem()
      case "unknown_tier": {
        const page = await adminAccountPage(site, user, request, id, "Choose one of the tiers.")
        return pages.renderInvalid(page, request)
      }
    }
  })

const handleRevokeKey = ({ guards, pages, changes }: SiteContext, request: Request, id: string) =>
  guards.requireAdmin.form(request, async () => {
    const revocation = await revokeKey(changes, id, "admin")
    if (revocation.kind === "unknown_key") throw new Problem("not_found", "No such key.")
    const flash = revocation.isNew ? "key-revoked" : "key-revoked-before"
    return pages.redirect(withFlash(pathWithId("adminAccount", revocation.key.accountId), flash), request)
  })

const unknownAccountProblem = () => new Problem("not_found", "No such account; it may have been deleted.")
