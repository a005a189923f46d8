import { dayEndMs, isoDate, utcDay } from "../../../../base/time.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { isIdempotencyKey } from "../../../../customers/keys/idempotent-creation.ts"
import type { KeyChange, KeySettings } from "../../../../customers/keys/key-changes.ts"
import { KEY_KINDS, type KeyKind } from "../../../../customers/keys/key-format.ts"
import {
  type KeyLimitCeiling,
  type KeyRestrictions,
  NO_RESTRICTIONS,
  parseRestrictions,
} from "../../../../customers/keys/key-restrictions.ts"
import {
  type ApiKey,
  type KeyCreationRefusal,
  normalizeKeyName,
  parseOrigins,
} from "../../../../customers/keys/keys.ts"
import { ORIGINS_PER_KEY_MAX } from "../../../../customers/keys/origins.ts"
import type { SubmittedForm } from "../../form-body.ts"
import { formatNumber } from "../../ui/format.ts"
import { printableInput } from "./printable-input.ts"

/** What a key is restricted to, as text. The names are those of the fields. */
const RESTRICTIONS = {
  expires: "expiresAtMs",
  units: "unitsPerDay",
  rate: "requestsPerSecond",
  networks: "networks",
} as const satisfies Record<string, keyof KeyRestrictions>

type RestrictionField = keyof typeof RESTRICTIONS
const RESTRICTION_FIELDS = Object.keys(RESTRICTIONS) as RestrictionField[] // the keys of a table are its type's

/** The settings of a key as they were entered. Origins and networks are separated by white space or commas. */
export type SettingValues = { readonly [F in "name" | "origins" | RestrictionField]: string }

/** The values of the form for a new key. */
export type NewKeyValues = SettingValues & { readonly idempotencyKey: string; readonly kind: string }

/** What is wrong with a field, or with the form as a whole. */
export type KeyFormError = {
  readonly field: "kind" | "form" | keyof SettingValues
  readonly message: string
}

/** What is wrong with a field; null: nothing. */
export const errorAt = (field: KeyFormError["field"], errors: readonly KeyFormError[]): string | null =>
  errors.find(error => error.field === field)?.message ?? null

/** Whether a limit was entered, or is wrong. */
export const hasLimits = (values: SettingValues, errors: readonly KeyFormError[]): boolean =>
  RESTRICTION_FIELDS.some(field => values[field] !== "" || errorAt(field, errors) !== null)

/** The form before anything was entered. */
export const emptyKeyForm = (idempotencyKey: string): NewKeyValues => ({
  ...{ idempotencyKey, kind: "secret" },
  ...{ name: "", origins: "", expires: "", units: "", rate: "", networks: "" },
})

/** Reads the settings of a form. */
export const readSettings = (form: SubmittedForm): SettingValues => ({
  name: form.text("name"),
  origins: form.text("origins"),
  expires: form.text("expires"),
  units: form.text("units"),
  rate: form.text("rate"),
  networks: form.text("networks"),
})

/** Reads the form for a new key. `newIdempotencyKey` replaces a malformed idempotency key. */
export function readKeyForm(form: SubmittedForm, newIdempotencyKey: string): NewKeyValues {
  const idempotencyKey = form.text("idempotency_key")
  return {
    idempotencyKey: isIdempotencyKey(idempotencyKey) ? idempotencyKey : newIdempotencyKey,
    kind: form.text("kind"),
    ...readSettings(form),
  }
}

/** The fields that show the settings of a key. */
export const settingValues = (key: ApiKey): SettingValues => ({
  name: key.name,
  origins: key.origins.join("\n"),
  expires: key.expiresAtMs === null ? "" : lastDay(key.expiresAtMs),
  units: key.unitsPerDay?.toString() ?? "",
  rate: key.requestsPerSecond?.toString() ?? "",
  networks: key.networks.join("\n"),
})

/** The last day on which a key works. */
const lastDay = (expiresAtMs: number): string => isoDate(utcDay(expiresAtMs - 1))

/** Every setting of a key. */
type WholeSettings = Required<KeySettings> & { readonly restrictions: KeyRestrictions }

/**
 * The settings that the fields ask for, for others to validate: what is no day or no number becomes `NaN`, which they refuse. A key works
 * until the end of its last day; an expiry within that day stays as it is when its day does.
 */
export function parseSettingValues(
  { name, origins, expires, units, rate, networks }: SettingValues,
  currentExpiryMs: number | null = null,
): WholeSettings {
  const isSameDay = currentExpiryMs !== null && expires === lastDay(currentExpiryMs)
  return {
    name,
    origins: splitPlaces(origins),
    restrictions: {
      expiresAtMs: isSameDay ? currentExpiryMs : endOfDay(expires),
      unitsPerDay: wholeNumber(units),
      requestsPerSecond: wholeNumber(rate),
      networks: splitPlaces(networks),
    },
  }
}

