/** @jsxImportSource preact */

import { formatInstant } from "../../../base/time.ts"
import type { Usage } from "../../../contract/usage-schema.ts"
import type { Account } from "../../../customers/accounts/accounts.ts"
import type { RecordedAct } from "../../../customers/audit/audit.ts"
import { keyState } from "../../../customers/keys/key-state.ts"
import type { ApiKey } from "../../../customers/keys/keys.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import type { TermsState } from "../../../customers/terms/terms-cache.ts"
import type { SignedInUser } from "../guards.ts"
import { pathWithId } from "../links.ts"
import { formatNumber } from "../ui/format.ts"
import { ActionButton, DateStamp, FlashMessage, SelectField, Timestamp } from "../ui/forms.tsx"
import { DescriptionList } from "../ui/layout.tsx"
import { Panel, Tiles } from "../ui/panels.tsx"
import { Table, type TableColumn } from "../ui/table.tsx"
import { DeletionLink, NotePanel, type RejectedAdminForms, SuspensionPanel } from "./account-forms.tsx"
import { ActsTable } from "./acts.tsx"
import { AdminLayout } from "./admin-layout.tsx"
import { tierLabel, tierLimitsLabel, tierOptions } from "./tier-labels.ts"

/** The flash messages of the page, by the name in its URL. */
export const ADMIN_ACCOUNT_FLASH = {
  created: "Account created. Its owner can sign in now.",
  "tier-set": "Tier changed. Its limits apply now.",
  "key-revoked": "Key revoked. We send the account's owner an email.",
  "key-revoked-before": "This key was already revoked. Nothing changed.",
  suspended: "Account suspended. Its keys are refused, and its owner gets an email.",
  "suspended-before": "This account was already suspended. Nothing changed.",
  resumed: "Account resumed. Its keys work again, and its owner gets an email.",
  "resumed-before": "This account was not suspended. Nothing changed.",
  "note-saved": "Note saved.",
} as const satisfies Record<string, string>

/** The data of an account's page. */
export type AccountDetails = {
  readonly account: Account
  /** Active ones first. */
  readonly keys: readonly ApiKey[]
  readonly today: Usage["today"]
  readonly sessionCount: number
  readonly termsState: TermsState
  readonly nowMs: number
  /** The operator's note; empty: none. */
  readonly note: string
  /** The latest acts about the account. */
  readonly acts: readonly RecordedAct[]
}

type AdminAccountPageProps = {
  readonly user: SignedInUser
  readonly details: AccountDetails
  readonly tiers: readonly TierLimits[]
  readonly flash: string | null
  readonly rejected: RejectedAdminForms
}

/** One account: its data, its keys, today's usage, what administrators noted and did, and the forms that change it. */
export function AdminAccountPage({ user, details, tiers, flash, rejected }: AdminAccountPageProps) {
  const { account, keys, today, sessionCount, termsState, acts, nowMs } = details
  const limits = tiers[account.tier]
  return (
    <AdminLayout route="adminAccount" section="adminAccounts" title={account.email}>
      <FlashMessage message={flash} />
      <Tiles tiles={todayTiles(today)} />
      <div class="beside">
        <div>
          <Panel title="Account">
            <DescriptionList
              items={[
                ["State", <AccountState account={account} />],
                ["Id", <code>{account.id}</code>],
                ["Created", <Timestamp atMs={account.createdAtMs} />],
                [
                  "Tier",
                  limits === undefined
                    ? tierLabel(account.tier)
                    : `${tierLabel(account.tier)}: ${tierLimitsLabel(limits)}`,
                ],
                ["Terms", <TermsStatus account={account} state={termsState} />],
                ["Active sessions", formatNumber(sessionCount)],
              ]}
            />
          </Panel>
          <KeysPanel keys={keys} nowMs={nowMs} />
          {acts.length === 0 ? null : (
            <Panel title="Activity">
              <ActsTable acts={acts} isOneAccount />
            </Panel>
          )}
        </div>
        <AccountActions user={user} details={details} tiers={tiers} rejected={rejected} />
      </div>
    </AdminLayout>
  )
}

/** The forms that change an account. An administrator suspends and deletes other accounts only. */
function AccountActions({ user, details, tiers, rejected }: Omit<AdminAccountPageProps, "flash">) {
  const { account, note } = details
  return (
    <div>
      <Panel title="Tier">
        <form class="form" method="post" action={pathWithId("postAdminTier", account.id)}>
          <SelectField
            name="tier"
            label="Tier"
            options={tierOptions(tiers)}
            selected={String(account.tier)}
            error={rejected.tierError ?? null}
          />
          <button type="submit" class="small">
            Change the tier
          </button>
        </form>
      </Panel>
      <NotePanel account={account} note={note} rejected={rejected.note ?? null} />
      {user.account.id === account.id ? null : (
        <>
          <SuspensionPanel account={account} rejectedReason={rejected.reason ?? null} />
          <DeletionLink account={account} />
        </>
      )}
    </div>
  )
}

function AccountState({ account: { suspendedAtMs, suspensionReason = "" } }: Pick<AccountDetails, "account">) {
  if (suspendedAtMs === undefined) return <>active</>
  return (
    <>
      <strong class="wrong">suspended</strong> since <Timestamp atMs={suspendedAtMs} />
      {suspensionReason === "" ? null : <p class="hint any">{suspensionReason}</p>}
    </>
  )
}

