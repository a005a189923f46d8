/** @jsxImportSource preact */
import { Elysia } from "elysia"
import type { Random } from "../../../base/clock.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Usage } from "../../../contract/usage-schema.ts"
import { accountEmail } from "../../../customers/accounts/account-email.ts"
import { createAccount, findAccount, searchAccounts, setTier } from "../../../customers/accounts/accounts.ts"
import type { HeldAccount } from "../../../customers/keys/held-keys.ts"
import { findKey, listKeys, revokeKey } from "../../../customers/keys/keys.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { listSessions } from "../../../customers/sign-in/sessions.ts"
import type { ChangeLog } from "../../../customers/store/changes.ts"
import type { HeldTerms } from "../../../customers/terms/held-terms.ts"
import { currentTermsVersion } from "../../../customers/terms/terms.ts"
import { Problem } from "../../problem.ts"
import { doneWords } from "../deed.ts"
import type { PageAnswers } from "../page-answers.ts"
import type { Entrances, Visitor } from "../signed-in.ts"
import { AccountsPage, type RefusedAccount } from "./accounts-page.tsx"
import { KeyRevocationPage } from "./key-revocation-page.tsx"
import { ACCOUNT_DEEDS, OneAccountPage, type ShownAccount } from "./one-account-page.tsx"
import { pageOfRows, ROWS_PER_PAGE } from "./page-of-rows.tsx"
import { adminPaths, parameterOf } from "./paths.ts"
import { tierIn } from "./tier-words.ts"

/** What the pages about accounts are built from. */
export type AccountsNeeds = {
  readonly pages: PageAnswers
  readonly enter: Entrances
  readonly changes: ChangeLog
  readonly random: Random
  readonly terms: HeldTerms
  readonly tiers: readonly TierLimits[]
  readonly defaultTier: number
  readonly usageOf: (account: HeldAccount) => Promise<Usage>
}

/** How many of an account's keys are shown: the active ones and the latest revoked. */
const KEYS_SHOWN_MAX = 100

/** The accounts, one account, and what is done about them. */
export function accountsRoutes(needs: AccountsNeeds) {
  const { enter, changes } = needs
  return new Elysia({ normalize: false })
    .get(ROUTES.adminAccounts.path, ({ request }) =>
      enter.admin.page(request, visitor => accountsPage(needs, visitor, request, null)),
    )
    .post(ROUTES.postAdminAccount.path, ({ request }) => accountCreated(needs, request), { parse: "none" })
    .get(ROUTES.adminAccount.path, ({ request, params }) =>
      enter.admin.page(request, visitor => oneAccountPage(needs, visitor, request, params.id, null)),
    )
    .post(ROUTES.postAdminTier.path, ({ request, params }) => tierSet(needs, request, params.id), { parse: "none" })
    .get(ROUTES.adminKeyRevocation.path, ({ request, params }) =>
      enter.admin.page(request, async visitor => {
        const key = await findKey(changes.store, params.id)
        const account = key && (await findAccount(changes.store, key.accountId))
        if (key === null || account === null) throw new Problem("not_found", "No such key.")
        return <KeyRevocationPage visitor={visitor} shown={key} account={account} />
      }),
    )
    .post(ROUTES.postAdminKeyRevocation.path, ({ request, params }) => keyRevoked(needs, request, params.id), {
      parse: "none",
    })
}

async function accountsPage(
  { changes: { store }, tiers, defaultTier }: AccountsNeeds,
  visitor: Visitor,
  request: Request,
  refused: RefusedAccount | null,
) {
  const beginning = parameterOf(request.url, "email")
  // An account that went meanwhile is no place to go on from: then the first page is shown.
  const before = await findAccount(store, parameterOf(request.url, "after"))
  const found = await searchAccounts(store, {
    beginning: accountEmail(beginning) ?? beginning.normalize("NFC").toLowerCase(),
    afterEmail: before?.email ?? "",
    countMax: ROWS_PER_PAGE + 1,
  })
  const page = { visitor, tiers, defaultTier, beginning, refused }
  return <AccountsPage {...page} accounts={pageOfRows(found)} isFirst={before === null} />
}

const accountCreated = (needs: AccountsNeeds, request: Request) =>
  needs.enter.admin.form(request, async (visitor, form) => {
    const { pages, changes, random } = needs
    const [email, tier] = [form.text("new-email"), form.text("tier")]
    const termsVersion = await currentTermsVersion(changes.store)
    const made = await createAccount(changes, random, { email, tier: tierIn(tier), termsVersion })
    if (made.kind === "created") return pages.goTo(`${adminPaths.account(made.account.id)}?done=created`, request)
    const page = await accountsPage(needs, visitor, request, { email, tier, refusal: made.kind })
    return pages.page(page, request, { status: PROBLEMS.invalid_input.status })
  })

async function oneAccountPage(
  needs: AccountsNeeds,
  visitor: Visitor,
  request: Request,
  id: string,
  fault: string | null,
) {
  const shown = await shownAccount(needs, id)
  const done = doneWords(request.url, ACCOUNT_DEEDS)
  return <OneAccountPage visitor={visitor} shown={shown} tiers={needs.tiers} done={done} fault={fault} />
}

async function shownAccount({ changes, terms, usageOf }: AccountsNeeds, id: string): Promise<ShownAccount> {
  const { store, clock } = changes
  const account = await findAccount(store, id)
  if (account === null) throw noAccount()
  const { today } = await usageOf(account)
  return {
    account,
    keys: await listKeys(store, id, KEYS_SHOWN_MAX),
    today,
    sessionCount: (await listSessions(store, clock, id)).length,
    termsState: terms.stateOf(account),
  }
}

const tierSet = (needs: AccountsNeeds, request: Request, id: string) =>
  needs.enter.admin.form(request, async (visitor, form) => {
    const { pages, changes } = needs
    const change = await setTier(changes, id, tierIn(form.text("tier")))
    switch (change.kind) {
      case "changed":
        return pages.goTo(`${adminPaths.account(id)}?done=tier-set`, request)
      case "unknown_account":
        throw noAccount()
      case "unknown_tier": {
        const page = await oneAccountPage(needs, visitor, request, id, "Choose one of the tiers.")
        return pages.page(page, request, { status: PROBLEMS.invalid_input.status })
      }
    }
  })

const keyRevoked = ({ enter, pages, changes }: AccountsNeeds, request: Request, id: string) =>
  enter.admin.form(request, async () => {
    const revocation = await revokeKey(changes, id, "admin")
    if (revocation.kind === "unknown_key") throw new Problem("not_found", "No such key.")
    const done = revocation.isNew ? "key-revoked" : "key-revoked-before"
    return pages.goTo(`${adminPaths.account(revocation.key.accountId)}?done=${done}`, request)
  })

const noAccount = () => new Problem("not_found", "No such account; it may have been deleted.")
