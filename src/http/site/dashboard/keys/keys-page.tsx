/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { isUsableKey } from "../../../../customers/keys/key-state.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { DateStamp, LinkButton } from "../../ui/forms.tsx"
import { Empty, Panel } from "../../ui/panels.tsx"
import { type CellColumn, RowTable } from "../../ui/table.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { KEY_KIND_LABELS, KeyLast4, KeyStatePill, LastUsed, placesOf, REVOKER_LABELS } from "./key-summary.tsx"

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
  const active = keys
    .filter(key => isUsableKey(key, nowMs))
    .sort((one, other) => (other.lastUsedAtMs ?? 0) - (one.lastUsedAtMs ?? 0))
  const ended = keys.filter(key => !isUsableKey(key, nowMs))
  const isFull = active.length >= LIMITS.keysPerAccountMax
  const newKey = isFull ? <NoNewKey /> : <LinkButton path={ROUTES.newKey.path} label="New key" />
  return (
    <DashboardLayout route="keys" title="Keys" user={user} action={active.length === 0 ? undefined : newKey}>
      <Panel>
        {active.length === 0 ? (
          <Empty action={newKey}>
            A <strong>secret</strong> key is for your server: full results, all endpoints.
            <br />A <strong>publishable</strong> key is for your web pages: short answers, only from your websites.
          </Empty>
        ) : (
          <RowTable caption="Active keys" columns={keyColumns({ checks, nowMs, isEnded: false })} rows={active} />
        )}
      </Panel>
      <p class="hint">
        {isFull
          ? "Revoke a key to create another. "
          : `${active.length} of ${formatCount(LIMITS.keysPerAccountMax, "key")}. `}
        A secret key is shown only once, when you create it.
      </p>
      {ended.length === 0 ? null : (
        <Panel
          title="Expired and revoked keys"
          link={keys.length >= KEYS_DISPLAYED_MAX ? <span>Only the latest are shown</span> : undefined}
        >
          <RowTable
            caption="Expired and revoked keys"
            columns={keyColumns({ checks, nowMs, isEnded: true })}
            rows={ended}
          />
        </Panel>
      )}
    </DashboardLayout>
  )
}

/** In place of the button of an account that has all keys that it may have. */
const NoNewKey = () => (
  <span class="hint">
    {`${LIMITS.keysPerAccountMax} of ${LIMITS.keysPerAccountMax} `}
    <button type="button" disabled>
      New key
    </button>
  </span>
)

/** Below the name of a key: where it may be used, or who revoked it. */
function KeyNote({ apiKey }: { readonly apiKey: ApiKey }) {
  const places = placesOf(apiKey).map(place => place.replace("https://", ""))
  const note = apiKey.revokedBy === null ? places.join(", ") : `Revoked by ${REVOKER_LABELS[apiKey.revokedBy]}`
  return note === "" ? null : <p class="hint">{note}</p>
}

type ColumnsProps = Pick<KeysPageProps, "checks" | "nowMs"> & { readonly isEnded: boolean }

/** The name of a key with where it may be used. */
export const KEY_NAME: CellColumn<ApiKey> = {
  ...{ name: "Name", kind: "text" },
  cell: key => [
    <a key="name" href={pathWithId("dashboardKey", key.id)}>
      <bdi>{key.name}</bdi>
    </a>,
    " ",
    <KeyLast4 key="last4" apiKey={key} />,
    <KeyNote key="note" apiKey={key} />,
  ],
}
/** When a key was last used. */
export const LAST_USED: CellColumn<ApiKey> = {
  ...{ name: "Last used", kind: "time", onPhone: "labelled" },
  cell: key => <LastUsed apiKey={key} />,
}

const keyColumns = ({ checks, nowMs, isEnded }: ColumnsProps): readonly CellColumn<ApiKey>[] => [
  KEY_NAME,
  { name: "Kind", kind: "time", cell: key => KEY_KIND_LABELS[key.kind] },
  isEnded
    ? {
        ...{ name: "Ended", kind: "time" },
        cell: key => <DateStamp atMs={key.revokedAtMs ?? (key.expiresAtMs ?? 0) - 1} />,
      }
    : LAST_USED,
  { name: "State", kind: "pill", onPhone: "first", cell: key => <KeyStatePill apiKey={key} nowMs={nowMs} /> },
  {
    ...{ name: `Checks, ${CHECKS_DAYS} days`, kind: "number", onPhone: "labelled" },
    cell: ({ id }) => formatNumber(checks.get(id) ?? 0),
  },
]