const splitPlaces = (text: string): readonly string[] => text.split(/[\s,]+/).filter(place => place !== "")

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

/** The kind of a key that a form names. Null: it names none. */
export const parseKeyKind = (kind: string): KeyKind | null =>
  Object.hasOwn(KEY_KINDS, kind) ? (kind as KeyKind) : null // it is a key of the table

/** Everything that is wrong with the settings for a key, field by field. `current`: what a key that exists is restricted to now. */
export function settingErrors(
  kind: KeyKind,
  { name, origins, restrictions }: WholeSettings,
  ceiling: KeyLimitCeiling,
  nowMs: number,
  current: KeyRestrictions = NO_RESTRICTIONS,
): readonly KeyFormError[] {
  const each = RESTRICTION_FIELDS.map(field => {
    const member = RESTRICTIONS[field]
    return parseRestrictions({ ...current, [member]: restrictions[member] }, { kind, ceiling, current }, nowMs)
  })
  const named = normalizeKeyName(name, kind) === null ? [{ kind: "bad_name" } as const] : []
  return [...named, parseOrigins(kind, origins), ...each].flatMap(parsed =>
    parsed.kind === "parsed" ? [] : [keyFormError(parsed)],
  )
}

/** What the page refuses of the form: without an idempotency key it is not ours, and without a name its owner could not tell where it is used. */
type FormRefusal = { readonly kind: "form_incomplete" | "name_missing" | "kind_missing" | "changed_meanwhile" }

/** Why a key is not created or changed. */
type KeyFormRefusal = KeyCreationRefusal | FormRefusal | Exclude<KeyChange, { readonly kind: "changed" }>

/** The message for a refused key or a refused change, and its field. */
export function keyFormError(refusal: KeyFormRefusal): KeyFormError {
  const [field, words] = KEY_FORM_ERRORS[refusal.kind]
  const sent = "sent" in refusal ? `“${printableInput(refusal.sent)}” ` : ""
  return {
    field,
    message: typeof words === "string" ? `${sent}${words}` : words("limit" in refusal ? refusal.limit : null),
  }
}

/** The rule for a number below a limit of the account. */
function numberRule(limit: number | null): string {
  if (limit === null) return "Enter a whole number of at least 1, or leave it empty."
  if (limit <= 1) return "Leave it empty: your account's own limit is 1."
  return `Enter a whole number from 1 to ${formatNumber(limit - 1)}. It must be below the account's limit of ${formatNumber(limit)}.`
}

/** The field of each refusal, and its words: after what was sent, if the refusal names it. */
const KEY_FORM_ERRORS: {
  readonly [K in KeyFormRefusal["kind"]]: readonly [KeyFormError["field"], string | typeof numberRule]
} = {
  form_incomplete: ["form", "The form was incomplete. Send it again."],
  name_missing: ["name", "Give the key a name, such as “Shop server”."],
  kind_missing: ["kind", "Choose one of the two kinds."],
  changed_meanwhile: ["form", "The key was changed in another window. Check what you entered, and save again."],
  unknown_account: ["form", "Your account was deleted a moment ago."],
  unknown_key: ["form", "The key was deleted a moment ago."],
  revoked: ["form", "The key is revoked. Only its name can change."],
  too_many_keys: ["form", `You have ${LIMITS.keysPerAccountMax} active keys, which is the maximum. Revoke one first.`],
  too_many_keys_today: [
    "form",
    `You have created ${LIMITS.keysCreatedPerDayMax} keys today, which is the maximum. Create the next one after 00:00 UTC.`,
  ],
  bad_name: ["name", `A name has at most ${LIMITS.keyNameLengthMax} characters, and no invisible ones.`],
  bad_origin: ["origins", "cannot be used. Write each as https://example.com: no path, no *, http or https."],
  origins_missing: ["origins", "Enter at least one of your websites."],
  too_many_origins: ["origins", `A key has at most ${ORIGINS_PER_KEY_MAX} of them.`],
  origins_on_secret: ["origins", "A secret key has no websites. Leave this empty, or choose a publishable key."],
  bad_expiry: ["expires", `Choose today or a later day, within ${LIMITS.keyExpiryDaysMax / 365} years.`],
  bad_units: ["units", numberRule],
  bad_rate: ["rate", numberRule],
  bad_network: ["networks", "is not a network. Write each as 203.0.113.0/24, 2001:db8::/32 or one address."],
  too_many_networks: ["networks", `A key has at most ${LIMITS.networksPerKeyMax} networks.`],
  networks_on_publishable: ["networks", "Only secret keys have networks. Leave this empty, or choose a secret key."],
}
