/** @jsxImportSource preact */

import { formatDate } from "../../../base/time.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Usage } from "../../../contract/usage-schema.ts"
import type { AccountDetails } from "../../../customers/account-details.ts"
import type { Account } from "../../../customers/accounts/accounts.ts"
import type { RecordedAct } from "../../../customers/audit/audit.ts"
import type { ApiKey, Revoker } from "../../../customers/keys/keys.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import type { TermsState } from "../../../customers/terms/terms-cache.ts"
import { KEY_KIND_LABELS, KeyLast4, KeyStatePill, placesOf } from "../dashboard/keys/key-summary.tsx"
import type { SignedInUser } from "../guards.ts"
import { pathWithId, withQuery } from "../links.ts"
import { Sparkline } from "../ui/charts.tsx"
import { formatNumber, tierName } from "../ui/format.ts"
import { Confirmation, DateStamp, FlashMessage, LinkButton, Timestamp } from "../ui/forms.tsx"
import { DescriptionList } from "../ui/layout.tsx"
import { Panel, Tiles } from "../ui/panels.tsx"
import { type CellColumn, RowTable } from "../ui/table.tsx"
import { AccountActions, NotePanel, type RejectedAdminForms, SuspensionNotice } from "./account-forms.tsx"
import { ActsTable } from "./acts.tsx"
import { AdminLayout } from "./admin-layout.tsx"
import { TierField } from "./tier-field.tsx"

/** The flash messages of the page, by the name in its URL. */
export const ADMIN_ACCOUNT_FLASH = {
  created: "Account created. Its owner can sign in now.",
  "tier-set": "Tier changed. Its limits apply now.",
  "key-revoked": "Key revoked. We send the account's owner an email.",
  "key-revoked-before": "This key was already revoked. Nothing changed.",
  suspended: "Account suspended. Its owner gets an email.",
  "suspended-before": "This account was already suspended. Nothing changed.",
  resumed: "Account resumed. Its keys work again, and its owner gets an email.",
  "resumed-before": "This account was not suspended. Nothing changed.",
  "note-saved": "Note saved.",
} as const satisfies Record<string, string>

/** How many of the latest acts are displayed. The audit log has all of them. */
export const ACTS_SHOWN = 10

/** The data of an account's page. */
export type PageDetails = AccountDetails & {
  /** Active ones first. */
  readonly keys: readonly ApiKey[]
  readonly usage: Usage
  readonly nowMs: number
  /** The latest acts about the account, one more than are displayed. */
  readonly acts: readonly RecordedAct[]
}

type AdminAccountPageProps = {
  readonly user: SignedInUser
  readonly details: PageDetails
  readonly tiers: readonly TierLimits[]
  readonly flash: string | null
  readonly rejected: RejectedAdminForms
}

/** One account: who it is and what was noted, its usage, its tier and keys, and what was done. Its owner cannot suspend or delete it here. */
export function AdminAccountPage({ user, details, tiers, flash, rejected }: AdminAccountPageProps) {
  const { account, keys, usage, note, acts } = details
  const isOwn = user.account.id === account.id
  return (
    <AdminLayout
      route="adminAccount"
      section="adminAccounts"
      title={account.email}
      action={isOwn ? undefined : <AccountActions account={account} rejectedReason={rejected.reason} />}
    >
      <FlashMessage message={flash} />
      <SuspensionNotice account={account} note={note} />
      <div class="two">
        <FactsPanel details={details} />
        <NotePanel account={account} note={note} rejected={rejected.note} />
      </div>
      <Tiles tiles={usageTiles(usage)} />
      <Panel>
        <form class="field-row" method="post" action={pathWithId("postAdminTier", account.id)}>
          <TierField tiers={tiers} selected={String(account.tier)} error={rejected.tierError ?? null} />
          <button type="submit" class="quiet">
            Change the tier
          </button>
        </form>
      </Panel>
      <Panel title="Keys">
        {keys.length === 0 ? (
          <p class="hint">No keys yet.</p>
        ) : (
          <RowTable caption="Keys" columns={keyColumns(details)} rows={keys} />
        )}
      </Panel>
      {acts.length === 0 ? null : (
        <Panel title="Activity">
          <ActsTable acts={acts.slice(0, ACTS_SHOWN)} isOneAccount />
          {acts.length > ACTS_SHOWN ? (
            <LinkButton path={withQuery(ROUTES.adminActs.path, { account: account.id })} label="More" look="small" />
          ) : null}
        </Panel>
      )}
    </AdminLayout>
  )
}

