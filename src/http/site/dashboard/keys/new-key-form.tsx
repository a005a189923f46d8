/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { isIdempotencyKey } from "../../../../customers/keys/idempotent-creation.ts"
import { KEY_KINDS, type KeyKind } from "../../../../customers/keys/key-format.ts"
import type { KeyLimitCeiling, RestrictionRefusal } from "../../../../customers/keys/key-restrictions.ts"
import type { KeyCreationRefusal, NewApiKey } from "../../../../customers/keys/keys.ts"
import { ORIGINS_PER_KEY_MAX } from "../../../../customers/keys/origins.ts"
import type { SubmittedForm } from "../../form-body.ts"
import { FormError, RadioCards, TextArea, TextField } from "../../ui/forms.tsx"
import { Empty } from "../../ui/panels.tsx"
import { printableInput } from "./printable-input.ts"
import {
  EMPTY_RESTRICTIONS,
  type RestrictionError,
  RestrictionFields,
  type RestrictionValues,
  readRestrictions,
  restrictionError,
  restrictionsOf,
} from "./restriction-fields.tsx"

/** What the form shows. */
export type NewKeyFormProps = {
  readonly values: KeyFormValues
  readonly error: KeyFormError | null
  /** The account has as many active keys as it may have. */
  readonly isAtLimit: boolean
  /** The limits of the account. */
  readonly ceiling: KeyLimitCeiling
  readonly nowMs: number
}

/** The form for a new key, or what to do first when the account has reached its limit. */
export function NewKeyForm({ isAtLimit, ...form }: NewKeyFormProps) {
  return (
    <>
      <FormError message={errorAt("form", form.error)} />
      {isAtLimit ? (
        <Empty
          action={
            <a class="button" href={ROUTES.keys.path}>
              See your keys
            </a>
          }
        >
          You have {LIMITS.keysPerAccountMax} active keys, the most an account can have. Revoke one to create another.
        </Empty>
      ) : (
        <NewKeyFields {...form} />
      )}
    </>
  )
}

function NewKeyFields({ values, error, ceiling, nowMs }: Omit<NewKeyFormProps, "isAtLimit">) {
  const restrictionFault = error !== null && isRestrictionError(error) ? error : null
  const isOpen = restrictionFault !== null || Object.values(values.restrictions).some(value => value !== "")
  return (
    <form class="form" method="post" action={ROUTES.postKey.path}>
      <input type="hidden" name="idempotency_key" value={values.idempotencyKey} />
      <TextField
        name="name"
        label="Name"
        hint="Where you use the key, such as “Shop server”. You can change it later."
        required
        value={values.name}
        maxLength={LIMITS.keyNameLengthMax}
        autocomplete="off"
        error={errorAt("name", error)}
      />
      <KindCards selected={values.kind} error={errorAt("kind", error)} />
      <OriginsField value={values.origins} error={errorAt("origins", error)} isHideable={values.origins === ""} />
      <details open={isOpen}>
        <summary>Limits (optional)</summary>
        <div class="folded">
          <RestrictionFields
            kind={null}
            values={values.restrictions}
            error={restrictionFault}
            ceiling={ceiling}
            nowMs={nowMs}
          />
        </div>
      </details>
      <button type="submit">Create key</button>
    </form>
  )
}

const errorAt = (field: KeyFormError["field"], error: KeyFormError | null): string | null =>
  error?.field === field ? error.message : null

/** The kinds as the form describes them. */
const KIND_CARDS: { readonly [K in KeyKind]: { readonly label: string; readonly description: string } } = {
  secret: { label: "Secret", description: "For your server. Full results, all endpoints. Keep it private." },
  publishable: {
    label: "Publishable",
    description: "For web pages. Short results, from your websites only. Anybody can see it.",
  },
}

const KindCards = (props: { readonly selected: string; readonly error: string | null }) => (
  <RadioCards
    {...{ name: "kind", legend: "Kind", ...props }}
    cards={Object.entries(KIND_CARDS).map(([value, card]) => ({ value, ...card }))}
  />
)

type OriginsFieldProps = {
  readonly value: string
  readonly error: string | null
  /** Whether the field is hidden while the other kind is chosen. */
  readonly isHideable: boolean
}

