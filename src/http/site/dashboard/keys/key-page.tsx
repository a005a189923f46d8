/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { keyVersion } from "../../../../customers/keys/key-changes.ts"
import type { KeyLimitCeiling } from "../../../../customers/keys/key-restrictions.ts"
import { isUsableKey } from "../../../../customers/keys/key-state.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { Sparkline } from "../../ui/charts.tsx"
import { formatNumber } from "../../ui/format.ts"
import { Confirmation, DateStamp, FlashMessage, FormError } from "../../ui/forms.tsx"
import { Panel, Tiles } from "../../ui/panels.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { KeyFields, NameField } from "./key-fields.tsx"
import { errorAt, type KeyFormError, type SettingValues, settingValues } from "./key-settings.ts"
import { FormScriptSnippet, KeyLast4, KeyStatePill, KeySummary, LastUsed, unitsOf } from "./key-summary.tsx"

/** The flash messages of the page, by the name in its URL. */
export const KEY_FLASH = {
  saved: `The settings are saved. They take effect within ${LIMITS.revocationSecondsMax} seconds.`,
  revoked: `The key is revoked. It stops working within ${LIMITS.revocationSecondsMax} seconds.`,
  "revoked-before": "This key was already revoked. Nothing changed.",
} as const satisfies Record<string, string>

/** What is wrong with the settings, and what was entered there. */
export type KeyPageFault = { readonly values: SettingValues; readonly errors: readonly KeyFormError[] }

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
  /** The account's other keys that can be used. */
  readonly others: readonly ApiKey[]
}

/** One key: its data, the forms that change it, and its revocation. */
export function KeyPage({ user, unitsToday, dailyChecks, flash, baseUrl, others, ...rest }: KeyPageProps) {
  const { apiKey, nowMs } = rest
  const checks = dailyChecks.reduce((sum, count) => sum + count, 0)
  const isRevoked = apiKey.revokedAtMs !== null
  return (
    <DashboardLayout
      route="dashboardKey"
      title={apiKey.name}
      user={user}
      action={<KeyStatePill apiKey={apiKey} nowMs={nowMs} />}
    >
      <FlashMessage message={flash} />
      {isRevoked ? null : (
        <Tiles
          tiles={[
            {
              label: `Checks, ${dailyChecks.length} days`,
              value: formatNumber(checks),
              note: checks === 0 ? undefined : <Sparkline values={dailyChecks} />,
            },
            { label: "Units today", value: formatNumber(unitsToday), note: unitsOf(apiKey, rest.ceiling) },
            { label: "Last used", value: <LastUsed apiKey={apiKey} /> },
          ]}
        />
      )}
      <Panel>
        <KeySummary apiKey={apiKey} nowMs={nowMs} />
      </Panel>
      {isRevoked || apiKey.publicText === null ? null : (
        <Panel id="form" title="In your form">
          <FormScriptSnippet apiKey={apiKey} keyText={apiKey.publicText} baseUrl={baseUrl} />
        </Panel>
      )}
      <SettingsForm {...rest} />
      {isRevoked ? null : <RevokeSection apiKey={apiKey} others={others} nowMs={nowMs} />}
    </DashboardLayout>
  )
}

function SettingsForm({ apiKey, fault, ceiling, nowMs }: Pick<KeyPageProps, "apiKey" | "fault" | "ceiling" | "nowMs">) {
  const { values, errors } = fault ?? { values: settingValues(apiKey), errors: [] }
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

function RevokeSection({ apiKey: of, others, nowMs }: Pick<KeyPageProps, "apiKey" | "others" | "nowMs">) {
  const usableCount = others.length + (isUsableKey(of, nowMs) ? 1 : 0)
  return (
    <Confirmation
      path={pathWithId("postKeyRevoke", of.id)}
      label="Revoke key"
      question={
        <>
          Revoke <bdi>{of.name}</bdi> <KeyLast4 apiKey={of} />?
        </>
      }
      id="revoke"
    >
      <p>A revoked key stops working within {LIMITS.revocationSecondsMax} seconds. You cannot undo this.</p>
      {usableCount < LIMITS.keysPerAccountMax ? (
        <p>
          To replace it, first <a href={ROUTES.newKey.path}>create a new key</a> and switch to that one.
        </p>
      ) : (
        <Spare others={others} />
      )}
    </Confirmation>
  )
}

/** How to replace a key of an account that can have no more: by way of the one that was not used for longest. */
function Spare({ others }: Pick<KeyPageProps, "others">) {
  const [spare] = others.toSorted((one, other) => (one.lastUsedAtMs ?? 0) - (other.lastUsedAtMs ?? 0))
  if (spare === undefined) return null
  return (
    <p>
      You have {LIMITS.keysPerAccountMax} of {LIMITS.keysPerAccountMax} keys. To replace this one without a gap, first
      revoke one that you do not need, such as{" "}
      <a href={pathWithId("dashboardKey", spare.id)}>
        <bdi>{spare.name}</bdi>
      </a>{" "}
      ({spare.lastUsedAtMs === null ? "never used" : <>last used {<DateStamp atMs={spare.lastUsedAtMs} />}</>}).
    </p>
  )
}
