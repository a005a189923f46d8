/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { isUsableKey } from "../../../../customers/keys/key-state.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { LinkButton } from "../../ui/forms.tsx"
import { Empty, Panel } from "../../ui/panels.tsx"
import { type CellColumn, RowTable } from "../../ui/table.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { KEY_KIND_LABELS, KeyLast4, KeyStateLabel, LastUsed, placesOf } from "./key-summary.tsx"

/** For so many days the page counts the checks of keys. */
export const CHECKS_DAYS = 30

/** How many keys the page displays: the active ones, then the latest revoked ones. */
export const KEYS_DISPLAYED_MAX = 50

type KeysPageProps = {
  readonly user: SignedInUser
  /** At most `KEYS_DISPLAYED_MAX`, active ones first. */
  readonly keys: readonly ApiKey[]
  /** How many checks each key made in the last `CHECKS_DAYS` days. */
  readonly checks: ReadonlyMap<string, number>
  readonly nowMs: number
}

/** The account's keys. */
export function KeysPage({ user, keys, checks, nowMs }: KeysPageProps) {
  const active = keys.filter(key => isUsableKey(key, nowMs))
  const ended = keys.filter(key => !isUsableKey(key, nowMs))
  const isFull = active.length >= LIMITS.keysPerAccountMax
  const newKey = <LinkButton path={ROUTES.newKey.path} label="New key" />
  return (
    <DashboardLayout route="keys" title="Keys" user={user} action={active.length === 0 || isFull ? undefined : newKey}>
      <Panel>
        {active.length === 0 ? (
          <Empty action={newKey}>A key lets your server or your web page check addresses.</Empty>
        ) : (
          <RowTable caption="Active keys" columns={keyColumns({ keys: active, checks, nowMs })} rows={active} />
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
          <RowTable
            caption="Expired and revoked keys"
            columns={keyColumns({ keys: ended, checks, nowMs }).filter(({ name }) => name !== LAST_USED)}
            rows={ended}
          />
        </Panel>
      )}
    </DashboardLayout>
  )
}

/** A column that keys have which can be used. */
const LAST_USED = "Last used"

/** On phones a state is displayed where it says more than that a key is active. */
const keyColumns = ({ keys, checks, nowMs }: Omit<KeysPageProps, "user">): readonly CellColumn<ApiKey>[] => [
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
  {
    ...{ name: "Kind", kind: "text" },
    cell: key => [KEY_KIND_LABELS[key.kind], ...placesOf(key).map(place => place.replace("https://", ""))].join(", "),
  },
  { name: LAST_USED, kind: "time", onPhone: "labelled", cell: key => <LastUsed apiKey={key} /> },
  {
    ...{ name: "State", kind: "time" },
    ...(keys.every(key => key.revokedAtMs === null && key.expiresAtMs === null) ? { onPhone: "hidden" } : {}),
    cell: key => <KeyStateLabel apiKey={key} nowMs={nowMs} />,
  },
  {
    ...{ name: `Checks, ${CHECKS_DAYS} days`, kind: "number", onPhone: "first" },
    cell: ({ id }) => formatNumber(checks.get(id) ?? 0),
  },
]