/** The websites of a publishable key. */
export function OriginsField({ value, error, isHideable }: OriginsFieldProps) {
  return (
    <div class={isHideable && error === null ? "for-publishable wide-field" : "wide-field"}>
      <TextArea
        name="origins"
        label="Websites"
        hint={
          <>
            One per line, at most {ORIGINS_PER_KEY_MAX}, such as <code>https://shop.example</code>. Only publishable
            keys have websites.
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
export type KeyFormError =
  | { readonly field: "name" | "kind" | "origins" | "form"; readonly message: string }
  | RestrictionError

const isRestrictionError = (error: KeyFormError): error is RestrictionError =>
  Object.hasOwn(EMPTY_RESTRICTIONS, error.field)

/** The form before anything was entered. */
export const emptyKeyForm = (idempotencyKey: string): KeyFormValues => ({
  idempotencyKey,
  name: "",
  kind: "secret",
  origins: "",
  restrictions: EMPTY_RESTRICTIONS,
})

/** Reads the form. `newIdempotencyKey` replaces a malformed idempotency key. */
export function readKeyForm(form: SubmittedForm, newIdempotencyKey: string): KeyFormValues {
  const idempotencyKey = form.text("idempotency_key")
  return {
    idempotencyKey: isIdempotencyKey(idempotencyKey) ? idempotencyKey : newIdempotencyKey,
    name: form.text("name"),
    kind: form.text("kind"),
    origins: form.text("origins"),
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
    accountId,
    kind,
    name,
    origins: splitOrigins(origins),
    restrictions: restrictionsOf(restrictions),
    ceiling,
  }
}

/** The origins of a text that separates them by white space or commas. */
export const splitOrigins = (text: string): readonly string[] => text.split(/[\s,]+/).filter(origin => origin !== "")

/** A key that is made on the page has a name: it tells its owner where the key is used. */
export const NAME_MISSING: KeyFormError = { field: "name", message: "Give the key a name, such as “Shop server”." }

/** The kind of key is missing or invalid. */
export const KIND_MISSING: KeyFormError = { field: "kind", message: "Choose one of the two kinds." }

/** The form has no valid idempotency key, so it is not ours. */
export const FORM_INCOMPLETE: KeyFormError = {
  field: "form",
  message: "The form was incomplete. Send it again.",
}

/** The message for a refused key, and its field. */
export function keyFormError(refusal: KeyCreationRefusal): KeyFormError {
  switch (refusal.kind) {
    case "bad_origin": {
      const { field, message } = KEY_FORM_ERRORS.bad_origin
      return { field, message: `“${printableInput(refusal.sent)}” cannot be used. ${message}` }
    }
    case "bad_expiry":
    case "bad_units":
    case "bad_rate":
    case "bad_network":
    case "too_many_networks":
    case "networks_on_publishable":
      return restrictionError(refusal)
    default:
      return KEY_FORM_ERRORS[refusal.kind]
  }
}

type PlainRefusal = Exclude<KeyCreationRefusal["kind"], RestrictionRefusal["kind"]>

const KEY_FORM_ERRORS: { readonly [K in PlainRefusal]: Exclude<KeyFormError, RestrictionError> } = {
  unknown_account: { field: "form", message: "Your account was deleted a moment ago." },
  too_many_keys: {
    field: "form",
    message: `You have ${LIMITS.keysPerAccountMax} active keys, which is the maximum. Revoke one first.`,
  },
  too_many_keys_today: {
    field: "form",
    message: `You have created ${LIMITS.keysCreatedPerDayMax} keys today, which is the maximum. Create the next one after 00:00 UTC.`,
  },
  bad_name: {
    field: "name",
    message: `A name has at most ${LIMITS.keyNameLengthMax} characters, and no invisible ones.`,
  },
  bad_origin: { field: "origins", message: "Write each as https://example.com: no path, no *, http or https." },
  origins_missing: { field: "origins", message: "Enter at least one of your websites." },
  too_many_origins: { field: "origins", message: `A key has at most ${ORIGINS_PER_KEY_MAX} of them.` },
  origins_on_secret: {
    field: "origins",
    message: "A secret key has no websites. Leave this empty, or choose a publishable key.",
  },
}

const isKeyKind = (kind: string): kind is KeyKind => Object.hasOwn(KEY_KINDS, kind)
