/** @jsxImportSource preact */

import { ROUTES } from "../../../contract/routes.ts"
import {
  ACCOUNT_STATES,
  type AccountState,
  createAccount,
  findAccount,
  searchAccounts,
} from "../../../customers/accounts/accounts.ts"
import { invitationLink, invite, listInvitations, revokeInvitation } from "../../../customers/sign-in/invitations.ts"
import { currentTermsVersion } from "../../../customers/terms/terms.ts"
import type { Exchange } from "../../exchange.ts"
import { Problem } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { adminChanges } from "../attributed-changes.ts"
import { flashMessage, pathWithId, queryParameter, withFlash } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import { paginate } from "../ui/pagination.tsx"
import {
  ACCOUNTS_FLASH,
  type AccountFilterValues,
  AccountsPage,
  InvitationLinkPage,
  type RejectedNewAccount,
} from "./accounts-page.tsx"
import { ROWS_PER_PAGE } from "./admin-layout.tsx"
import { parseTier } from "./tier-field.tsx"

/** The list of accounts, and the forms that create and invite. */
export function adminAccountsRoutes(site: SiteContext) {
  const { requireAdmin } = site.guards
  return handlers({
    adminAccounts: exchange => requireAdmin.page(exchange, () => accountsPage(site, exchange)),
    postAdminAccount: exchange => handleCreateAccount(site, exchange),
    postAdminInvitation: exchange => handleInvite(site, exchange),
    postAdminInvitationRevocation: exchange =>
      requireAdmin.form(exchange, async user => {
        if (!(await revokeInvitation(adminChanges(site, user), exchange.params.id)))
          throw new Problem("not_found", "No such invitation. It may have been used or revoked, or have ended.")
        return site.pages.redirect(withFlash(ROUTES.adminAccounts.path, "invitation-revoked"), exchange)
      }),
  })
}

async function accountsPage(
  { changes: { store, clock }, tiers, defaultTier }: SiteContext,
  { request: { url } }: Exchange,
  rejected: RejectedNewAccount | null = null,
) {
  const filter = readFilter(url)
  // If the account of the cursor was deleted meanwhile, the first page is displayed.
  const previous = await findAccount(store, queryParameter(url, "after"))
  const accountsRead = await searchAccounts(store, {
    text: filter.email,
    tier: filter.tier === "" ? undefined : parseTier(filter.tier),
    state: filter.state === "" ? undefined : filter.state,
    after: previous,
    countMax: ROWS_PER_PAGE + 1,
    nowMs: clock(),
  })
  return (
    <AccountsPage
      accounts={paginate(accountsRead, ROWS_PER_PAGE)}
      filter={filter}
      isFirstPage={previous === null}
      tiers={tiers}
      defaultTier={defaultTier}
      flash={flashMessage(url, ACCOUNTS_FLASH)}
      rejected={rejected}
      invitations={await listInvitations(store, clock)}
    />
  )
}

/** What is no tier and no state is not filtered by. */
function readFilter(url: string): AccountFilterValues {
  const [tier, state] = [queryParameter(url, "tier"), queryParameter(url, "state")]
  return {
    email: queryParameter(url, "email"),
    tier: parseTier(tier) < 0 ? "" : tier,
    state: isState(state) ? state : "",
  }
}

const isState = (text: string): text is AccountState => Object.hasOwn(ACCOUNT_STATES, text)

const handleCreateAccount = (site: SiteContext, exchange: Exchange) =>
  site.guards.requireAdmin.form(exchange, async (user, form) => {
    const { pages, changes, random } = site
    const [email, tier] = [form.text("new-email"), form.text("tier")]
    const newAccount = { email, tier: parseTier(tier), termsVersion: await currentTermsVersion(changes.store) }
    const creation = await createAccount(adminChanges(site, user), random, newAccount)
    if (creation.kind === "created")
      return pages.redirect(withFlash(pathWithId("adminAccount", creation.account.id), "created"), exchange)
    const rejected = { email, tier, reason: creation.kind, outcome: "The account was not created." }
    return pages.renderInvalid(await accountsPage(site, exchange, rejected), exchange)
  })

const handleInvite = (site: SiteContext, exchange: Exchange) =>
  site.guards.requireAdmin.form(exchange, async (user, form) => {
    const { pages, random, signIn, baseUrl, hasMailServer } = site
    const [email, tier] = [form.text("new-email"), form.text("tier")]
    const result = await invite(adminChanges(site, user), random, { email, tier: parseTier(tier) })
    if (result.kind !== "invited") {
      const rejected = { email, tier, reason: result.kind, outcome: "Nobody was invited." }
      return pages.renderInvalid(await accountsPage(site, exchange, rejected), exchange)
    }
    const link = invitationLink(baseUrl(), result.link)
    if (await signIn.mailInvitation(result.email, link))
      return pages.redirect(withFlash(ROUTES.adminAccounts.path, "invited"), exchange)
    return <InvitationLinkPage email={result.email} link={link} hasMailServer={hasMailServer} />
  })
