/** @jsxImportSource preact */
import { DAY_MS, dayEndMs, isoDate, utcDay } from "../../../../base/time.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import type { KeyKind } from "../../../../customers/keys/key-format.ts"
import {
  ceilingOf,
  type KeyLimitCeiling,
  type KeyRestrictions,
  type RestrictionRefusal,
} from "../../../../customers/keys/key-restrictions.ts"
import type { SubmittedForm } from "../../form-body.ts"
import { formatNumber } from "../../ui/format.ts"
import { TextArea, TextField } from "../../ui/forms.tsx"
import { printableInput } from "./printable-input.ts"

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

/** A field, and what is wrong with it. */
export type RestrictionError = { readonly field: keyof RestrictionValues; readonly message: string }

/** Reads the fields of a form. */
export const readRestrictions = (form: SubmittedForm): RestrictionValues => ({
  expires: form.text("expires"),
  units: form.text("units"),
  rate: form.text("rate"),
  networks: form.text("networks"),
})

/** The fields that show what a key is restricted to. */
export const restrictionValues = ({
  expiresAtMs,
  unitsPerDay,
  requestsPerSecond,
  networks,
}: KeyRestrictions): RestrictionValues => ({
  expires: expiresAtMs === null ? "" : lastDay(expiresAtMs),
  units: unitsPerDay?.toString() ?? "",
  rate: requestsPerSecond?.toString() ?? "",
  networks: networks.join("\n"),
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
  readonly error: RestrictionError | null
  /** The limits of the account. */
  readonly ceiling: KeyLimitCeiling
  readonly nowMs: number
}

/** The fields of a key's expiry, limits and networks. */
export function RestrictionFields({ kind, values, error, ceiling, nowMs }: RestrictionFieldsProps) {
  const errorAt = (field: keyof RestrictionValues): string | null => (error?.field === field ? error.message : null)
  const { unitsPerDay, requestsPerSecond } = ceilingOf(kind ?? "secret", ceiling)
  return (
    <>
      <TextField
        name="expires"
        label="Last day"
        type="date"
        hint="The key stops working when this day ends (UTC). Leave it empty for a key that does not expire."
        value={values.expires}
        min={isoDate(utcDay(nowMs))}
        max={isoDate(utcDay(nowMs + LIMITS.keyExpiryDaysMax * DAY_MS) - 1)}
        error={errorAt("expires")}
      />
      <TextField
        name="units"
        label="Units per day"
        inputMode="numeric"
        autocomplete="off"
        hint={limitHint(unitsPerDay)}
        value={values.units}
        error={errorAt("units")}
      />
      <TextField
        name="rate"
        label="Requests per second"
        inputMode="numeric"
        autocomplete="off"
        hint={limitHint(requestsPerSecond)}
        value={values.rate}
        error={errorAt("rate")}
      />
      {kind === "publishable" ? null : (
        <NetworksField value={values.networks} error={errorAt("networks")} isNew={kind === null} />
      )}
    </>
  )
}

const limitHint = (limit: number | null): string =>
  limit === null
    ? "Leave it empty for no limit."
    : `Less than ${formatNumber(limit)}. Leave it empty for no separate limit.`

type NetworksFieldProps = { readonly value: string; readonly error: string | null; readonly isNew: boolean }

function NetworksField({ value, error, isNew }: NetworksFieldProps) {
  return (
    <div class={isNew && error === null && value === "" ? "for-secret wide-field" : "wide-field"}>
      <TextArea
        name="networks"
        label="Networks that may use the key"
        hint={
          <>
            One per line, such as <code>203.0.113.0/24</code> or <code>2001:db8::/32</code>. At most{" "}
            {LIMITS.networksPerKeyMax}. Leave it empty for all networks.
          </>
        }
        value={value}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        rows={3}
        error={error}
      />
    </div>
  )
}

/** The message for refused restrictions, and its field. */
export function restrictionError(refusal: RestrictionRefusal): RestrictionError {
  switch (refusal.kind) {
    case "bad_expiry":
      return {
        field: "expires",
        message: `Choose today or a later day, within ${LIMITS.keyExpiryDaysMax / 365} years.`,
      }
    case "bad_units":
      return { field: "units", message: numberRule(refusal.limit) }
    case "bad_rate":
      return { field: "rate", message: numberRule(refusal.limit) }
    case "bad_network":
      return {
        field: "networks",
        message: `“${printableInput(refusal.sent)}” is not a network. Write each as 203.0.113.0/24, 2001:db8::/32 or one address.`,
      }
    case "too_many_networks":
      return { field: "networks", message: `A key has at most ${LIMITS.networksPerKeyMax} networks.` }
    case "networks_on_publishable":
      return { field: "networks", message: "Only secret keys have networks. Leave this empty, or choose a secret key." }
  }
}

const numberRule = (limit: number | null): string => {
  if (limit === null) return "Enter a whole number of at least 1, or leave it empty."
  if (limit <= 1) return "Leave it empty: your account's own limit is 1."
  return `Enter a whole number from 1 to ${formatNumber(limit - 1)}. It must be below the account's limit of ${formatNumber(limit)}.`
}
