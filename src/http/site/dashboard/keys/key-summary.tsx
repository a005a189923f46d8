/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import type { KeyKind } from "../../../../customers/keys/key-format.ts"
import { KEY_STATES, keyState } from "../../../../customers/keys/key-state.ts"
import type { ApiKey, Revoker } from "../../../../customers/keys/keys.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { Timestamp } from "../../ui/forms.tsx"

type KeySummaryProps = { readonly apiKey: ApiKey; readonly unitsToday: number; readonly nowMs: number }

/** What a key is, and what it did today. */
export function KeySummary({ apiKey: of, unitsToday, nowMs }: KeySummaryProps) {
  return (
    <dl class="facts">
      <dt>Key</dt>
      <dd>
        <KeyText apiKey={of} />
      </dd>
      <dt>State</dt>
      <dd>
        <KeyStateLabel apiKey={of} nowMs={nowMs} />
      </dd>
      <dt>Kind</dt>
      <dd>{of.kind}</dd>
      <dt>For</dt>
      <dd>
        <KeyOrigins apiKey={of} />
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
        {unitsOf(of)}
      </dd>
      {of.requestsPerSecond === null ? null : (
        <>
          <dt>Per second</dt>
          <dd>at most {formatCount(of.requestsPerSecond, "request")}</dd>
        </>
      )}
    </dl>
  )
}

/** The units of a day that the key can use, if they are other than those of the account. */
function unitsOf({ kind, unitsPerDay }: ApiKey): string | null {
  if (unitsPerDay !== null) return ` of ${formatNumber(unitsPerDay)}`
  return kind === "publishable" ? ` of ${formatNumber(LIMITS.publishableUnitsPerDay)}` : null
}

/** The key itself, as far as it can be shown. */
function KeyText({ apiKey: of }: { readonly apiKey: ApiKey }) {
  if (of.publicText !== null)
    return (
      <span class="copy-cell">
        <code class="copied">{of.publicText}</code>
      </span>
    )
  return (
    <>
      <KeyLast4 apiKey={of} />
      <p class="hint">
        {of.kind === "secret"
          ? "A secret key is shown only once, when you create it."
          : "This key was created before publishable keys were stored. It cannot be shown again."}
      </p>
    </>
  )
}

/** The state of a key, since when it has ended, or when it will. */
export function KeyStateLabel({ apiKey, nowMs }: { readonly apiKey: ApiKey; readonly nowMs: number }) {
  const { revokedAtMs, revokedBy, expiresAtMs } = apiKey
  const state = keyState(apiKey, nowMs)
  const atMs = state === "revoked" ? revokedAtMs : expiresAtMs
  return (
    <>
      {state === "active" && atMs !== null ? "active until" : KEY_STATES[state].label}
      {state === "expiring" ? ":" : ""}
      {atMs === null ? null : (
        <>
          {" "}
          <Timestamp atMs={atMs} />
        </>
      )}
      {revokedBy === null ? null : ` by ${REVOKER_LABELS[revokedBy]}`}
    </>
  )
}

/** Who revoked a key, in words for its owner. */
const REVOKER_LABELS: { readonly [R in Revoker]: string } = {
  owner: "you",
  admin: "an administrator",
  leak: "us, because it was found in public",
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

/** The kinds of keys in words. */
export const KEY_KIND_LABELS: { readonly [K in KeyKind]: string } = { secret: "Secret", publishable: "Publishable" }

/** Where a key may be used from: the websites of a publishable key, the networks of a secret one. Empty: from anywhere. */
export const placesOf = ({ kind, origins, networks }: ApiKey): readonly string[] =>
  kind === "secret" ? networks : origins

/** The places that a key may be used from, one a line. */
export function KeyOrigins({ apiKey }: { readonly apiKey: ApiKey }) {
  const places = placesOf(apiKey)
  if (places.length === 0) return <>any server</>
  return (
    <ul class="plain">
      {places.map(place => (
        <li key={place}>
          <code>{place}</code>
        </li>
      ))}
    </ul>
  )
}
