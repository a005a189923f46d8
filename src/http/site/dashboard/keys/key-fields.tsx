/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { DAY_MS, isoDate, utcDay } from "../../../../base/time.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import type { KeyKind } from "../../../../customers/keys/key-format.ts"
import { ceilingOf, type KeyLimitCeiling } from "../../../../customers/keys/key-restrictions.ts"
import { ORIGINS_PER_KEY_MAX } from "../../../../customers/keys/origins.ts"
import { readableTime } from "../../ui/filter-chips.tsx"
import { formatNumber } from "../../ui/format.ts"
import { TextArea, TextField, VERBATIM } from "../../ui/forms.tsx"
import { errorAt, hasLimits, type KeyFormError, type SettingValues } from "./key-settings.ts"

/** What the fields of a key need. */
export type KeyFieldsProps = {
  readonly values: SettingValues
  readonly errors: readonly KeyFormError[]
  /** The limits of the account. */
  readonly ceiling: KeyLimitCeiling
  readonly nowMs: number
}

type FieldsProps = KeyFieldsProps & {
  /** Null: a new key, whose kind is chosen in the same form. */
  readonly kind: KeyKind | null
  /** Displayed below the name. */
  readonly children?: ComponentChildren
}

/** The fields for the settings of a key. What is off the kind of the key is left out, or hidden until its kind is chosen. */
export function KeyFields({ kind, values, errors, ceiling, nowMs, children }: FieldsProps) {
  const own = (name: keyof SettingValues) => ({ name, value: values[name], error: errorAt(name, errors) })
  const limit = (most: number | null) => ({
    ...({ inputMode: "numeric", autocomplete: "off" } as const),
    hint: `${most === null ? "" : `Less than ${formatNumber(most)}. `}Leave it empty for no limit.`,
  })
  const { unitsPerDay, requestsPerSecond } = ceilingOf(kind ?? "secret", ceiling)
  return (
    <>
      <NameField {...own("name")} isNew={kind === null} />
      {children}
      {kind === "secret" ? null : (
        <PlacesField {...own("origins")} label="Websites" onlyFor={kind === null ? "publishable" : null}>
          One per line, at most {ORIGINS_PER_KEY_MAX}, such as <code>https://shop.example</code>. Only their pages can
          use the key.
        </PlacesField>
      )}
      <details id="limits" open={hasLimits(values, errors)}>
        <summary>{kind === null ? "Limits (optional)" : "Limits"}</summary>
        <div class="folded">
          <TextField
            {...own("expires")}
            label="Last day"
            type="date"
            hint={`${values.expires === "" ? "" : `${readableTime(values.expires)}. `}The key stops working when this day ends (UTC). Leave it empty for no expiry.`}
            min={isoDate(utcDay(nowMs))}
            max={isoDate(utcDay(nowMs + LIMITS.keyExpiryDaysMax * DAY_MS) - 1)}
          />
          <TextField {...own("units")} label="Units per day" {...limit(unitsPerDay)} />
          <TextField {...own("rate")} label="Requests per second" {...limit(requestsPerSecond)} />
          {kind === "publishable" ? null : (
            <PlacesField
              {...own("networks")}
              label="Networks that may use the key"
              onlyFor={kind === null ? "secret" : null}
            >
              One per line, such as <code>203.0.113.0/24</code> or <code>2001:db8::/32</code>. At most{" "}
              {LIMITS.networksPerKeyMax}. Leave it empty for all networks.
            </PlacesField>
          )}
        </div>
      </details>
    </>
  )
}

type NameFieldProps = {
  readonly value: string
  readonly error: string | null
  readonly isNew?: boolean
}

/** The field for the name of a key. */
export const NameField = ({ value, error, isNew = false }: NameFieldProps) => (
  <TextField
    {...{ name: "name", label: "Name", value, error }}
    {...(isNew
      ? { hint: "Where you use the key, such as “Shop server”. You can change it later.", required: true }
      : {})}
    maxLength={LIMITS.keyNameLengthMax}
    autocomplete="off"
  />
)

type PlacesFieldProps = {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly error: string | null
  /** The kind of key that has the field: while it is empty and another kind is chosen, it is hidden. Null: it never is. */
  readonly onlyFor: KeyKind | null
  /** The hint. */
  readonly children: ComponentChildren
}

/** A field for the places that a key may be used from, one a line. */
const PlacesField = ({ onlyFor, children, ...field }: PlacesFieldProps) => (
  <div
    class={onlyFor === null || field.error !== null || field.value !== "" ? "wide-field" : `for-${onlyFor} wide-field`}
  >
    <TextArea {...field} {...VERBATIM} hint={children} rows={Math.max(3, field.value.split("\n").length + 1)} />
  </div>
)
