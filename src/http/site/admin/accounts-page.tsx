/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { AccountCreationRefusal, AccountSummary } from "../../../customers/accounts/accounts.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import type { Invitation } from "../../../customers/sign-in/invitations.ts"
import { pathWithId } from "../links.ts"
import { formatNumber } from "../ui/format.ts"
import { DateStamp, FlashMessage, FormError } from "../ui/forms.tsx"
import { Pagination, type ResultPage } from "../ui/pagination.tsx"
import { Empty, Panel } from "../ui/panels.tsx"
import { Table, type TableColumn } from "../ui/table.tsx"
import { ACCOUNT_FIELD_ERRORS, AccountFields } from "./account-fields.tsx"
import { AdminLayout } from "./admin-layout.tsx"
import { InvitationSection, type RejectedInvitation } from "./invitation-section.tsx"
import { tierLabel } from "./tier-labels.ts"

/** The flash messages of the page, by the name in its URL. */
export const ACCOUNTS_FLASH = {
  invited: "Invitation sent.",
  "invitation-revoked": "Invitation revoked. Its link does not work any more.",
  deleted: "Account deleted.",
  "deleted-before": "This account was already deleted. Nothing changed.",
} as const satisfies Record<string, string>

/** The values of a rejected form for a new account, and the reason. */
export type RejectedAccountForm = {
  readonly email: string
  readonly tier: string
  readonly reason: AccountCreationRefusal["kind"]
}

type AccountsPageProps = {
  readonly accounts: ResultPage<AccountSummary>
  /** The search text: the beginning of an email, a domain, or the last four characters of a key. Empty: all accounts. */
  readonly search: string
  readonly isFirstPage: boolean
  readonly tiers: readonly TierLimits[]
  readonly defaultTier: number
  readonly flash: string | null
  /** Null: no form was rejected. */
  readonly rejected: RejectedAccountForm | null
  readonly invitations: readonly Invitation[]
  readonly rejectedInvitation: RejectedInvitation | null
}

/** The list of accounts, and the form for a new one. */
export function AccountsPage(props: AccountsPageProps) {
  const { accounts, search, isFirstPage, tiers, defaultTier, flash, rejected } = props
  const { invitations, rejectedInvitation } = props
  const { rows, lastRow } = accounts
  return (
    <AdminLayout route="adminAccounts" section="adminAccounts" title="Accounts">
      <FlashMessage message={flash} />
      <FormError message={rejectedInvitation && "Nobody was invited. See the form below."} />
      <FormError message={rejected && "The account was not created. See the form below."} />
      <AccountSearchForm search={search} />
      <Panel>
        {rows.length === 0 ? (
          <Empty>{search === "" ? "There are no more accounts." : "No account matches."}</Empty>
        ) : (
          <Table caption="Accounts" columns={ACCOUNT_COLUMNS}>
            {rows.map(account => (
              <AccountRow key={account.id} account={account} />
            ))}
          </Table>
        )}
        <Pagination
          path={ROUTES.adminAccounts.path}
          query={{ email: search }}
          after={lastRow?.id ?? null}
          isFirstPage={isFirstPage}
        />
      </Panel>
      <InvitationSection
        invitations={invitations}
        tiers={tiers}
        defaultTier={defaultTier}
        rejected={rejectedInvitation}
      />
      <NewAccountForm tiers={tiers} defaultTier={defaultTier} rejected={rejected} />
    </AdminLayout>
  )
}

function AccountSearchForm({ search }: Pick<AccountsPageProps, "search">) {
  return (
    <search class="filter-row">
      <form class="find-row" method="get" action={ROUTES.adminAccounts.path}>
        <input
          name="email"
          type="search"
          aria-label="Beginning of an email, a domain, or the last four characters of a key"
          placeholder="Email, domain or end of a key"
          maxLength={LIMITS.addressBytesMax}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={search}
        />
        <button type="submit" class="small">
          Search
        </button>
      </form>
      <p class="actions">
        <a class="button small" href="#invite">
          Invite a person
        </a>
        <a class="button small" href="#new">
          Create an account
        </a>
      </p>
    </search>
  )
}

const ACCOUNT_COLUMNS: readonly TableColumn[] = [
  { name: "Email", kind: "text" },
  { name: "State", kind: "pill", onPhone: "first" },
  { name: "Tier", kind: "text" },
  { name: "Active keys", kind: "number", onPhone: "labelled" },
  { name: "Created", kind: "time" },
]

function AccountRow({ account }: { readonly account: AccountSummary }) {
  const { id, email, tier, activeKeyCount, createdAtMs, suspendedAtMs } = account
  return (
    <tr>
      <th scope="row">
        <a href={pathWithId("adminAccount", id)}>
          <bdi>{email}</bdi>
        </a>
      </th>
      <td>{suspendedAtMs === undefined ? "active" : <span class="pill block">suspended</span>}</td>
      <td>{tierLabel(tier)}</td>
      <td class="number">{formatNumber(activeKeyCount)}</td>
      <td>
        <DateStamp atMs={createdAtMs} />
      </td>
    </tr>
  )
}

type NewAccountFormProps = Pick<AccountsPageProps, "tiers" | "defaultTier" | "rejected">

function NewAccountForm({ tiers, defaultTier, rejected }: NewAccountFormProps) {
  const error = rejected && ACCOUNT_FIELD_ERRORS[rejected.reason]
  return (
    <Panel id="new" title="Create an account">
      <p>
        The owner signs in with a code that we send by email. The terms count as accepted, so create an account only for
        someone who agreed to them.
      </p>
      <form class="form" method="post" action={ROUTES.postAdminAccount.path}>
        <AccountFields emailName="new-email" tierName="tier" {...{ tiers, defaultTier, rejected, error }} />
        <button type="submit">Create the account</button>
      </form>
    </Panel>
  )
}
