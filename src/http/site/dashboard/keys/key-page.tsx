/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { restrictionsVersion } from "../../../../customers/keys/key-changes.ts"
import type { KeyLimitCeiling } from "../../../../customers/keys/key-restrictions.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import { serializeOrigins } from "../../../../customers/keys/origins.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { Sparkline } from "../../ui/charts.tsx"
import { formatNumber } from "../../ui/format.ts"
import { FlashMessage, FormError, TextField } from "../../ui/forms.tsx"
import { Panel, Tiles } from "../../ui/panels.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import type { KeyFormError } from "./key-form.ts"
import { FormScriptSnippet, KeyLast4, KeySummary, unitsOf } from "./key-summary.tsx"
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
  /** Its checks of each of the last days, the oldest first. */
  readonly dailyChecks: readonly number[]
  readonly flash: string | null
  /** Null: nothing was sent, or all of it was right. */
  readonly fault: KeyPageFault | null
  /** The limits of the account. */
  readonly ceiling: KeyLimitCeiling
  readonly nowMs: number
  readonly baseUrl: string
}

/** One key: its data, the forms that change it, and its revocation. */
export function KeyPage({ user, unitsToday, dailyChecks, flash, baseUrl, ...rest }: KeyPageProps) {
  const { apiKey, fault, nowMs } = rest
  const checks = dailyChecks.reduce((sum, count) => sum + count, 0)
  const isRevoked = apiKey.revokedAtMs !== null
  return (
    <DashboardLayout route="dashboardKey" title={apiKey.name} user={user}>
      <p class="crumb">
        <a href={ROUTES.keys.path}>All keys</a>
      </p>
      <FlashMessage message={flash} />
      <Tiles
        tiles={[
          {
            label: `Checks, ${dailyChecks.length} days`,
            value: formatNumber(checks),
            note: checks === 0 ? undefined : <Sparkline values={dailyChecks} />,
          },
          { label: "Units today", value: formatNumber(unitsToday), note: unitsOf(apiKey) },
        ]}
      />
      <Panel>
        <KeySummary apiKey={apiKey} nowMs={nowMs} />
      </Panel>
      {isRevoked || apiKey.publicText === null ? null : (
        <Panel id="form" title="In your form">
          <FormScriptSnippet apiKey={apiKey} keyText={apiKey.publicText} baseUrl={baseUrl} />
        </Panel>
      )}
      <Panel id="rename" title="Settings">
        <RenameForm apiKey={apiKey} fault={fault} />
        {isRevoked || apiKey.kind === "secret" ? null : <OriginsForm apiKey={apiKey} fault={fault} />}
        {isRevoked ? null : <LimitsForm {...rest} />}
      </Panel>
      {isRevoked ? null : <RevokeSection apiKey={apiKey} isUnconfirmed={fault?.form === "revoke"} />}
    </DashboardLayout>
  )
}

type SectionProps = Pick<KeyPageProps, "apiKey" | "fault">

function RenameForm({ apiKey, fault }: SectionProps) {
  const own = fault?.form === "name" ? fault : null
  return (
    <form class="form" method="post" action={`${pathWithId("postKeyName", apiKey.id)}#rename`}>
      <TextField
        name="name"
        label="Name"
        value={own?.input ?? apiKey.name}
        error={own?.message ?? null}
        maxLength={LIMITS.keyNameLengthMax}
        autocomplete="off"
      />
      <button type="submit" class="small">
        Save name
      </button>
    </form>
  )
}

function OriginsForm({ apiKey, fault }: SectionProps) {
  const own = fault?.form === "origins" ? fault : null
  return (
    <details id="websites" open={own !== null}>
      <summary>Websites</summary>
      <p>Only pages of these websites can use the key.</p>
      <form class="form" method="post" action={`${pathWithId("postKeyOrigins", apiKey.id)}#websites`}>
        <input type="hidden" name="seen" value={serializeOrigins(apiKey.origins)} />
        <OriginsField value={own?.input ?? apiKey.origins.join("\n")} error={own?.message ?? null} onlyFor={null} />
        <button type="submit">Save websites</button>
      </form>
    </details>
  )
}

function LimitsForm({ apiKey, fault, ceiling, nowMs }: SectionProps & Pick<KeyPageProps, "ceiling" | "nowMs">) {
  const own = fault?.form === "limits" ? fault : null
  return (
    <details id="limits" open={own !== null}>
      <summary>Limits</summary>
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
    </details>
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
