/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { isUsableKey } from "../../../../customers/keys/key-state.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { formatCount } from "../../ui/format.ts"
import { LinkButton } from "../../ui/forms.tsx"
import { Empty, Panel } from "../../ui/panels.tsx"
import { type CellColumn, RowTable } from "../../ui/table.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { KEY_KIND_LABELS, KeyLast4, KeyStateLabel, LastUsed, placesOf } from "./key-summary.tsx"

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
  const isFull = active.length >= LIMITS.keysPerAccountMax
  const newKey = <LinkButton path={ROUTES.newKey.path} label="New key" />
  const columns = keyColumns(nowMs)
  return (
    <DashboardLayout route="keys" title="Keys" user={user} action={active.length === 0 || isFull ? undefined : newKey}>
      <Panel>
        {active.length === 0 ? (
          <Empty action={newKey}>A key lets your server or your web page check addresses.</Empty>
        ) : (
          <RowTable caption="Active keys" columns={columns} rows={active} />
        )}
      </Panel>
      <p class="hint">
        {active.length} of {formatCount(LIMITS.keysPerAccountMax, "key")}.{" "}
        {isFull ? "Revoke one to create another. " : ""}A secret key is shown only once, when you create it.
      </p>
      {ended.length === 0 ? null : (
        <Panel
          title="Expired and revoked keys"
          link={keys.length >= KEYS_DISPLAYED_MAX ? <span>Only the latest are shown</span> : undefined}
        >
          <RowTable caption="Expired and revoked keys" columns={columns} rows={ended} />
        </Panel>
      )}
    </DashboardLayout>
  )
}

const keyColumns = (nowMs: number): readonly CellColumn<ApiKey>[] => [
  {
    ...{ name: "Name", kind: "text" },
    cell: key => [
      <a key="name" href={pathWithId("dashboardKey", key.id)}>
        <bdi>{key.name}</bdi>
      </a>,
      " ",
      <KeyLast4 key="last4" apiKey={key} />,
    ],
  },
  { name: "Kind", kind: "time", cell: ({ kind }) => KEY_KIND_LABELS[kind] },
  { name: "Used from", kind: "text", onPhone: "hidden", cell: key => placesOf(key).join(", ") || "any server" },
  { name: "Last used", kind: "time", onPhone: "labelled", cell: key => <LastUsed apiKey={key} /> },
  { name: "State", kind: "time", cell: key => <KeyStateLabel apiKey={key} nowMs={nowMs} /> },
]
