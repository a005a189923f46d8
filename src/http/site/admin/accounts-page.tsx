/** @jsxImportSource preact */
import { capitalized } from "../../../base/text.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { TIERS } from "../../../contract/tiers.ts"
import {
  ACCOUNT_STATES,
  type AccountCreationRefusal,
  type AccountState,
  type AccountSummary,
  accountState,
} from "../../../customers/accounts/accounts.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import type { Invitation, InvitationRefusal } from "../../../customers/sign-in/invitations.ts"
import { pathWithId } from "../links.ts"
import { formatNumber, tierName } from "../ui/format.ts"
import {
  ActionButton,
  ANY_OPTION,
  DateStamp,
  FlashMessage,
  FormError,
  LinkButton,
  SelectField,
  TextField,
  Timestamp,
  VERBATIM,
} from "../ui/forms.tsx"
import { Pagination, type ResultPage } from "../ui/pagination.tsx"
import { Empty, Panel } from "../ui/panels.tsx"
import { type CellColumn, RowTable } from "../ui/table.tsx"
import { AdminLayout, FilterBar, foundLabel } from "./admin-layout.tsx"
import { TierField } from "./tier-field.tsx"

/** The flash messages of the page, by the name in its URL. */
export const ACCOUNTS_FLASH = {
  invited: "Invitation sent.",
  "invitation-revoked": "Invitation revoked. Its link does not work any more.",
  deleted: "Account deleted.",
  "deleted-before": "This account was already deleted. Nothing changed.",
} as const satisfies Record<string, string>

/** The form for a new account that was refused, with what was typed, and why. */
export type RejectedNewAccount = {
  readonly email: string
  readonly tier: string
  /** What happened to the account that it asked for. */
  readonly outcome: string
  readonly reason: AccountCreationRefusal["kind"] | InvitationRefusal
}

/** What is wrong, and in which field. */
const NEW_ACCOUNT_ERRORS: {
  readonly [R in RejectedNewAccount["reason"]]: { readonly [F in "email" | "tier"]?: string }
} = {
  malformed_email: { email: "Enter a valid email address." },
  email_taken: { email: "An account with this email exists already." },
  unknown_tier: { tier: "Choose one of the tiers." },
  too_many_invitations: {
    email: `There are ${LIMITS.invitationsMax} invitations already. Revoke some, or wait until they end.`,
  },
}

/** What the list is filtered by, as the parameters of the page's URL. Empty: not filtered by. */
export type AccountFilterValues = Readonly<Record<"email" | "tier", string>> & { readonly state: AccountState | "" }

type AccountsPageProps = {
  readonly accounts: ResultPage<AccountSummary>
  /** Its `email` is the beginning of an email, a domain, or the last four characters of a key. */
  readonly filter: AccountFilterValues
  readonly isFirstPage: boolean
  readonly tiers: readonly TierLimits[]
  readonly defaultTier: number
  readonly flash: string | null
  /** Null: no form was rejected. */
  readonly rejected: RejectedNewAccount | null
  readonly invitations: readonly Invitation[]
}

/** The list of accounts, the form for a new one, and the invitations that are valid now. */
export function AccountsPage(props: AccountsPageProps) {
  const { accounts, filter, isFirstPage, flash, invitations } = props
  const { rows, lastRow } = accounts
  const found = foundLabel(filter, accounts, isFirstPage, "account")
  return (
    <AdminLayout route="adminAccounts" section="adminAccounts" title="Accounts" action={<NewAccountForm {...props} />}>
      <FlashMessage message={flash} />
      <AccountFilter filter={filter} found={found} />
      <Panel>
        {rows.length === 0 ? (
          <Empty>{found !== null ? "No account matches." : "There are no more accounts."}</Empty>
        ) : (
          <RowTable caption="Accounts, newest first" columns={ACCOUNT_COLUMNS} rows={rows} />
        )}
        <Pagination
          path={ROUTES.adminAccounts.path}
          query={filter}
          after={lastRow?.id ?? null}
          isFirstPage={isFirstPage}
        />
      </Panel>
      {found !== null || invitations.length === 0 ? null : (
        <Panel title="Invitations">
          <RowTable caption="Invitations" columns={INVITATION_COLUMNS} rows={invitations} />
          <p class="hint">
            Their addresses are stored encrypted, and only the links can decrypt them. To replace an invitation, invite
            the address again.
          </p>
        </Panel>
      )}
    </AdminLayout>
  )
}

type AccountFilterProps = Pick<AccountsPageProps, "filter"> & { readonly found: string | null }

