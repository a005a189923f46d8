/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { KeyKind } from "../../../../customers/keys/key-format.ts"
import { KEY_STATES, keyState } from "../../../../customers/keys/key-state.ts"
import type { ApiKey, Revoker } from "../../../../customers/keys/keys.ts"
import { formScriptTag } from "../../form-script.ts"
import { formatNumber } from "../../ui/format.ts"
import { DateStamp, Timestamp } from "../../ui/forms.tsx"
import { CodeBlock, DescriptionList } from "../../ui/layout.tsx"

type KeyProps = { readonly apiKey: ApiKey }
type KeySummaryProps = KeyProps & { readonly nowMs: number }

/** What a key is. */
export const KeySummary = ({ apiKey, nowMs }: KeySummaryProps) => (
  <DescriptionList
    items={[
      ["Key", <KeyText apiKey={apiKey} />],
      ["State", <KeyStateLabel apiKey={apiKey} nowMs={nowMs} />],
      ["Kind", KEY_KIND_LABELS[apiKey.kind]],
      ["Created", <Timestamp atMs={apiKey.createdAtMs} />],
      ["Last used", <LastUsed apiKey={apiKey} />],
    ]}
  />
)

/** When a key was last used. */
export const LastUsed = ({ apiKey: { lastUsedAtMs } }: KeyProps) =>
  lastUsedAtMs === null ? <>never</> : <Timestamp atMs={lastUsedAtMs} />

/** The units of a day that the key can use, if they are other than those of the account. */
export function unitsOf({ kind, unitsPerDay }: ApiKey): string {
  if (unitsPerDay !== null) return `of ${formatNumber(unitsPerDay)}`
  return kind === "publishable" ? `of ${formatNumber(LIMITS.publishableUnitsPerDay)}` : ""
}

/** The key itself, as far as it can be shown. */
function KeyText({ apiKey: of }: KeyProps) {
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
export function KeyStateLabel({ apiKey, nowMs }: KeySummaryProps) {
  const { revokedAtMs, revokedBy, expiresAtMs } = apiKey
  const state = keyState(apiKey, nowMs)
  const atMs = state === "revoked" ? revokedAtMs : expiresAtMs
  return (
    <>
      {state === "active" && atMs !== null ? "active until" : KEY_STATES[state].label}
      {state === "expiring" ? ":" : ""}
      {atMs === null ? null : [" ", <DateStamp key="at" atMs={atMs} />]}
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

type FormScriptSnippetProps = {
  readonly apiKey: Pick<ApiKey, "origins">
  /** The publishable key itself. */
  readonly keyText: string
  readonly baseUrl: string
}

/** The line that a website of the key copies, to give hints beside the email fields of its forms. */
export const FormScriptSnippet = ({ apiKey, keyText, baseUrl }: FormScriptSnippetProps) => (
  <>
    <p>
      Copy this line into your page. The <a href={ROUTES.docsFormScript.path}>form script</a> shows hints beside its
      email fields.
    </p>
    <CodeBlock caption={`On ${apiKey.origins.join(", ")}`} code={formScriptTag(baseUrl, keyText)} />
  </>
)
