/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { keyVersion } from "../../../../customers/keys/key-changes.ts"
import type { KeyLimitCeiling } from "../../../../customers/keys/key-restrictions.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { Sparkline } from "../../ui/charts.tsx"
import { formatNumber } from "../../ui/format.ts"
import { FlashMessage, FormError } from "../../ui/forms.tsx"
import { Panel, Tiles } from "../../ui/panels.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { KeyFields, NameField } from "./key-fields.tsx"
import { errorAt, type KeyFormError, type SettingValues, settingValues } from "./key-settings.ts"
import { FormScriptSnippet, KeyLast4, KeySummary, unitsOf } from "./key-summary.tsx"

/** The flash messages of the page, by the name in its URL. */
export const KEY_FLASH = {
  saved: `The settings are saved. They take effect within ${LIMITS.revocationSecondsMax} seconds.`,
  revoked: `The key is revoked. It stops working within ${LIMITS.revocationSecondsMax} seconds.`,
  "revoked-before": "This key was already revoked. Nothing changed.",
} as const satisfies Record<string, string>

/** What is wrong with one of the page's forms, and what was entered there. */
export type KeyPageFault =
  | { readonly form: "settings"; readonly values: SettingValues; readonly errors: readonly KeyFormError[] }
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
    <DashboardLayout
      route="dashboardKey"
      title={apiKey.name}
      user={user}
      action={isRevoked ? <span class="pill block">Revoked</span> : undefined}
    >
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
      <SettingsForm {...rest} />
      {isRevoked ? null : <RevokeSection apiKey={apiKey} isUnconfirmed={fault?.form === "revoke"} />}
    </DashboardLayout>
  )
}

function SettingsForm({ apiKey, fault, ceiling, nowMs }: Pick<KeyPageProps, "apiKey" | "fault" | "ceiling" | "nowMs">) {
  const { values, errors } =
    fault?.form === "settings" ? fault : { values: settingValues(apiKey), errors: [] as readonly KeyFormError[] }
  return (
    <Panel id="settings" title="Settings">
      <FormError message={errorAt("form", errors)} />
      <form class="form" method="post" action={`${pathWithId("postKeySettings", apiKey.id)}#settings`}>
        <input type="hidden" name="seen" value={keyVersion(apiKey)} />
        {apiKey.revokedAtMs === null ? (
          <KeyFields kind={apiKey.kind} {...{ values, errors, ceiling, nowMs }} />
        ) : (
          <NameField value={values.name} error={errorAt("name", errors)} />
        )}
        <button type="submit">Save</button>
      </form>
    </Panel>
  )
}

function RevokeSection({ apiKey: of, isUnconfirmed }: { readonly apiKey: ApiKey; readonly isUnconfirmed: boolean }) {
  return (
    <Panel id="revoke" title="Replace or revoke" link={<a href={ROUTES.newKey.path}>New key</a>}>
      <p>
        To replace the key, create a new one and switch to it before you revoke this one. A revoked key stops working
        within {LIMITS.revocationSecondsMax} seconds. You cannot undo this.
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
