/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { Usage } from "../../../../contract/usage-schema.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { Timestamp } from "../../ui/forms.tsx"
import { Table } from "../../ui/layout.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { KeyLast4, KeyOrigins, REVOKER_LABELS } from "./key-page.tsx"
import { type KeyFormError, type KeyFormValues, NewKeyForm } from "./new-key-form.tsx"

/** How many keys the page displays: the active ones, then the latest revoked ones. */
export const KEYS_DISPLAYED_MAX = 50

type KeysPageProps = {
  readonly user: SignedInUser
  /** At most `KEYS_DISPLAYED_MAX`, active ones first. */
  readonly keys: readonly ApiKey[]
  readonly today: Usage["today"]
  readonly values: KeyFormValues
  /** What is wrong with the values; null: nothing, or nothing was sent yet. */
  readonly error: KeyFormError | null
}

/** The account's keys, the rest of today's quota, and the form for a new key. */
export function KeysPage({ user, keys, today, values, error }: KeysPageProps) {
  const active = keys.filter(({ revokedAtMs }) => revokedAtMs === null)
  const revoked = keys.filter(({ revokedAtMs }) => revokedAtMs !== null)
  return (
    <DashboardLayout route="dashboard" title="Keys" user={user}>
      <QuotaSummary today={today} />
      <ActiveKeys keys={active} />
      <NewKeyForm values={values} error={error} isAtLimit={active.length >= LIMITS.keysPerAccountMax} />
      <RevokedKeys keys={revoked} isTruncated={keys.length >= KEYS_DISPLAYED_MAX} />
    </DashboardLayout>
  )
}

function QuotaSummary({ today: { used, remaining, publishable } }: Pick<KeysPageProps, "today">) {
  return (
    <p class="lead">
      {formatCount(used, "unit")} used today,{" "}
      {remaining === null ? "without a limit" : `${formatNumber(remaining)} left`}. Publishable keys have used{" "}
      {formatNumber(publishable.used)} of {formatCount(publishable.used + publishable.remaining, "unit")} of their own.{" "}
      <a href={ROUTES.usage.path}>See your usage</a>
    </p>
  )
}

function ActiveKeys({ keys }: { readonly keys: readonly ApiKey[] }) {
  return (
    <section aria-labelledby="active">
      <h2 id="active">Active keys</h2>
      <p>
        {keys.length} of {LIMITS.keysPerAccountMax} in use. A key itself is shown only once, when it is created; here
        you tell keys apart by their last four characters.
      </p>
      {keys.length === 0 ? null : (
        <Table caption="Active keys" columns={["Key", "For", "Created", "Last used"]}>
          {keys.map(key => (
            <tr key={key.id}>
              <KeyRowHeader apiKey={key} />
              <td>
                {key.kind}: <KeyOrigins apiKey={key} />
              </td>
              <td>
                <Timestamp atMs={key.createdAtMs} />
              </td>
              <td>{key.lastUsedAtMs === null ? "never" : <Timestamp atMs={key.lastUsedAtMs} />}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}

function RevokedKeys({ keys, isTruncated }: { readonly keys: readonly ApiKey[]; readonly isTruncated: boolean }) {
  if (keys.length === 0) return null
  return (
    <section aria-labelledby="revoked">
      <h2 id="revoked">Revoked keys</h2>
      {isTruncated ? <p>Only the latest are shown.</p> : null}
      <Table caption="Revoked keys" columns={["Key", "Revoked by", "Revoked"]}>
        {keys.map(key => (
          <tr key={key.id}>
            <KeyRowHeader apiKey={key} />
            <td>{key.revokedBy === null ? "–" : REVOKER_LABELS[key.revokedBy]}</td>
            <td>{key.revokedAtMs === null ? "–" : <Timestamp atMs={key.revokedAtMs} />}</td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

function KeyRowHeader({ apiKey }: { readonly apiKey: ApiKey }) {
  return (
    <th scope="row" class="name">
      <a href={pathWithId("dashboardKey", apiKey.id)}>
        <bdi>{apiKey.name}</bdi>
      </a>{" "}
      <KeyLast4 apiKey={apiKey} />
    </th>
  )
}
