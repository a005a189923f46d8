/** @jsxImportSource preact */
import { Elysia } from "elysia"
import type { Random } from "../../../base/outside-world.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Usage } from "../../../contract/usage-schema.ts"
import { normalizeAccountEmail } from "../../../customers/accounts/account-email.ts"
import { createAccount, findAccount, searchAccounts, setTier } from "../../../customers/accounts/accounts.ts"
import type { CallerAccount } from "../../../customers/keys/key-cache.ts"
import { findKey, listKeys, revokeKey } from "../../../customers/keys/keys.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { listSessions } from "../../../customers/sign-in/sessions.ts"
import type { ChangeLog } from "../../../customers/store/change-log/change-log.ts"
import { currentTermsVersion } from "../../../customers/terms/terms.ts"
import type { TermsCache } from "../../../customers/terms/terms-cache.ts"
import { Problem } from "../../response/problem.ts"
import type { Guards, SignedInUser } from "../guards.ts"
import { adminPaths, queryParameter } from "../links.ts"
import type { PageResponses } from "../page-responses.ts"
import { flashMessage } from "../ui/forms.tsx"
import { paginate, ROWS_PER_PAGE } from "../ui/pagination.tsx"
import { type AccountDetails, ADMIN_ACCOUNT_FLASH, AdminAccountPage, KeyRevocationPage } from "./account-page.tsx"
import { AccountsPage, parseTier, type RejectedAccountForm } from "./accounts-page.tsx"

/** What the pages about accounts are built from. */
export type AdminAccountsRoutesDeps = {
  readonly pages: PageResponses
  readonly enter: Guards
  readonly changes: ChangeLog
  readonly random: Random
  readonly terms: TermsCache
  readonly tiers: readonly TierLimits[]
  readonly defaultTier: number
  readonly usageOf: (account: CallerAccount) => Promise<Usage>
}

/** How many of an account's keys are shown: the active ones and the latest revoked. */
const KEYS_DISPLAYED_MAX = 100

/** The accounts, one account, and what is done about them. */
export function adminAccountsRoutes(needs: AdminAccountsRoutesDeps) {
  const { enter, changes } = needs
  return new Elysia({ normalize: false })
    .get(ROUTES.adminAccounts.path, ({ request }) =>
      enter.requireAdmin.page(request, visitor => accountsPage(needs, visitor, request, null)),
    )
    .post(ROUTES.postAdminAccount.path, ({ request }) => handleCreateAccount(needs, request), { parse: "none" })
    .get(ROUTES.adminAccount.path, ({ request, params }) =>
      enter.requireAdmin.page(request, visitor => adminAccountPage(needs, visitor, request, params.id, null)),
    )
    .post(ROUTES.postAdminTier.path, ({ request, params }) => handleSetTier(needs, request, params.id), {
      parse: "none",
    })
    .get(ROUTES.adminKeyRevocation.path, ({ request, params }) =>
      enter.requireAdmin.page(request, async visitor => {
        const key = await findKey(changes.store, params.id)
        const account = key && (await findAccount(changes.store, key.accountId))
        if (key === null || account === null) throw new Problem("not_found", "No such key.")
        return <KeyRevocationPage user={visitor} apiKey={key} account={account} />
      }),
    )
    .post(ROUTES.postAdminKeyRevocation.path, ({ request, params }) => handleRevokeKey(needs, request, params.id), {
      parse: "none",
    })
}

async function accountsPage(
  { changes: { store }, tiers, defaultTier }: AdminAccountsRoutesDeps,
  visitor: SignedInUser,
  request: Request,
  refused: RejectedAccountForm | null,
) {
  const beginning = queryParameter(request.url, "email")
  // An account that went meanwhile is no place to go on from: then the first page is shown.
  const before = await findAccount(store, queryParameter(request.url, "after"))
  const found = await searchAccounts(store, {
    emailPrefix: normalizeAccountEmail(beginning) ?? beginning.normalize("NFC").toLowerCase(),
    afterEmail: before?.email ?? "",
    countMax: ROWS_PER_PAGE + 1,
  })
  const page = { visitor, tiers, defaultTier, beginning, refused }
  return <AccountsPage {...page} accounts={paginate(found)} isFirstPage={before === null} />
}

const handleCreateAccount = (needs: AdminAccountsRoutesDeps, request: Request) =>
  needs.enter.requireAdmin.form(request, async (visitor, form) => {
    const { pages, changes, random } = needs
    const [email, tier] = [form.text("new-email"), form.text("tier")]
    const termsVersion = await currentTermsVersion(changes.store)
    const made = await createAccount(changes, random, { email, tier: parseTier(tier), termsVersion })
    if (made.kind === "created") return pages.redirect(`${adminPaths.account(made.account.id)}?done=created`, request)
    const page = await accountsPage(needs, visitor, request, { email, tier, reason: made.kind })
    return pages.render(page, request, { status: PROBLEMS.invalid_input.status })
  })

async function adminAccountPage(
  needs: AdminAccountsRoutesDeps,
  visitor: SignedInUser,
  request: Request,
  id: string,
  fault: string | null,
) {
  const shown = await readAccountDetails(needs, id)
  const done = flashMessage(request.url, ADMIN_ACCOUNT_FLASH)
  return <AdminAccountPage user={visitor} details={shown} tiers={needs.tiers} flash={done} tierError={fault} />
}

async function readAccountDetails(
  { changes, terms, usageOf }: AdminAccountsRoutesDeps,
  id: string,
): Promise<AccountDetails> {
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

const handleSetTier = (needs: AdminAccountsRoutesDeps, request: Request, id: string) =>
  needs.enter.requireAdmin.form(request, async (visitor, form) => {
    const { pages, changes } = needs
    const change = await setTier(changes, id, parseTier(form.text("tier")))
    switch (change.kind) {
      case "changed":
        return pages.redirect(`${adminPaths.account(id)}?done=tier-set`, request)
      case "unknown_account":
        throw unknownAccountProblem()
      case "unknown_tier": {
        const page = await adminAccountPage(needs, visitor, request, id, "Choose one of the tiers.")
        return pages.render(page, request, { status: PROBLEMS.invalid_input.status })
      }
    }
  })

const handleRevokeKey = ({ enter, pages, changes }: AdminAccountsRoutesDeps, request: Request, id: string) =>
  enter.requireAdmin.form(request, async () => {
    const revocation = await revokeKey(changes, id, "admin")
    if (revocation.kind === "unknown_key") throw new Problem("not_found", "No such key.")
    const done = revocation.isNew ? "key-revoked" : "key-revoked-before"
    return pages.redirect(`${adminPaths.account(revocation.key.accountId)}?done=${done}`, request)
  })

const unknownAccountProblem = () => new Problem("not_found", "No such account; it may have been deleted.")
