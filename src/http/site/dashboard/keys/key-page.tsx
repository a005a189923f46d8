/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { restrictionsVersion } from "../../../../customers/keys/key-changes.ts"
import type { KeyLimitCeiling } from "../../../../customers/keys/key-restrictions.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import { serializeOrigins } from "../../../../customers/keys/origins.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { FlashMessage, FormError, TextField } from "../../ui/forms.tsx"
import { Panel } from "../../ui/panels.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import type { KeyFormError } from "./key-form.ts"
import { FormScriptSnippet, KeyLast4, KeySummary } from "./key-summary.tsx"
import { OriginsField, RestrictionFields, type RestrictionValues, restrictionValues } from "./restriction-fields.tsx"

/** The flash messages of the page, by the name in its URL. */
export const KEY_FLASH = {
  renamed: "The new name is saved.",
  limited: "The limits are saved.",
  moved: "The websites are saved. A new website can use the key within seconds.",
  revoked: `The key is revoked. It stops working within ${LIMITS.revocationSecondsMax} seconds.`,
  "revoked-before": "This key was already revoked. Nothing changed.",
} as const satisfies Record<string, string>

/** What is wrong with one of the page's forms, and what was entered there. */
export type KeyPageFault =
  | { readonly form: "name" | "origins"; readonly input: string; readonly message: string }
  | { readonly form: "limits"; readonly input: RestrictionValues; readonly error: KeyFormError }
  /** The form for the revocation was sent without its confirmation. */
  | { readonly form: "revoke" }

type KeyPageProps = {
  readonly user: SignedInUser
  readonly apiKey: ApiKey
  readonly unitsToday: number
  readonly flash: string | null
  /** Null: nothing was sent, or all of it was right. */
  readonly fault: KeyPageFault | null
  /** The limits of the account. */
  readonly ceiling: KeyLimitCeiling
  readonly nowMs: number
  readonly baseUrl: string
}

/** One key: its data, the forms that change it, and its revocation. */
export function KeyPage({ user, unitsToday, flash, baseUrl, ...rest }: KeyPageProps) {
  const { apiKey, fault, nowMs } = rest
  const isRevoked = apiKey.revokedAtMs !== null
  return (
    <DashboardLayout route="dashboardKey" title={apiKey.name} user={user}>
      <p class="crumb">
        <a href={ROUTES.keys.path}>All keys</a>
      </p>
      <FlashMessage message={flash} />
      <Panel>
        <KeySummary apiKey={apiKey} unitsToday={unitsToday} nowMs={nowMs} />
      </Panel>
      {isRevoked || apiKey.publicText === null ? null : (
        <Panel id="form" title="In your form">
          <FormScriptSnippet apiKey={apiKey} keyText={apiKey.publicText} baseUrl={baseUrl} />
        </Panel>
      )}
      <RenameSection apiKey={apiKey} fault={fault} />
      {isRevoked || apiKey.kind === "secret" ? null : <OriginsSection apiKey={apiKey} fault={fault} />}
      {isRevoked ? null : <LimitsSection {...rest} />}
      {isRevoked ? null : <RevokeSection apiKey={apiKey} isUnconfirmed={fault?.form === "revoke"} />}
    </DashboardLayout>
  )
}

type SectionProps = Pick<KeyPageProps, "apiKey" | "fault">

function RenameSection({ apiKey, fault }: SectionProps) {
  const own = fault?.form === "name" ? fault : null
  return (
    <Panel id="rename" title="Name">
      <form class="form" method="post" action={`${pathWithId("postKeyName", apiKey.id)}#rename`}>
        <TextField
          name="name"
          label="Name"
          value={own?.input ?? apiKey.name}
          error={own?.message ?? null}
          maxLength={LIMITS.keyNameLengthMax}
          autocomplete="off"
        />
        <button type="submit">Save name</button>
      </form>
    </Panel>
  )
}

function OriginsSection({ apiKey, fault }: SectionProps) {
  const own = fault?.form === "origins" ? fault : null
  return (
    <Panel id="websites" title="Websites">
      <p>Only pages of these websites can use the key.</p>
      <form class="form" method="post" action={`${pathWithId("postKeyOrigins", apiKey.id)}#websites`}>
        <input type="hidden" name="seen" value={serializeOrigins(apiKey.origins)} />
        <OriginsField value={own?.input ?? apiKey.origins.join("\n")} error={own?.message ?? null} onlyFor={null} />
        <button type="submit">Save websites</button>
      </form>
    </Panel>
  )
}

function LimitsSection({ apiKey, fault, ceiling, nowMs }: SectionProps & Pick<KeyPageProps, "ceiling" | "nowMs">) {
  const own = fault?.form === "limits" ? fault : null
  return (
    <Panel id="limits" title="Limits">
      <p>Limits reduce the damage if a key leaks. Changes take effect within {LIMITS.revocationSecondsMax} seconds.</p>
      <FormError message={own?.error.field === "form" ? own.error.message : null} />
      <form class="form" method="post" action={`${pathWithId("postKeyLimits", apiKey.id)}#limits`}>
        <input type="hidden" name="seen" value={restrictionsVersion(apiKey)} />
        <RestrictionFields
          {...{ kind: apiKey.kind, ceiling, nowMs, error: own?.error ?? null }}
          values={own?.input ?? restrictionValues(apiKey)}
        />
        <button type="submit">Save limits</button>
      </form>
    </Panel>
  )
}

function RevokeSection({ apiKey: of, isUnconfirmed }: { readonly apiKey: ApiKey; readonly isUnconfirmed: boolean }) {
  return (
    <Panel id="revoke" title="Revoke">
      <p>
        Everything that uses this key stops working within {LIMITS.revocationSecondsMax} seconds. You cannot undo this.
        If something still needs a key, create another one first.
      </p>
      <form class="form" method="post" action={`${pathWithId("postKeyRevoke", of.id)}#revoke`}>
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
              I want to revoke <bdi>{of.name}</bdi> <KeyLast4 apiKey={of} /> permanently.
            </span>
          </label>
          {isUnconfirmed ? (
            <p class="fault" id="sure-fault" role="alert">
              Tick the box to confirm.
            </p>
          ) : null}
        </div>
        <button type="submit" class="danger">
          Revoke key
        </button>
      </form>
    </Panel>
  )
}
