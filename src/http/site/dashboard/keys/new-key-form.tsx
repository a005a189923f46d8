/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { isIdempotencyKey } from "../../../../customers/keys/idempotent-creation.ts"
import { KEY_KINDS, type KeyKind } from "../../../../customers/keys/key-format.ts"
import type { KeyCreationRefusal, NewApiKey } from "../../../../customers/keys/keys.ts"
import { ORIGINS_PER_KEY_MAX } from "../../../../customers/keys/origins.ts"
import type { SubmittedForm } from "../../form-body.ts"
import { FormError, SelectField, TextArea, TextField } from "../../ui/forms.tsx"

type NewKeyFormProps = {
  readonly values: KeyFormValues
  readonly error: KeyFormError | null
  /** The account has as many active keys as it may have. */
  readonly isAtLimit: boolean
}

/** The form for a new key, or what to do first when the account has reached its limit. */
export function NewKeyForm({ values, error, isAtLimit }: NewKeyFormProps) {
  return (
    <section aria-labelledby="new">
      <h2 id="new">Create a key</h2>
      <FormError message={errorAt("form", error)} />
      {isAtLimit ? (
        <p>
          An account has at most {LIMITS.keysPerAccountMax} active keys. Open one that you no longer need and revoke it;
          then you can create another.
        </p>
      ) : (
        <NewKeyFields values={values} error={error} />
      )}
    </section>
  )
}

function NewKeyFields({ values, error }: Omit<NewKeyFormProps, "isAtLimit">) {
  return (
    <form class="form" method="post" action={`${ROUTES.postKey.path}#new`}>
      <input type="hidden" name="slip" value={values.idempotencyKey} />
      <TextField
        name="name"
        label="Name"
        hint="Where the key will be used, such as “Shop server”. You can change it later."
        value={values.name}
        maxLength={LIMITS.keyNameLengthMax}
        autocomplete="off"
        error={errorAt("name", error)}
      />
      <SelectField
        name="kind"
        label="Kind"
        options={KIND_OPTIONS}
        selected={values.kind}
        error={errorAt("kind", error)}
        hint="Keep a secret key on your server. A publishable key may stand in a web page, where anybody can read it: it checks one address at a time, from your websites only."
      />
      <TextArea
        name="origins"
        label="Websites, for a publishable key"
        hint={
          <>
            One a line, at most {ORIGINS_PER_KEY_MAX}, such as <code>https://shop.example</code>. They cannot be changed
            later.
          </>
        }
        value={values.origins}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        rows={3}
        error={errorAt("origins", error)}
      />
      <button type="submit">Create key</button>
    </form>
  )
}

const errorAt = (field: KeyFormError["field"], error: KeyFormError | null): string | null =>
  error?.field === field ? error.message : null

const KIND_OPTIONS: readonly { readonly value: KeyKind; readonly label: string }[] = [
  { value: "secret", label: `Secret · ${KEY_KINDS.secret.description}` },
  { value: "publishable", label: `Publishable · ${KEY_KINDS.publishable.description}` },
]

/** The values of the form for a new key. */
export type KeyFormValues = {
  readonly idempotencyKey: string
  readonly name: string
  readonly kind: string
  /** As entered, separated by white space or commas. */
  readonly origins: string
}

/** What is wrong with a field, or with the form as a whole. */
export type KeyFormError = { readonly field: "name" | "kind" | "origins" | "form"; readonly message: string }

/** The form before anything was entered. */
export const emptyKeyForm = (idempotencyKey: string): KeyFormValues => ({
  idempotencyKey,
  name: "",
  kind: "secret",
  origins: "",
})

/** Reads the form. `newIdempotencyKey` replaces a malformed idempotency key. */
export function readKeyForm(form: SubmittedForm, newIdempotencyKey: string): KeyFormValues {
  const idempotencyKey = form.text("slip")
  return {
    idempotencyKey: isIdempotencyKey(idempotencyKey) ? idempotencyKey : newIdempotencyKey,
    name: form.text("name"),
    kind: form.text("kind"),
    origins: form.text("origins"),
  }
}

/** The key to create. Null when the kind is invalid. */
export function parseNewKey({ name, kind, origins }: KeyFormValues, accountId: string): NewApiKey | null {
  if (!isKeyKind(kind)) return null
  return { accountId, kind, name, origins: origins.split(/[\s,]+/).filter(origin => origin !== "") }
}

/** The kind of key is missing or invalid. */
export const KIND_MISSING: KeyFormError = { field: "kind", message: "Choose one of the two kinds." }

/** The form has no valid idempotency key, so it is not ours. */
export const FORM_INCOMPLETE: KeyFormError = {
  field: "form",
  message: "The form was not complete. Please send it once more.",
}

/** The message for a refused key, and its field. */
export function keyFormError(refusal: KeyCreationRefusal): KeyFormError {
  const error = KEY_FORM_ERRORS[refusal.kind]
  return refusal.kind === "bad_origin"
    ? { ...error, message: `“${printable(refusal.sent)}” cannot be used. ${error.message}` }
    : error
}

const KEY_FORM_ERRORS: { readonly [K in KeyCreationRefusal["kind"]]: KeyFormError } = {
  unknown_account: { field: "form", message: "Your account was deleted a moment ago." },
  too_many_keys: {
    field: "form",
    message: `You have ${LIMITS.keysPerAccountMax} active keys, the most an account may have. Revoke one first.`,
  },
  too_many_keys_today: {
    field: "form",
    message: `You have created ${LIMITS.keysCreatedPerDayMax} keys today, the most a day. You can create the next one after 00:00 UTC.`,
  },
  bad_name: {
    field: "name",
    message: `A name has at most ${LIMITS.keyNameLengthMax} characters, and no invisible ones.`,
  },
  bad_origin: { field: "origins", message: "Write each as https://example.com: no path, no *, http or https." },
  origins_missing: { field: "origins", message: "A publishable key needs to know at least one of your websites." },
  too_many_origins: { field: "origins", message: `A key has at most ${ORIGINS_PER_KEY_MAX} of them.` },
  origins_on_secret: {
    field: "origins",
    message: "A secret key has no websites. Leave this empty, or choose a publishable key.",
  },
}

const ECHOED_LENGTH_MAX = 80

/** Shortens an input for a message, and replaces invisible characters. */
const printable = (text: string): string => {
  const visible = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "�")
  return visible.length > ECHOED_LENGTH_MAX ? `${[...visible].slice(0, ECHOED_LENGTH_MAX).join("")}…` : visible
}

const isKeyKind = (kind: string): kind is KeyKind => Object.hasOwn(KEY_KINDS, kind)
