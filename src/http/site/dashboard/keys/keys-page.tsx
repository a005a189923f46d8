/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { isUsableKey } from "../../../../customers/keys/key-state.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { formatCount } from "../../ui/format.ts"
import { Timestamp } from "../../ui/forms.tsx"
import { Empty, Panel } from "../../ui/panels.tsx"
import { Table, type TableColumn } from "../../ui/table.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { KEY_KIND_LABELS, KeyLast4, KeyStateLabel, placesOf } from "./key-summary.tsx"

/** How many keys the page displays: the active ones, then the latest revoked ones. */
export const KEYS_DISPLAYED_MAX = 50

type KeysPageProps = {
  readonly user: SignedInUser
  /** At most `KEYS_DISPLAYED_MAX`, active ones first. */
  readonly keys: readonly ApiKey[]
  readonly nowMs: number
}

/** The account's keys. */
export function KeysPage({ user, keys, nowMs }: KeysPageProps) {
  const active = keys.filter(key => isUsableKey(key, nowMs))
  const ended = keys.filter(key => !isUsableKey(key, nowMs))
  const newKey = (
    <a class="button" href={ROUTES.newKey.path}>
      New key
    </a>
  )
  return (
    <DashboardLayout
      route="keys"
      title="Keys"
      user={user}
      action={active.length === 0 || active.length >= LIMITS.keysPerAccountMax ? undefined : newKey}
    >
      <Panel>
        {active.length === 0 ? (
          <Empty action={newKey}>A key lets your server or your web page check addresses.</Empty>
        ) : (
          <KeyTable caption="Active keys" keys={active} nowMs={nowMs} />
        )}
      </Panel>
      <p class="hint">
        {active.length} of {formatCount(LIMITS.keysPerAccountMax, "key")}.{" "}
        {active.length >= LIMITS.keysPerAccountMax ? "Revoke one to create another. " : ""}A secret key is shown only
        once, when you create it.
      </p>
      <EndedKeys keys={ended} isTruncated={keys.length >= KEYS_DISPLAYED_MAX} nowMs={nowMs} />
    </DashboardLayout>
  )
}

type KeyListProps = { readonly keys: readonly ApiKey[]; readonly nowMs: number }

/** The keys that let nobody in any more. */
function EndedKeys({ keys, isTruncated, nowMs }: KeyListProps & { readonly isTruncated: boolean }) {
  if (keys.length === 0) return null
  return (
    <Panel title="Expired and revoked keys" link={isTruncated ? <span>Only the latest are shown</span> : undefined}>
      <KeyTable caption="Expired and revoked keys" keys={keys} nowMs={nowMs} />
    </Panel>
  )
}

const KEY_COLUMNS: readonly TableColumn[] = [
  { name: "Name", kind: "text" },
  { name: "Kind", kind: "time" },
  { name: "Used from", kind: "text", onPhone: "hidden" },
  { name: "Last used", kind: "time", onPhone: "labelled" },
  { name: "State", kind: "text" },
]

function KeyTable({ caption, keys, nowMs }: KeyListProps & { readonly caption: string }) {
  return (
    <Table caption={caption} columns={KEY_COLUMNS}>
      {keys.map(key => (
        <tr key={key.id}>
          <th scope="row">
            <a href={pathWithId("dashboardKey", key.id)}>
              <bdi>{key.name}</bdi>
            </a>{" "}
            <KeyLast4 apiKey={key} />
          </th>
          <td>{KEY_KIND_LABELS[key.kind]}</td>
          <td>{placesOf(key).join(", ") || "any server"}</td>
          <td>{key.lastUsedAtMs === null ? "never" : <Timestamp atMs={key.lastUsedAtMs} />}</td>
          <td>
            <KeyStateLabel apiKey={key} nowMs={nowMs} />
          </td>
        </tr>
      ))}
    </Table>
  )
}
