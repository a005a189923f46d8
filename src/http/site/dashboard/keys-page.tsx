/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Usage } from "../../../contract/usage-schema.ts"
import type { Key } from "../../../customers/keys/keys.ts"
import { Instant } from "../fields.tsx"
import { counted, grouped } from "../figures.ts"
import { Table } from "../layout.tsx"
import type { Visitor } from "../signed-in.ts"
import { DashboardLayout } from "./dashboard-layout.tsx"
import type { KeyEntry, KeyFault } from "./key-form.ts"
import { pathOfKey } from "./key-paths.ts"
import { LastFour, Origins, REVOKER_WORDS } from "./key-words.tsx"
import { NewKeyForm } from "./new-key-form.tsx"

/** How many keys the page shows: the active ones, and the latest of those that were revoked. */
export const KEYS_SHOWN_MAX = 50

type Props = {
  readonly visitor: Visitor
  /** At most `KEYS_SHOWN_MAX`, active ones first. */
  readonly keys: readonly Key[]
  readonly today: Usage["today"]
  readonly entry: KeyEntry
  /** Null: nothing is wrong with the entry, or nothing was sent yet. */
  readonly fault: KeyFault | null
}

/** The account's keys, how much of the day is left, and the form for another key. */
export function KeysPage({ visitor, keys, today, entry, fault }: Props) {
  const active = keys.filter(({ revokedAtMs }) => revokedAtMs === null)
  const revoked = keys.filter(({ revokedAtMs }) => revokedAtMs !== null)
  return (
    <DashboardLayout route="dashboard" title="Keys" visitor={visitor}>
      <QuotaLine today={today} />
      <ActiveKeys keys={active} />
      <NewKeyForm entry={entry} fault={fault} isFull={active.length >= LIMITS.keysPerAccountMax} />
      <RevokedKeys keys={revoked} isCut={keys.length >= KEYS_SHOWN_MAX} />
    </DashboardLayout>
  )
}

function QuotaLine({ today: { used, remaining } }: Pick<Props, "today">) {
  return (
    <p class="lead">
      {counted(used, "unit")} used today, {remaining === null ? "and no limit to them" : `${grouped(remaining)} left`}.{" "}
      <a href={ROUTES.usage.path}>See your usage</a>
    </p>
  )
}

function ActiveKeys({ keys }: { readonly keys: readonly Key[] }) {
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
              <KeyHead of={key} />
              <td>
                {key.kind}: <Origins of={key} />
              </td>
              <td>
                <Instant atMs={key.createdAtMs} />
              </td>
              <td>{key.lastUsedAtMs === null ? "never" : <Instant atMs={key.lastUsedAtMs} />}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}

function RevokedKeys({ keys, isCut }: { readonly keys: readonly Key[]; readonly isCut: boolean }) {
  if (keys.length === 0) return null
  return (
    <section aria-labelledby="revoked">
      <h2 id="revoked">Revoked keys</h2>
      {isCut ? <p>Only the latest are shown.</p> : null}
      <Table caption="Revoked keys" columns={["Key", "Revoked by", "Revoked"]}>
        {keys.map(key => (
          <tr key={key.id}>
            <KeyHead of={key} />
            <td>{key.revokedBy === null ? "–" : REVOKER_WORDS[key.revokedBy]}</td>
            <td>{key.revokedAtMs === null ? "–" : <Instant atMs={key.revokedAtMs} />}</td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

function KeyHead({ of }: { readonly of: Key }) {
  return (
    <th scope="row" class="name">
      <a href={pathOfKey(of.id)}>
        <bdi>{of.name}</bdi>
      </a>{" "}
      <LastFour of={of} />
    </th>
  )
}
