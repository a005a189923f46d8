import { LIMITS } from "../../../../contract/limits.ts"
import { isIdempotencyKey } from "../../../../customers/keys/idempotent-creation.ts"
import { KEY_KINDS, type KeyKind } from "../../../../customers/keys/key-format.ts"
import type { KeyLimitCeiling } from "../../../../customers/keys/key-restrictions.ts"
import type { KeyCreationRefusal, NewApiKey } from "../../../../customers/keys/keys.ts"
import { ORIGINS_PER_KEY_MAX } from "../../../../customers/keys/origins.ts"
import type { SubmittedForm } from "../../form-body.ts"
import { formatNumber } from "../../ui/format.ts"
import { printableInput } from "./printable-input.ts"
import { EMPTY_RESTRICTIONS, type RestrictionValues, readRestrictions, restrictionsOf } from "./restriction-fields.tsx"

/** The values of the form for a new key. */
export type KeyFormValues = {
  readonly idempotencyKey: string
  readonly name: string
  readonly kind: string
  /** As entered, separated by white space or commas. */
  readonly origins: string
  readonly restrictions: RestrictionValues
}

/** What is wrong with a field, or with the form as a whole. */
export type KeyFormError = {
  readonly field: "name" | "kind" | "origins" | "form" | keyof RestrictionValues
  readonly message: string
}

/** The form before anything was entered. */
export const emptyKeyForm = (idempotencyKey: string): KeyFormValues => ({
  ...{ idempotencyKey, name: "", kind: "secret", origins: "" },
  restrictions: EMPTY_RESTRICTIONS,
})

/** Reads the form. `newIdempotencyKey` replaces a malformed idempotency key. */
export function readKeyForm(form: SubmittedForm, newIdempotencyKey: string): KeyFormValues {
  const idempotencyKey = form.text("idempotency_key")
  return {
    idempotencyKey: isIdempotencyKey(idempotencyKey) ? idempotencyKey : newIdempotencyKey,
    ...{ name: form.text("name"), kind: form.text("kind"), origins: form.text("origins") },
    restrictions: readRestrictions(form),
  }
}

/** The key to create. Null when the kind is invalid. */
export function parseNewKey(
  { name, kind, origins, restrictions }: KeyFormValues,
  accountId: string,
  ceiling: KeyLimitCeiling,
): NewApiKey | null {
  if (!isKeyKind(kind)) return null
  return {
    ...{ accountId, kind, name, ceiling },
    origins: splitOrigins(origins),
    restrictions: restrictionsOf(restrictions),
  }
}

const isKeyKind = (kind: string): kind is KeyKind => Object.hasOwn(KEY_KINDS, kind)

/** The origins of a text that separates them by white space or commas. */
export const splitOrigins = (text: string): readonly string[] => text.split(/[\s,]+/).filter(origin => origin !== "")

/** What the page refuses of the form: without an idempotency key it is not ours, and without a name its owner could not tell where it is used. */
type FormRefusal = { readonly kind: "form_incomplete" | "name_missing" | "kind_missing" | "changed_meanwhile" }

/** Why a key is not created or changed. */
export type KeyFormRefusal = KeyCreationRefusal | FormRefusal

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
