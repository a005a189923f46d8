/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { ApiKey, Revoker } from "../../../../customers/keys/keys.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { FlashMessage, TextField, Timestamp } from "../../ui/forms.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"

/** The flash messages of the page, by the name in its URL. */
export const KEY_FLASH = {
  renamed: "The key has its new name.",
  revoked: `The key is revoked: within ${LIMITS.revocationSecondsMax} seconds nothing is let in by it.`,
  "revoked-before": "The key had been revoked before; nothing was changed.",
} as const satisfies Record<string, string>

type KeyPageProps = {
  readonly user: SignedInUser
  readonly apiKey: ApiKey
  readonly unitsToday: number
  readonly flash: string | null
  /** The value of the name field, and what is wrong with it. */
  readonly name: { readonly input: string; readonly error: string | null }
  /** The form for the revocation was sent without its confirmation. */
  readonly isUnconfirmed: boolean
}

/** One key: its data, the form for a new name, and its revocation. */
export function KeyPage({ user, apiKey, unitsToday, flash, name, isUnconfirmed }: KeyPageProps) {
  return (
    <DashboardLayout route="dashboardKey" title={apiKey.name} user={user}>
      <FlashMessage message={flash} />
      <KeySummary apiKey={apiKey} unitsToday={unitsToday} />
      <section aria-labelledby="rename">
        <h2 id="rename">Rename</h2>
        <form class="form" method="post" action={pathWithId("postKeyName", apiKey.id)}>
          <TextField
            name="name"
            label="Name"
            value={name.input}
            error={name.error}
            maxLength={LIMITS.keyNameLengthMax}
            autocomplete="off"
          />
          <button type="submit">Save the name</button>
        </form>
      </section>
      {apiKey.revokedAtMs === null ? <RevokeSection apiKey={apiKey} isUnconfirmed={isUnconfirmed} /> : null}
      <p>
        <a href={ROUTES.dashboard.path}>All keys</a>
      </p>
    </DashboardLayout>
  )
}

function KeySummary({ apiKey: of, unitsToday }: { readonly apiKey: ApiKey; readonly unitsToday: number }) {
  return (
    <dl class="facts">
      <dt>Key</dt>
      <dd>
        <KeyLast4 apiKey={of} />
      </dd>
      <dt>State</dt>
      <dd>
        <KeyState apiKey={of} />
      </dd>
      <dt>Kind</dt>
      <dd>{of.kind}</dd>
      <dt>For</dt>
      <dd>
        <KeyOrigins apiKey={of} />
        {of.kind === "publishable" && of.revokedAtMs === null ? (
          <p class="hint">To use it on another website, create a new key.</p>
        ) : null}
      </dd>
      <dt>Created</dt>
      <dd>
        <Timestamp atMs={of.createdAtMs} />
      </dd>
      <dt>Last used</dt>
      <dd>{of.lastUsedAtMs === null ? "never" : <Timestamp atMs={of.lastUsedAtMs} />}</dd>
      <dt>Today</dt>
      <dd>
        {formatCount(unitsToday, "unit")}
        {of.kind === "publishable" ? ` of ${formatNumber(LIMITS.publishableUnitsPerDay)}` : null}
      </dd>
    </dl>
  )
}

function KeyState({ apiKey: { revokedAtMs, revokedBy } }: { readonly apiKey: ApiKey }) {
  if (revokedAtMs === null) return <>active</>
  return (
    <>
      revoked <Timestamp atMs={revokedAtMs} />
      {revokedBy === null ? null : ` by ${REVOKER_LABELS[revokedBy]}`}
    </>
  )
}

const CONFIRMATION_MISSING = "Tick the box to show that you mean it."

function RevokeSection({ apiKey: of, isUnconfirmed }: { readonly apiKey: ApiKey; readonly isUnconfirmed: boolean }) {
  return (
    <section aria-labelledby="revoke">
      <h2 id="revoke">Revoke</h2>
      <p>
        Everything that uses this key stops working: its requests are refused within {LIMITS.revocationSecondsMax}{" "}
        seconds, wherever they come from. A revoked key can never be used again. If something still needs one, create
        another first and put it in this one’s place.
      </p>
      <form class="form" method="post" action={pathWithId("postKeyRevoke", of.id)}>
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
              I want to revoke <bdi>{of.name}</bdi> <KeyLast4 apiKey={of} /> for good.
            </span>
          </label>
          {isUnconfirmed ? (
            <p class="fault" id="sure-fault" role="alert">
              {CONFIRMATION_MISSING}
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

/** Who revoked a key, in words for its owner. */
export const REVOKER_LABELS: { readonly [R in Revoker]: string } = {
  owner: "you",
  admin: "an administrator",
  leak: "us, since it was found in public",
}

/** The last characters of a key, by which its owner recognises it. */
export function KeyLast4({ apiKey: { last4 } }: { readonly apiKey: Pick<ApiKey, "last4"> }) {
  return (
    <code class="short">
      <span aria-hidden="true">…</span>
      {last4}
    </code>
  )
}

/** The websites that may use a publishable key. */
export function KeyOrigins({ apiKey: { kind, origins } }: { readonly apiKey: Pick<ApiKey, "kind" | "origins"> }) {
  if (kind === "secret") return <>any server</>
  return (
    <ul class="plain">
      {origins.map(origin => (
        <li key={origin}>
          <code>{origin}</code>
        </li>
      ))}
    </ul>
  )
}