const FactsPanel = ({ details: { account, termsState, sessionCount } }: Pick<AdminAccountPageProps, "details">) => (
  <Panel title="Details">
    <DescriptionList
      items={[
        ["State", account.suspendedAtMs === undefined ? "Active" : "Suspended"],
        ["Tier", tierName(account.tier)],
        ["Created", <DateStamp atMs={account.createdAtMs} />],
        ["Terms", <TermsStatus account={account} state={termsState} />],
        ["Sessions", formatNumber(sessionCount)],
        ["Id", <code>{account.id}</code>],
      ]}
    />
  </Panel>
)

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

const keyColumns = ({ account, keys, nowMs }: PageDetails): readonly CellColumn<ApiKey>[] => [
  {
    ...{ name: "Name", kind: "text" },
    cell: key => (
      <>
        <bdi>{key.name}</bdi> <KeyLast4 apiKey={key} />
      </>
    ),
  },
  { name: "Kind", kind: "pill", cell: ({ kind }) => KEY_KIND_LABELS[kind] },
  ...(keys.every(key => placesOf(key).length === 0) ? [] : [PLACES_COLUMN]),
  {
    ...{ name: "Last used", kind: "time", onPhone: "labelled" },
    cell: ({ lastUsedAtMs }) => (lastUsedAtMs === null ? "never" : <DateStamp atMs={lastUsedAtMs} />),
  },
  {
    ...{ name: "State", kind: "pill", onPhone: "first" },
    cell: key => <KeyStatePill apiKey={key} nowMs={nowMs} account={account} />,
  },
  ...(keys.every(key => endWords(key, nowMs) === null)
    ? []
    : [{ name: "Ended", kind: "time", onPhone: "labelled", cell: (key: ApiKey) => endWords(key, nowMs) } as const]),
  {
    ...{ name: "", kind: "actions", onPhone: "first" },
    cell: ({ id, name, revokedAtMs }) =>
      revokedAtMs === null ? (
        <a class="button small danger" href={pathWithId("adminKeyRevocation", id)}>
          Revoke…<span class="unseen"> {name}</span>
        </a>
      ) : null,
  },
]

const PLACES_COLUMN: CellColumn<ApiKey> = {
  ...{ name: "For", kind: "text", onPhone: "hidden" },
  cell: key => placesOf(key).join(", ") || null,
}

/** Who revoked a key and when, or its last day. */
function endWords({ expiresAtMs, revokedAtMs, revokedBy }: ApiKey, nowMs: number): string | null {
  if (revokedAtMs !== null)
    return `${revokedBy === null ? "" : `${REVOCATION_LABELS[revokedBy]}, `}${formatDate(revokedAtMs)}`
  return expiresAtMs !== null && expiresAtMs <= nowMs ? formatDate(expiresAtMs - 1) : null
}

const REVOCATION_LABELS: { readonly [R in Revoker]: string } = {
  owner: "by its owner",
  admin: "by an administrator",
  leak: "after a leak",
}

function usageTiles({ today, daily }: Usage) {
  const { used, remaining, checks, deep_checks: deep, batch_items: items, rate_limited: limited } = today
  const units = daily.map(day => day.used).toReversed()
  const sum = units.reduce((total, count) => total + count, 0)
  return [
    {
      label: "Units today",
      value: formatNumber(used),
      note: remaining === null ? "no limit" : `${formatNumber(remaining)} left`,
    },
    { label: "Checks today", value: formatNumber(checks), note: `${formatNumber(deep)} deep` },
    { label: "Batch items today", value: formatNumber(items), note: `${formatNumber(limited)} rate limited` },
    {
      label: `Units, ${LIMITS.usageDays} days`,
      value: formatNumber(sum),
      note: sum === 0 ? undefined : <Sparkline values={units} />,
    },
  ]
}

type KeyRevocationPageProps = { readonly apiKey: ApiKey; readonly account: Account }

/** Asks for confirmation before a key is revoked, which cannot be undone. */
export function KeyRevocationPage({ apiKey, account }: KeyRevocationPageProps) {
  const { id, name, revokedAtMs } = apiKey
  const accountPath = pathWithId("adminAccount", account.id)
  return (
    <AdminLayout route="adminKeyRevocation" section="adminAccounts" title="Revoke this key?">
      {revokedAtMs === null ? (
        <Confirmation path={pathWithId("postAdminKeyRevocation", id)} label="Revoke the key" cancelPath={accountPath}>
          <p>
            {KEY_KIND_LABELS[apiKey.kind]} key{" "}
            <strong>
              <bdi>{name}</bdi>
            </strong>{" "}
            <KeyLast4 apiKey={apiKey} /> of <bdi>{account.email}</bdi>
          </p>
          <p>
            The key stops working within {LIMITS.revocationSecondsMax} seconds. You cannot undo this. The account's
            owner gets an email.
          </p>
        </Confirmation>
      ) : (
        <p>
          This key is revoked. <a href={accountPath}>Back to the account</a>
        </p>
      )}
    </AdminLayout>
  )
}