const AccountFilter = ({ filter: { email, tier, state }, found }: AccountFilterProps) => (
  <FilterBar path={ROUTES.adminAccounts.path} found={found}>
    <TextField
      name="email"
      label="Search"
      type="search"
      placeholder="Email, domain or end of a key"
      maxLength={LIMITS.addressBytesMax}
      value={email}
      {...VERBATIM}
    />
    <SelectField
      name="tier"
      label="Tier"
      options={[ANY_OPTION, ...TIERS.map((_, at) => ({ value: String(at), label: tierName(at) }))]}
      selected={tier}
    />
    <SelectField
      name="state"
      label="State"
      options={[ANY_OPTION, ...Object.keys(ACCOUNT_STATES).map(value => ({ value, label: capitalized(value) }))]}
      selected={state}
    />
  </FilterBar>
)

const ACCOUNT_COLUMNS: readonly CellColumn<AccountSummary>[] = [
  {
    ...{ name: "Email", kind: "text" },
    cell: ({ id, email }) => (
      <a href={pathWithId("adminAccount", id)}>
        <bdi>{email}</bdi>
      </a>
    ),
  },
  {
    ...{ name: "State", kind: "pill", onPhone: "first" },
    cell: account => {
      const state = accountState(account)
      return <span class={state === "active" ? "pill usual" : "pill block"}>{state}</span>
    },
  },
  { name: "Tier", kind: "pill", cell: ({ tier }) => tierName(tier) },
  { name: "Keys", kind: "number", onPhone: "labelled", cell: ({ activeKeyCount }) => formatNumber(activeKeyCount) },
  {
    ...{ name: "Last used", kind: "time", onPhone: "labelled" },
    cell: ({ lastUsedAtMs }) => (lastUsedAtMs === null ? "never" : <DateStamp atMs={lastUsedAtMs} />),
  },
  {
    ...{ name: "Created", kind: "time", onPhone: "hidden" },
    cell: ({ createdAtMs }) => <DateStamp atMs={createdAtMs} />,
  },
]

const INVITATION_COLUMNS: readonly CellColumn<Invitation>[] = [
  { name: "Invitation", kind: "text", cell: ({ id }) => <code>{id}</code> },
  { name: "Tier", kind: "pill", cell: ({ tier }) => tierName(tier) },
  { name: "Ends", kind: "time", onPhone: "labelled", cell: ({ endsAtMs }) => <Timestamp atMs={endsAtMs} /> },
  {
    ...{ name: "", kind: "actions", onPhone: "first" },
    cell: ({ id }) => (
      <ActionButton path={pathWithId("postAdminInvitationRevocation", id)} label="Revoke" hiddenLabel={id} />
    ),
  },
]

type NewAccountFormProps = Pick<AccountsPageProps, "tiers" | "defaultTier" | "rejected">

/** A button that opens the form, which invites a person or creates their account at once. */
function NewAccountForm({ tiers, defaultTier, rejected }: NewAccountFormProps) {
  const errors = rejected === null ? {} : NEW_ACCOUNT_ERRORS[rejected.reason]
  return (
    <details class="opener" open={rejected !== null}>
      <summary class="button small primary">Add an account</summary>
      <form class="form panel" method="post" action={ROUTES.postAdminInvitation.path}>
        <FormError message={rejected?.outcome ?? null} />
        <TextField
          name="new-email"
          label="Email"
          type="email"
          required
          maxLength={LIMITS.addressBytesMax}
          autocomplete="off"
          value={rejected?.email ?? ""}
          error={errors.email ?? null}
        />
        <TierField tiers={tiers} selected={rejected?.tier ?? String(defaultTier)} error={errors.tier ?? null} />
        <div class="actions">
          <button type="submit">Invite</button>
          <button type="submit" class="quiet" formAction={ROUTES.postAdminAccount.path}>
            Create without an invitation
          </button>
        </div>
        <p class="hint">
          We email a link that works once, within {LIMITS.invitationDays} days, even while sign-up is closed. Who opens
          it accepts the terms. Without an invitation the terms count as accepted, so ask the person first.
        </p>
      </form>
    </details>
  )
}

type InvitationLinkPageProps = {
  readonly email: string
  readonly link: string
  /** Whether a mail server is set, which did not take the mail. */
  readonly hasMailServer: boolean
}

/** The link of a new invitation that was not mailed. It is shown only here. */
export function InvitationLinkPage({ email, link, hasMailServer }: InvitationLinkPageProps) {
  return (
    <AdminLayout route="adminAccounts" section="adminAccounts" title="Send the invitation">
      <p class="lead">
        {hasMailServer ? "The mail server did not accept our email." : "This server cannot send email."} Send this link
        to <strong>{email}</strong> yourself:
      </p>
      <div class="secret">
        <code class="copied">{link}</code>
      </div>
      <p class="told">
        Copy the link now. You cannot see it again. Anyone who opens it gets the account. It works once, within{" "}
        {LIMITS.invitationDays} days.
      </p>
      <LinkButton path={ROUTES.adminAccounts.path} label="Back to the accounts" look="quiet" />
    </AdminLayout>
  )
}
