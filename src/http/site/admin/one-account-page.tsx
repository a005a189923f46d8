/** @jsxImportSource preact */
import type { Usage } from "../../../contract/usage-schema.ts"
import type { Account } from "../../../customers/accounts/accounts.ts"
import type { Key } from "../../../customers/keys/keys.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import type { TermsState } from "../../../customers/terms/held-terms.ts"
import { Choice, Done, Instant } from "../fields.tsx"
import { Table } from "../layout.tsx"
import type { Visitor } from "../signed-in.ts"
import { AdminLayout, counted, Facts, grouped } from "./admin-layout.tsx"
import { adminPaths } from "./paths.ts"
import { limitWords, tierName, tierOptions } from "./tier-words.ts"

/** What may have been done just before the page is shown, by its name in the page's URL. */
export const ACCOUNT_DEEDS = {
  created: "The account is there. Its owner can sign in now.",
  "tier-set": "The tier is set; its limits hold from now on.",
  "key-revoked": "The key is revoked, and the account's owner is written to.",
  "key-revoked-before": "The key had been revoked before; nothing changed.",
} as const satisfies Record<string, string>

/** All that is shown of an account. */
export type ShownAccount = {
  readonly account: Account
  /** Active ones first. */
  readonly keys: readonly Key[]
  readonly today: Usage["today"]
  readonly sessionCount: number
  readonly termsState: TermsState
}

type Props = {
  readonly visitor: Visitor
  readonly shown: ShownAccount
  readonly tiers: readonly TierLimits[]
  readonly done: string | null
  /** What is wrong with the tier that was chosen; null: nothing. */
  readonly fault: string | null
}

/** One account: who it is, what it may do, its keys, and what it did today. */
export function OneAccountPage({ visitor, shown, tiers, done, fault }: Props) {
  const { account, keys, today, sessionCount, termsState } = shown
  const limits = tiers[account.tier]
  return (
    <AdminLayout route="adminAccount" section="adminAccounts" title={account.email} visitor={visitor}>
      <Done says={done} />
      <Facts
        facts={[
          ["Id", <code>{account.id}</code>],
          ["Created", <Instant atMs={account.createdAtMs} />],
          ["Tier", limits === undefined ? tierName(account.tier) : `${tierName(account.tier)}: ${limitWords(limits)}`],
          ["Terms", <TermsWords account={account} state={termsState} />],
          ["Signed in", counted(sessionCount, "browser", "browsers")],
        ]}
      />
      <section aria-labelledby="tier-section">
        <h2 id="tier-section">Change the tier</h2>
        <form class="form" method="post" action={adminPaths.tier(account.id)}>
          <Choice name="tier" label="Tier" options={tierOptions(tiers)} chosen={String(account.tier)} fault={fault} />
          <button type="submit">Set the tier</button>
        </form>
      </section>
      <KeysSection keys={keys} />
      <TodaySection today={today} />
    </AdminLayout>
  )
}

/** How the account stands to the terms. */
function TermsWords({ account, state }: { readonly account: Account; readonly state: TermsState }) {
  switch (state.kind) {
    case "accepted": {
      const { acceptedTermsVersion: version, acceptedTermsAtMs: atMs } = account
      if (version === null || atMs === null) return <>nothing to accept</>
      return (
        <>
          accepted, version {version} on <Instant atMs={atMs} />
        </>
      )
    }
    case "grace":
      return (
        <>
          version {state.version} is to be accepted before <Instant atMs={state.endsAtMs} />
        </>
      )
    case "not_accepted":
      return (
        <>
          version {state.version} was not accepted: requests are refused since <Instant atMs={state.sinceMs} />
        </>
      )
  }
}

function KeysSection({ keys }: Pick<ShownAccount, "keys">) {
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      {keys.length === 0 ? (
        <p>The account has no keys.</p>
      ) : (
        <Table caption="Keys" columns={["Name", "Kind", "Ends in", "Created", "Last used", "State"]}>
          {keys.map(key => (
            <KeyRow key={key.id} shown={key} />
          ))}
        </Table>
      )}
    </section>
  )
}

function KeyRow({ shown }: { readonly shown: Key }) {
  const { id, name, kind, last4, origins, createdAtMs, lastUsedAtMs, revokedAtMs, revokedBy } = shown
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
        <Instant atMs={createdAtMs} />
      </td>
      <td>{lastUsedAtMs === null ? "never" : <Instant atMs={lastUsedAtMs} />}</td>
      <td>
        {revokedAtMs === null ? (
          <a class="button small" href={adminPaths.keyRevocation(id)}>
            Revoke…<span class="unseen"> {name}</span>
          </a>
        ) : (
          <>
            revoked {revokedBy === null ? null : REVOKERS[revokedBy]}
            <p class="hint">
              <Instant atMs={revokedAtMs} />
            </p>
          </>
        )}
      </td>
    </tr>
  )
}

const REVOKERS: { readonly [R in NonNullable<Key["revokedBy"]>]: string } = {
  owner: "by its owner",
  admin: "by an administrator",
  leak: "after a leak",
}

function TodaySection({ today }: Pick<ShownAccount, "today">) {
  const { date, used, remaining, checks, deep_checks: deep, batch_items: items, rate_limited: limited } = today
  return (
    <section aria-labelledby="today">
      <h2 id="today">Usage today, {date} UTC</h2>
      <Facts
        facts={[
          ["Units used", `${grouped(used)}${remaining === null ? "" : `; ${grouped(remaining)} are left`}`],
          ["Checks", `${grouped(checks)}, and ${grouped(deep)} deep ones`],
          ["Batch items", grouped(items)],
          ["Refused as too many", grouped(limited)],
        ]}
      />
    </section>
  )
}