/** Which terms the account has accepted, or has to accept until when. */
function TermsStatus({ account, state }: { readonly account: Account; readonly state: TermsState }) {
  switch (state.kind) {
    case "accepted": {
      const { acceptedTermsVersion: version, acceptedTermsAtMs: atMs } = account
      if (version === null || atMs === null) return <>nothing to accept</>
      return (
        <>
          accepted, version {version} on <Timestamp atMs={atMs} />
        </>
      )
    }
    case "grace":
      return (
        <>
          must accept version {state.version} before <Timestamp atMs={state.endsAtMs} />
        </>
      )
    case "not_accepted":
      return (
        <>
          did not accept version {state.version}: requests are refused since <Timestamp atMs={state.sinceMs} />
        </>
      )
  }
}

const KEY_COLUMNS = [
  { name: "Name", kind: "text" },
  { name: "Kind", kind: "text" },
  { name: "Ends in", kind: "text", onPhone: "hidden" },
  { name: "Created", kind: "time", onPhone: "hidden" },
  { name: "Last used", kind: "time" },
  { name: "State", kind: "text" },
  { name: "", kind: "actions", onPhone: "first" },
] as const satisfies readonly TableColumn[]

function KeysPanel({ keys, nowMs }: Pick<AccountDetails, "keys" | "nowMs">) {
  return (
    <Panel title="Keys">
      {keys.length === 0 ? (
        <p>The account has no keys.</p>
      ) : (
        <Table caption="Keys" columns={KEY_COLUMNS}>
          {keys.map(key => (
            <KeyRow key={key.id} apiKey={key} nowMs={nowMs} />
          ))}
        </Table>
      )}
    </Panel>
  )
}

function KeyRow({ apiKey, nowMs }: { readonly apiKey: ApiKey; readonly nowMs: number }) {
  const { id, name, kind, last4, origins, createdAtMs, lastUsedAtMs, revokedAtMs } = apiKey
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
      </th>
      <td>{[kind, ...origins].join(", ")}</td>
      <td>{last4}</td>
      <td>
        <DateStamp atMs={createdAtMs} />
      </td>
      <td>{lastUsedAtMs === null ? "never" : <Timestamp atMs={lastUsedAtMs} />}</td>
      <td>{stateWords(apiKey, nowMs)}</td>
      <td>
        {revokedAtMs === null ? (
          <a class="button small danger" href={pathWithId("adminKeyRevocation", id)}>
            Revoke…<span class="unseen"> {name}</span>
          </a>
        ) : null}
      </td>
    </tr>
  )
}

/** What became of a key, and when. */
function stateWords(apiKey: ApiKey, nowMs: number): string {
  const { expiresAtMs, revokedAtMs, revokedBy } = apiKey
  if (revokedAtMs !== null)
    return `revoked ${revokedBy === null ? "" : `${REVOKED_BY_LABELS[revokedBy]} `}${formatInstant(revokedAtMs)}`
  const hasExpired = keyState(apiKey, nowMs) === "expired" && expiresAtMs !== null
  return hasExpired ? `expired ${formatInstant(expiresAtMs)}` : "active"
}

const REVOKED_BY_LABELS: { readonly [R in NonNullable<ApiKey["revokedBy"]>]: string } = {
  owner: "by its owner",
  admin: "by an administrator",
  leak: "after a leak",
}

function todayTiles({
  used,
  remaining,
  checks,
  deep_checks: deep,
  batch_items: items,
  rate_limited: limited,
}: Usage["today"]) {
  return [
    {
      label: "Units today",
      value: formatNumber(used),
      note: remaining === null ? "no limit" : `${formatNumber(remaining)} left`,
    },
    { label: "Checks today", value: formatNumber(checks), note: `${formatNumber(deep)} deep` },
    { label: "Batch items today", value: formatNumber(items) },
    { label: "Rate limited today", value: formatNumber(limited) },
  ]
}

type KeyRevocationPageProps = { readonly apiKey: ApiKey; readonly account: Account }

/** Asks for confirmation before a key is revoked, which cannot be undone. */
export function KeyRevocationPage({ apiKey, account }: KeyRevocationPageProps) {
  const { id, name, kind, last4, revokedAtMs } = apiKey
  const accountPath = pathWithId("adminAccount", account.id)
  return (
    <AdminLayout route="adminKeyRevocation" section="adminAccounts" title="Revoke a key">
      <DescriptionList
        items={[
          ["Account", <a href={accountPath}>{account.email}</a>],
          ["Name", name],
          ["Kind", kind],
          ["Ends in", <code>{last4}</code>],
        ]}
      />
      {revokedAtMs === null ? (
        <>
          <p>The key stops working within 60 seconds. You cannot undo this. The account's owner gets an email.</p>
          <div class="actions">
            <ActionButton path={pathWithId("postAdminKeyRevocation", id)} label="Revoke the key" isDangerous />
            <a class="button small" href={accountPath}>
              Cancel
            </a>
          </div>
        </>
      ) : (
        <p>
          This key is revoked. <a href={accountPath}>Back to the account</a>
        </p>
      )}
    </AdminLayout>
  )
}
