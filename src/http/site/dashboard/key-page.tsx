/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Key } from "../../../customers/keys/keys.ts"
import { Done, Instant, TextField } from "../fields.tsx"
import { counted, grouped } from "../figures.ts"
import type { Visitor } from "../signed-in.ts"
import { DashboardLayout } from "./dashboard-layout.tsx"
import { pathOfKey } from "./key-paths.ts"
import { LastFour, Origins, REVOKER_WORDS } from "./key-words.tsx"

/** What may have been done to a key just before its page is shown. */
export const KEY_DEEDS = {
  renamed: "The key has its new name.",
  revoked: `The key is revoked: within ${LIMITS.revocationSecondsMax} seconds nothing is let in by it.`,
  "revoked-before": "The key had been revoked before; nothing was changed.",
} as const satisfies Record<string, string>

type Props = {
  readonly visitor: Visitor
  readonly shown: Key
  /** Units of today. */
  readonly usedToday: number
  readonly done: string | null
  /** What stands in the field for the name, and what is wrong with it. */
  readonly name: { readonly typed: string; readonly fault: string | null }
  /** The revocation was asked for without its confirmation. */
  readonly isUnconfirmed: boolean
}

/** One key: what it is, its name to change, and its end. */
export function KeyPage({ visitor, shown, usedToday, done, name, isUnconfirmed }: Props) {
  return (
    <DashboardLayout route="dashboardKey" title={shown.name} visitor={visitor}>
      <Done says={done} />
      <Facts of={shown} usedToday={usedToday} />
      <section aria-labelledby="rename">
        <h2 id="rename">Rename</h2>
        <form class="form" method="post" action={pathOfKey(shown.id, "postKeyName")}>
          <TextField
            name="name"
            label="Name"
            value={name.typed}
            fault={name.fault}
            maxLength={LIMITS.keyNameLengthMax}
            autocomplete="off"
          />
          <button type="submit">Save the name</button>
        </form>
      </section>
      {shown.revokedAtMs === null ? <RevokeSection of={shown} isUnconfirmed={isUnconfirmed} /> : null}
      <p>
        <a href={ROUTES.dashboard.path}>All keys</a>
      </p>
    </DashboardLayout>
  )
}

function Facts({ of, usedToday }: { readonly of: Key; readonly usedToday: number }) {
  return (
    <dl class="facts">
      <dt>Key</dt>
      <dd>
        <LastFour of={of} />
      </dd>
      <dt>State</dt>
      <dd>
        <State of={of} />
      </dd>
      <dt>Kind</dt>
      <dd>{of.kind}</dd>
      <dt>For</dt>
      <dd>
        <Origins of={of} />
        {of.kind === "publishable" && of.revokedAtMs === null ? (
          <p class="hint">To use it on another website, create a new key.</p>
        ) : null}
      </dd>
      <dt>Created</dt>
      <dd>
        <Instant atMs={of.createdAtMs} />
      </dd>
      <dt>Last used</dt>
      <dd>{of.lastUsedAtMs === null ? "never" : <Instant atMs={of.lastUsedAtMs} />}</dd>
      <dt>Today</dt>
      <dd>
        {counted(usedToday, "unit")}
        {of.kind === "publishable" ? ` of ${grouped(LIMITS.publishableUnitsPerDay)}` : null}
      </dd>
    </dl>
  )
}

function State({ of: { revokedAtMs, revokedBy } }: { readonly of: Key }) {
  if (revokedAtMs === null) return <>active</>
  return (
    <>
      revoked <Instant atMs={revokedAtMs} />
      {revokedBy === null ? null : ` by ${REVOKER_WORDS[revokedBy]}`}
    </>
  )
}

const UNCONFIRMED = "Tick the box to show that you mean it."

function RevokeSection({ of, isUnconfirmed }: { readonly of: Key; readonly isUnconfirmed: boolean }) {
  return (
    <section aria-labelledby="revoke">
      <h2 id="revoke">Revoke</h2>
      <p>
        Everything that uses this key stops working: its requests are refused within {LIMITS.revocationSecondsMax}{" "}
        seconds, wherever they come from. A revoked key can never be used again. If something still needs one, create
        another first and put it in this one’s place.
      </p>
      <form class="form" method="post" action={pathOfKey(of.id, "postKeyRevoke")}>
        <div>
          <label class="check">
            <input
              type="checkbox"
              name="sure"
              value="yes"
              required
              {...(isUnconfirmed ? { "aria-invalid": true, "aria-describedby": "sure-fault" } : {})}
            />
            <span>
              I want to revoke <bdi>{of.name}</bdi> <LastFour of={of} /> for good.
            </span>
          </label>
          {isUnconfirmed ? (
            <p class="fault" id="sure-fault" role="alert">
              {UNCONFIRMED}
            </p>
          ) : null}
        </div>
        <button type="submit" class="danger">
          Revoke the key
        </button>
      </form>
    </section>
  )
}
