/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { DAY_MS, dayEndMs, isoDate, utcDay } from "../../../../base/time.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import type { KeyKind } from "../../../../customers/keys/key-format.ts"
import { ceilingOf, type KeyLimitCeiling, type KeyRestrictions } from "../../../../customers/keys/key-restrictions.ts"
import { ORIGINS_PER_KEY_MAX } from "../../../../customers/keys/origins.ts"
import type { SubmittedForm } from "../../form-body.ts"
import { formatNumber } from "../../ui/format.ts"
import { TextArea, TextField, VERBATIM } from "../../ui/forms.tsx"

/** The fields of a key's expiry, limits and networks, as they were entered. */
export type RestrictionValues = {
  readonly expires: string
  readonly units: string
  readonly rate: string
  /** Separated by white space or commas. */
  readonly networks: string
}

/** The fields before anything was entered. */
export const EMPTY_RESTRICTIONS: RestrictionValues = { expires: "", units: "", rate: "", networks: "" }

/** Reads the fields of a form. */
export const readRestrictions = (form: SubmittedForm): RestrictionValues => ({
  expires: form.text("expires"),
  units: form.text("units"),
  rate: form.text("rate"),
  networks: form.text("networks"),
})

/** The fields that show what a key is restricted to. */
export const restrictionValues = (key: KeyRestrictions): RestrictionValues => ({
  expires: key.expiresAtMs === null ? "" : lastDay(key.expiresAtMs),
  units: key.unitsPerDay?.toString() ?? "",
  rate: key.requestsPerSecond?.toString() ?? "",
  networks: key.networks.join("\n"),
})

/** The last day on which a key works. */
const lastDay = (expiresAtMs: number): string => isoDate(utcDay(expiresAtMs - 1))

/**
 * The restrictions that the fields ask for, for `parseRestrictions` to validate: what is no day or no number becomes `NaN`, which it
 * refuses. A key works until the end of its last day; an expiry within that day stays as it is when its day does.
 */
export function restrictionsOf(
  { expires, units, rate, networks }: RestrictionValues,
  currentExpiryMs: number | null = null,
): KeyRestrictions {
  const isSameDay = currentExpiryMs !== null && expires === lastDay(currentExpiryMs)
  return {
    expiresAtMs: isSameDay ? currentExpiryMs : endOfDay(expires),
    unitsPerDay: wholeNumber(units),
    requestsPerSecond: wholeNumber(rate),
    networks: networks.split(/[\s,]+/).filter(network => network !== ""),
  }
}

const DAY_FORMAT = /^\d{4}-\d{2}-\d{2}$/

/** The end of a day that is written as `2026-01-31`. Null: none was entered. `NaN`: the text is no day. */
export function endOfDay(text: string): number | null {
  if (text === "") return null
  const startMs = DAY_FORMAT.test(text) ? Date.parse(text) : Number.NaN
  // February has no 31st, which some parsers take for a day of March.
  return Number.isNaN(startMs) || isoDate(utcDay(startMs)) !== text ? Number.NaN : dayEndMs(utcDay(startMs))
}

/** Digits, or groups of three of them with a separator in between. */
const NUMBER_FORMAT = /^(?:\d{1,15}|\d{1,3}(?:[\s,.'’_]\d{3}){1,4})$/

/** Null: nothing was entered. `NaN`: the text is no whole number. */
function wholeNumber(text: string): number | null {
  if (text === "") return null
  return NUMBER_FORMAT.test(text) ? Number(text.replaceAll(/\D/g, "")) : Number.NaN
}

type RestrictionFieldsProps = {
  /** Null: a new key, whose kind is chosen in the same form. */
  readonly kind: KeyKind | null
  readonly values: RestrictionValues
  readonly error: { readonly field: string; readonly message: string } | null
  /** The limits of the account. */
  readonly ceiling: KeyLimitCeiling
  readonly nowMs: number
}

/** The fields of a key's expiry, limits and networks. */
export function RestrictionFields({ kind, values, error, ceiling, nowMs }: RestrictionFieldsProps) {
  const own = (field: keyof RestrictionValues) => ({
    name: field,
    value: values[field],
    error: error?.field === field ? error.message : null,
  })
  const limit = (most: number | null) => ({
    ...({ inputMode: "numeric", autocomplete: "off" } as const),
    hint: `${most === null ? "" : `Less than ${formatNumber(most)}. `}Leave it empty for no ${most === null ? "" : "separate "}limit.`,
  })
  const { unitsPerDay, requestsPerSecond } = ceilingOf(kind ?? "secret", ceiling)
  return (
    <>
      <TextField
        {...own("expires")}
        label="Last day"
        type="date"
        hint="The key stops working when this day ends (UTC). Leave it empty for a key that does not expire."
        min={isoDate(utcDay(nowMs))}
        max={isoDate(utcDay(nowMs + LIMITS.keyExpiryDaysMax * DAY_MS) - 1)}
      />
      <TextField {...own("units")} label="Units per day" {...limit(unitsPerDay)} />
      <TextField {...own("rate")} label="Requests per second" {...limit(requestsPerSecond)} />
      {kind === "publishable" ? null : (
        <PlacesField
          {...own("networks")}
          label="Networks that may use the key"
          hint={
            <>
              One per line, such as <code>203.0.113.0/24</code> or <code>2001:db8::/32</code>. At most{" "}
              {LIMITS.networksPerKeyMax}. Leave it empty for all networks.
            </>
          }
          onlyFor={kind === null ? "secret" : null}
        />
      )}
    </>
  )
}

type PlacesFieldProps = {
  readonly name: string
  readonly label: string
  readonly hint: ComponentChildren
  readonly value: string
  readonly error: string | null
  /** The kind of key that has the field: while it is empty and another kind is chosen, it is hidden. Null: it never is. */
  readonly onlyFor: KeyKind | null
}

/** A field for the places that a key may be used from, one a line. */
const PlacesField = ({ onlyFor, ...field }: PlacesFieldProps) => (
  <div
    class={onlyFor === null || field.error !== null || field.value !== "" ? "wide-field" : `for-${onlyFor} wide-field`}
  >
    <TextArea {...field} {...VERBATIM} rows={3} />
  </div>
)

/** The field for the websites of a publishable key. */
export const OriginsField = (props: Pick<PlacesFieldProps, "value" | "error" | "onlyFor">) => (
  <PlacesField
    {...{ name: "origins", label: "Websites", ...props }}
    hint={
      <>
        One per line, at most {ORIGINS_PER_KEY_MAX}, such as <code>https://shop.example</code>. Only publishable keys
        have websites.
      </>
    }
  />
)
