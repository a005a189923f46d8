/** @jsxImportSource preact */

import type { Usage } from "../../../contract/usage-schema.ts"
import type { Account } from "../../../customers/accounts/accounts.ts"
import type { RecordedAct } from "../../../customers/audit/audit.ts"
import { keyState } from "../../../customers/keys/key-state.ts"
import type { ApiKey } from "../../../customers/keys/keys.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import type { TermsState } from "../../../customers/terms/terms-cache.ts"
import type { SignedInUser } from "../guards.ts"
import { pathWithId } from "../links.ts"
import { formatCount, formatNumber } from "../ui/format.ts"
import { ActionButton, FlashMessage, SelectField, Timestamp } from "../ui/forms.tsx"
import { DescriptionList, Table } from "../ui/layout.tsx"
import { DeletionLink, NoteSection, type RejectedAdminForms, SuspensionSection } from "./account-forms.tsx"
import { ActsTable } from "./acts.tsx"
import { AdminLayout } from "./admin-layout.tsx"
import { tierLabel, tierLimitsLabel, tierOptions } from "./tier-labels.ts"

/** The flash messages of the page, by the name in its URL. */
export const ADMIN_ACCOUNT_FLASH = {
  created: "Account created. Its owner can sign in now.",
  "tier-set": "Tier changed. Its limits apply now.",
  "key-revoked": "Key revoked. We send a mail to the owner of the account.",
  "key-revoked-before": "This key was revoked before. Nothing changed.",
  suspended: "Account suspended. We refuse all of its keys and send a mail to its owner.",
  "suspended-before": "This account was suspended before. Nothing changed.",
  resumed: "Account resumed. Its keys work again, and we send a mail to its owner.",
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
  const { account, keys, today, sessionCount, termsState, note, acts, nowMs } = details
  const limits = tiers[account.tier]
  return (
    <AdminLayout route="adminAccount" section="adminAccounts" title={account.email} user={user}>
      <FlashMessage message={flash} />
      <DescriptionList
        items={[
          ["State", <AccountState account={account} />],
          ["Id", <code>{account.id}</code>],
          ["Created", <Timestamp atMs={account.createdAtMs} />],
          [
            "Tier",
            limits === undefined ? tierLabel(account.tier) : `${tierLabel(account.tier)}: ${tierLimitsLabel(limits)}`,
          ],
          ["Terms", <TermsStatus account={account} state={termsState} />],
          ["Signed in", formatCount(sessionCount, "browser")],
        ]}
      />
      <section aria-labelledby="tier-section">
        <h2 id="tier-section">Change the tier</h2>
        <form class="form" method="post" action={pathWithId("postAdminTier", account.id)}>
          <SelectField
            name="tier"
            label="Tier"
            options={tierOptions(tiers)}
            selected={String(account.tier)}
            error={rejected.tierError ?? null}
          />
          <button type="submit">Change the tier</button>
        </form>
      </section>
      <KeysSection keys={keys} nowMs={nowMs} />
      <TodaySection today={today} />
      <NoteSection account={account} note={note} rejected={rejected.note ?? null} />
      {acts.length === 0 ? null : <ActsSection acts={acts} />}
      {user.account.id === account.id ? null : (
        <>
          <SuspensionSection account={account} rejectedReason={rejected.reason ?? null} />
          <DeletionLink account={account} />
        </>
      )}
    </AdminLayout>
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

function ActsSection({ acts }: Pick<AccountDetails, "acts">) {
  return (
    <section aria-labelledby="acts">
      <h2 id="acts">What was changed</h2>
      <ActsTable acts={acts} />
    </section>
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

function KeysSection({ keys, nowMs }: Pick<AccountDetails, "keys" | "nowMs">) {
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      {keys.length === 0 ? (
        <p>The account has no keys.</p>
      ) : (
        <Table caption="Keys" columns={["Name", "Kind", "Ends in", "Created", "Last used", "State"]}>
          {keys.map(key => (
            <KeyRow key={key.id} apiKey={key} nowMs={nowMs} />
          ))}
        </Table>
      )}
    </section>
  )
}

function KeyRow({ apiKey, nowMs }: { readonly apiKey: ApiKey; readonly nowMs: number }) {
  const { id, name, kind, last4, origins, createdAtMs, lastUsedAtMs, expiresAtMs, revokedAtMs, revokedBy } = apiKey
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        {kind}
        {origins.length === 0 ? null : <p class="hint">{origins.join(", ")}</p>}
      </td>
      <td class="short">
        <code>{last4}</code>
      </td>
      <td>
        <Timestamp atMs={createdAtMs} />
      </td>
      <td>{lastUsedAtMs === null ? "never" : <Timestamp atMs={lastUsedAtMs} />}</td>
      <td>
        {revokedAtMs === null ? (
          <>
            {keyState(apiKey, nowMs) === "expired" && expiresAtMs !== null ? (
              <p>
                expired <Timestamp atMs={expiresAtMs} />
              </p>
            ) : null}
            <a class="button small" href={pathWithId("adminKeyRevocation", id)}>
              Revoke…<span class="unseen"> {name}</span>
            </a>
          </>
        ) : (
          <>
            revoked {revokedBy === null ? null : REVOKED_BY_LABELS[revokedBy]}
            <p class="hint">
              <Timestamp atMs={revokedAtMs} />
            </p>
          </>
        )}
      </td>
    </tr>
  )
}

const REVOKED_BY_LABELS: { readonly [R in NonNullable<ApiKey["revokedBy"]>]: string } = {
  owner: "by its owner",
  admin: "by an administrator",
  leak: "after a leak",
}

function TodaySection({ today }: Pick<AccountDetails, "today">) {
  const { date, used, remaining, checks, deep_checks: deep, batch_items: items, rate_limited: limited } = today
  return (
    <section aria-labelledby="today">
      <h2 id="today">Usage today, {date} UTC</h2>
      <DescriptionList
        items={[
          ["Units used", `${formatNumber(used)}${remaining === null ? "" : `, ${formatNumber(remaining)} left`}`],
          ["Checks", `${formatNumber(checks)}, and ${formatNumber(deep)} deep ones`],
          ["Batch items", formatNumber(items)],
          ["Rate limited", formatNumber(limited)],
        ]}
      />
    </section>
  )
}

type KeyRevocationPageProps = { readonly user: SignedInUser; readonly apiKey: ApiKey; readonly account: Account }

/** Asks for confirmation before a key is revoked, which cannot be undone. */
export function KeyRevocationPage({ user, apiKey, account }: KeyRevocationPageProps) {
  const { id, name, kind, last4, revokedAtMs } = apiKey
  const accountPath = pathWithId("adminAccount", account.id)
  return (
    <AdminLayout route="adminKeyRevocation" section="adminAccounts" title="Revoke a key" user={user}>
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
          <p>
            We refuse requests with this key from then on. You cannot undo this. The owner of the account gets a mail
            that says that an administrator did it.
          </p>
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
