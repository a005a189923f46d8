/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import type { KeyLimitCeiling } from "../../../../customers/keys/key-restrictions.ts"
import { isUsableKey } from "../../../../customers/keys/key-state.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { Timestamp } from "../../ui/forms.tsx"
import { Table } from "../../ui/layout.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { KeyLast4, KeyOrigins, KeyStateLabel } from "./key-summary.tsx"
import { type KeyFormError, type KeyFormValues, NewKeyForm } from "./new-key-form.tsx"

/** How many keys the page displays: the active ones, then the latest revoked ones. */
export const KEYS_DISPLAYED_MAX = 50

type KeysPageProps = {
  readonly user: SignedInUser
  /** At most `KEYS_DISPLAYED_MAX`, active ones first. */
  readonly keys: readonly ApiKey[]
  readonly values: KeyFormValues
  /** What is wrong with the values; null: nothing, or nothing was sent yet. */
  readonly error: KeyFormError | null
  /** The limits of the account. */
  readonly ceiling: KeyLimitCeiling
  readonly nowMs: number
}

/** The account's keys, and the form for a new one. */
export function KeysPage({ user, keys, ...form }: KeysPageProps) {
  const { nowMs } = form
  const active = keys.filter(key => isUsableKey(key, nowMs))
  const ended = keys.filter(key => !isUsableKey(key, nowMs))
  return (
    <DashboardLayout route="keys" title="Keys" user={user}>
      <ActiveKeys keys={active} nowMs={nowMs} />
      <NewKeyForm {...form} isAtLimit={active.length >= LIMITS.keysPerAccountMax} />
      <EndedKeys keys={ended} isTruncated={keys.length >= KEYS_DISPLAYED_MAX} nowMs={nowMs} />
    </DashboardLayout>
  )
}

type KeyListProps = { readonly keys: readonly ApiKey[]; readonly nowMs: number }

function ActiveKeys({ keys, nowMs }: KeyListProps) {
  return (
    <section aria-labelledby="active">
      <h2 id="active">Active keys</h2>
      <p>
        {keys.length} of {LIMITS.keysPerAccountMax} in use. A secret key is shown only once, when you create it.
      </p>
      {keys.length === 0 ? null : (
        <Table caption="Active keys" columns={["Key", "For", "Last used", "Expires", ""]}>
          {keys.map(key => activeKeyRow(key, nowMs))}
        </Table>
      )}
    </section>
  )
}

/** A row itself and no component, so that the table can label its cells. */
function activeKeyRow(apiKey: ApiKey, nowMs: number) {
  const { id, kind, name, lastUsedAtMs, expiresAtMs, publicText } = apiKey
  const path = pathWithId("dashboardKey", id)
  return (
    <tr key={id}>
      <KeyRowHeader apiKey={apiKey} />
      <td>
        {kind}: <KeyOrigins apiKey={apiKey} />
      </td>
      <td>{lastUsedAtMs === null ? "never" : <Timestamp atMs={lastUsedAtMs} />}</td>
      <td>{expiresAtMs === null ? "never" : <KeyStateLabel apiKey={apiKey} nowMs={nowMs} />}</td>
      <td class="row-actions">
        {publicText === null ? null : (
          <span class="copy-cell">
            <code class="copied">{publicText}</code>
          </span>
        )}
        <a class="button small" href={`${path}#rename`}>
          Rename<span class="unseen"> {name}</span>
        </a>
        <a class="button small" href={`${path}#revoke`}>
          Revoke<span class="unseen"> {name}</span>
        </a>
      </td>
    </tr>
  )
}

type EndedKeysProps = KeyListProps & { readonly isTruncated: boolean }

/** The keys that let nobody in any more. */
function EndedKeys({ keys, isTruncated, nowMs }: EndedKeysProps) {
  if (keys.length === 0) return null
  return (
    <section aria-labelledby="revoked">
      <h2 id="revoked">Expired and revoked keys</h2>
      {isTruncated ? <p>Only the latest are shown.</p> : null}
      <Table caption="Expired and revoked keys" columns={["Key", "State"]}>
        {keys.map(key => (
          <tr key={key.id}>
            <KeyRowHeader apiKey={key} />
            <td>
              <KeyStateLabel apiKey={key} nowMs={nowMs} />
            </td>
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
