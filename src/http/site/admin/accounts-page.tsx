/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { AccountRefusal, AccountSummary } from "../../../customers/accounts/accounts.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { Choice, Instant, Refused, TextField } from "../fields.tsx"
import { Table } from "../layout.tsx"
import type { Visitor } from "../signed-in.ts"
import { AdminLayout, grouped } from "./admin-layout.tsx"
import { type PageOfRows, Pager } from "./page-of-rows.tsx"
import { adminPaths } from "./paths.ts"
import { tierName, tierOptions } from "./tier-words.ts"

/** What was typed for a new account, and why there is none. */
export type RefusedAccount = { readonly email: string; readonly tier: string; readonly refusal: AccountRefusal["kind"] }

type Props = {
  readonly visitor: Visitor
  readonly accounts: PageOfRows<AccountSummary>
  /** What the emails begin with, as it was typed; empty: all are shown. */
  readonly beginning: string
  readonly isFirst: boolean
  readonly tiers: readonly TierLimits[]
  readonly defaultTier: number
  /** Null: no account was asked for. */
  readonly refused: RefusedAccount | null
}

/** All accounts page by page, and the form for a new one. */
export function AccountsPage({ visitor, accounts, beginning, isFirst, tiers, defaultTier, refused }: Props) {
  const { rows, last } = accounts
  return (
    <AdminLayout route="adminAccounts" section="adminAccounts" title="Accounts" visitor={visitor}>
      <Refused says={refused && "The account was not created. The form below says why."} />
      <SearchForm beginning={beginning} />
      <p>
        <a href="#new">Create an account</a>
      </p>
      {rows.length === 0 ? (
        <p>{beginning === "" ? "There are no more accounts." : "No account's email begins so."}</p>
      ) : null}
      {rows.length === 0 ? null : (
        <Table caption="Accounts" columns={["Email", "Tier", "Active keys", "Created"]}>
          {rows.map(account => (
            <AccountRow key={account.id} account={account} />
          ))}
        </Table>
      )}
      <Pager
        path={ROUTES.adminAccounts.path}
        parameters={{ email: beginning }}
        after={last?.id ?? null}
        isFirst={isFirst}
      />
      <NewAccountForm tiers={tiers} defaultTier={defaultTier} refused={refused} />
    </AdminLayout>
  )
}

function SearchForm({ beginning }: Pick<Props, "beginning">) {
  return (
    <search>
      <form class="ask" method="get" action={ROUTES.adminAccounts.path}>
        <label for="search">Email begins with</label>
        <input
          id="search"
          name="email"
          type="search"
          maxLength={LIMITS.addressOctetsMax}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={beginning}
        />
        <button type="submit">Search</button>
      </form>
    </search>
  )
}

function AccountRow({ account }: { readonly account: AccountSummary }) {
  const { id, email, tier, activeKeyCount, createdAtMs } = account
  return (
    <tr>
      <th scope="row">
        <a href={adminPaths.account(id)}>{email}</a>
      </th>
      <td>{tierName(tier)}</td>
      <td class="number">{grouped(activeKeyCount)}</td>
      <td>
        <Instant atMs={createdAtMs} />
      </td>
    </tr>
  )
}

/** Why there is no account, and beside which field it is said. */
const REFUSALS: {
  readonly [K in AccountRefusal["kind"]]: { readonly field: "email" | "tier"; readonly says: string }
} = {
  malformed_email: { field: "email", says: "That is no email address that an account can have." },
  email_taken: { field: "email", says: "There is an account with this email already." },
  unknown_tier: { field: "tier", says: "Choose one of the tiers." },
}

function NewAccountForm({ tiers, defaultTier, refused }: Pick<Props, "tiers" | "defaultTier" | "refused">) {
  const refusal = refused && REFUSALS[refused.refusal]
  const faultAt = (field: "email" | "tier") => (refusal?.field === field ? refusal.says : null)
  return (
    <section aria-labelledby="new">
      <h2 id="new">Create an account</h2>
      <p>
        Its owner signs in with a link that we mail. The terms count as accepted: create it for somebody who has agreed
        to them.
      </p>
      <form class="form" method="post" action={ROUTES.postAdminAccount.path}>
        <TextField
          name="new-email"
          label="Email"
          type="email"
          required
          maxLength={LIMITS.addressOctetsMax}
          autocomplete="off"
          value={refused?.email ?? ""}
          fault={faultAt("email")}
        />
        <Choice
          name="tier"
          label="Tier"
          options={tierOptions(tiers)}
          chosen={refused?.tier ?? String(defaultTier)}
          fault={faultAt("tier")}
        />
        <button type="submit">Create the account</button>
      </form>
    </section>
  )
}
