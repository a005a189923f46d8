import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { TIERS } from "../../../contract/tiers.ts"
import type { AccountCreationRefusal, AccountSummary } from "../../../customers/accounts/accounts.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import type { SignedInUser } from "../guards.ts"
import { adminPaths } from "../links.ts"
import { FormError, SelectField, TextField, Timestamp } from "../ui/forms.tsx"
import { Table } from "../ui/layout.tsx"
import { Pagination, type ResultPage } from "../ui/pagination.tsx"
import { AdminLayout, formatNumber } from "./admin-layout.tsx"

/** @jsxImportSource preact */
/** What was typed for a new account, and why there is none. */
export type RejectedAccountForm = {
  readonly email: string
  readonly tier: string
  readonly reason: AccountCreationRefusal["kind"]
}

type AccountsPageProps = {
  readonly visitor: SignedInUser
  readonly accounts: ResultPage<AccountSummary>
  /** What the emails begin with, as it was typed; empty: all are shown. */
  readonly beginning: string
  readonly isFirstPage: boolean
  readonly tiers: readonly TierLimits[]
  readonly defaultTier: number
  /** Null: no account was asked for. */
  readonly refused: RejectedAccountForm | null
}

/** All accounts page by page, and the form for a new one. */
export function AccountsPage({
  visitor,
  accounts,
  beginning,
  isFirstPage,
  tiers,
  defaultTier,
  refused,
}: AccountsPageProps) {
  const { rows, lastRow } = accounts
  return (
    <AdminLayout route="adminAccounts" section="adminAccounts" title="Accounts" user={visitor}>
      <FormError message={refused && "The account was not created. The form below says why."} />
      <AccountSearchForm beginning={beginning} />
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
      <Pagination
        path={ROUTES.adminAccounts.path}
        query={{ email: beginning }}
        after={lastRow?.id ?? null}
        isFirstPage={isFirstPage}
      />
      <NewAccountForm tiers={tiers} defaultTier={defaultTier} refused={refused} />
    </AdminLayout>
  )
}

function AccountSearchForm({ beginning }: Pick<AccountsPageProps, "beginning">) {
  return (
    <search>
      <form class="ask" method="get" action={ROUTES.adminAccounts.path}>
        <label for="search">Email begins with</label>
        <input
          id="search"
          name="email"
          type="search"
          maxLength={LIMITS.addressBytesMax}
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
      <td>{tierLabel(tier)}</td>
      <td class="number">{formatNumber(activeKeyCount)}</td>
      <td>
        <Timestamp atMs={createdAtMs} />
      </td>
    </tr>
  )
}

/** Why there is no account, and beside which field it is said. */
const ACCOUNT_FORM_ERRORS: {
  readonly [K in AccountCreationRefusal["kind"]]: { readonly field: "email" | "tier"; readonly message: string }
} = {
  malformed_email: { field: "email", message: "That is no email address that an account can have." },
  email_taken: { field: "email", message: "There is an account with this email already." },
  unknown_tier: { field: "tier", message: "Choose one of the tiers." },
}

function NewAccountForm({ tiers, defaultTier, refused }: Pick<AccountsPageProps, "tiers" | "defaultTier" | "refused">) {
  const refusal = refused && ACCOUNT_FORM_ERRORS[refused.reason]
  const faultAt = (field: "email" | "tier") => (refusal?.field === field ? refusal.message : null)
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
          maxLength={LIMITS.addressBytesMax}
          autocomplete="off"
          value={refused?.email ?? ""}
          error={faultAt("email")}
        />
        <SelectField
          name="tier"
          label="Tier"
          options={tierOptions(tiers)}
          selected={refused?.tier ?? String(defaultTier)}
          error={faultAt("tier")}
        />
        <button type="submit">Create the account</button>
      </form>
    </section>
  )
}

/** A tier's number and name. */
export const tierLabel = (tier: number): string => `${tier} (${TIERS[tier]?.name ?? "not known"})`

/** What accounts of a tier may do. */
export function tierLimitsLabel({ requestsPerSecond, inFlight, unitsPerDay }: TierLimits): string {
  const limits = [
    [requestsPerSecond, "requests a second"],
    [inFlight, "at once"],
    [unitsPerDay, "units a day"],
  ] as const
  const words = limits.flatMap(([limit, what]) => (limit === null ? [] : [`${formatNumber(limit)} ${what}`]))
  return words.length === 0 ? "no limits" : words.join(", ")
}

/** Every tier as a choice, with its limits in words. */
export const tierOptions = (tiers: readonly TierLimits[]) =>
  tiers.map((limits, tier) => ({ value: String(tier), label: `${tierLabel(tier)}: ${tierLimitsLabel(limits)}` }))

/** The tier that a form names; a number that is no tier when it names none. */
export const parseTier = (text: string): number => (/^\d$/.test(text) ? Number(text) : -1)
