/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { DAY_MS } from "../../../../base/time.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { Account } from "../../../../customers/accounts/accounts.ts"
import type { KeyKind } from "../../../../customers/keys/key-format.ts"
import { ceilingOf, type KeyLimitCeiling } from "../../../../customers/keys/key-restrictions.ts"
import { isUsableKey, keyState } from "../../../../customers/keys/key-state.ts"
import type { ApiKey, Revoker } from "../../../../customers/keys/keys.ts"
import { formScriptTag } from "../../form-script.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { DateStamp, Timestamp } from "../../ui/forms.tsx"
import { CodeBlock, DescriptionList } from "../../ui/layout.tsx"

type KeyProps = { readonly apiKey: ApiKey }
type KeySummaryProps = KeyProps & { readonly nowMs: number }

/** What a key is. */
export const KeySummary = ({ apiKey, nowMs }: KeySummaryProps) => (
  <DescriptionList
    items={[
      ["Key", <KeyText apiKey={apiKey} />],
      ["Kind", KEY_KIND_LABELS[apiKey.kind]],
      ["Created", <Timestamp atMs={apiKey.createdAtMs} />],
      ...(isUsableKey(apiKey, nowMs) ? [] : [["Last used", <LastUsed apiKey={apiKey} />] as const]),
      ...keyEnd(apiKey),
    ]}
  />
)

/** When a key was last used. */
export const LastUsed = ({ apiKey: { lastUsedAtMs } }: KeyProps) =>
  lastUsedAtMs === null ? <>never</> : <Timestamp atMs={lastUsedAtMs} />

/** The units of a day that the key can use. */
export function unitsOf({ kind, unitsPerDay }: ApiKey, ofAccount: KeyLimitCeiling): string {
  const most = unitsPerDay ?? ceilingOf(kind, ofAccount).unitsPerDay
  return most === null ? "no limit" : `of ${formatNumber(most)}`
}

/** The key itself, as far as it can be shown. */
function KeyText({ apiKey: of }: KeyProps) {
  if (of.publicText !== null)
    return (
      <span class="copy-cell">
        <code class="copied">{of.publicText}</code>
      </span>
    )
  if (of.revokedAtMs !== null) return <KeyLast4 apiKey={of} />
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

/** So many days before its end a key stands out. */
const ENDING_DAYS = 14

const STATE_TONES = { active: "allow", expired: "ended", revoked: "ended" } as const

/** The state of a key, and in how many days it ends if that is soon. */
export function KeyStatePill({ apiKey, nowMs, account }: KeySummaryProps & { readonly account?: Account }) {
  const state = keyState(apiKey, nowMs)
  const days = Math.ceil(((apiKey.expiresAtMs ?? Number.POSITIVE_INFINITY) - nowMs) / DAY_MS)
  if (state === "expiring" || (state === "active" && days <= ENDING_DAYS))
    return <span class="pill as-is review">Expires in {formatCount(days, "day")}</span>
  if (state === "active" && account?.suspendedAtMs !== undefined) return <span class="pill block">refused</span>
  return <span class={`pill ${STATE_TONES[state]}`}>{state}</span>
}

/** When a key ended or will end. Empty: never. */
function keyEnd({ revokedAtMs, revokedBy, expiresAtMs }: ApiKey): readonly (readonly [string, ComponentChildren])[] {
  if (revokedAtMs === null)
    return expiresAtMs === null ? [] : [["Last day", <DateStamp key="at" atMs={expiresAtMs - 1} />]]
  const by = revokedBy === null ? null : `, by ${REVOKER_LABELS[revokedBy]}`
  return [["Revoked", [<DateStamp key="at" atMs={revokedAtMs} />, by]]]
}

/** Who revoked a key, in words for its owner. */
export const REVOKER_LABELS: { readonly [R in Revoker]: string } = {
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
    <CodeBlock
      caption={`On ${apiKey.origins.length === 1 ? apiKey.origins.join() : `your ${apiKey.origins.length} websites`}`}
      code={formScriptTag(baseUrl, keyText).replace(" data-key", "\n  data-key")}
    />
  </>
)
