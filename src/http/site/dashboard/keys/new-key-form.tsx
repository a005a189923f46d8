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

/** The form for another key; where there may be none, what to do first. */
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

const errorAt = (field: KeyFormError["field"], fault: KeyFormError | null): string | null =>
  fault?.field === field ? fault.message : null

const KIND_OPTIONS: readonly { readonly value: KeyKind; readonly label: string }[] = [
  { value: "secret", label: `Secret · ${KEY_KINDS.secret.description}` },
  { value: "publishable", label: `Publishable · ${KEY_KINDS.publishable.description}` },
]

/** What stands in the form for a new key. */
export type KeyFormValues = {
  readonly idempotencyKey: string
  readonly name: string
  readonly kind: string
  /** As they were typed, parted by white space or commas. */
  readonly origins: string
}

/** What is wrong with it: a sentence at a field, or at the whole form. */
export type KeyFormError = { readonly field: "name" | "kind" | "origins" | "form"; readonly message: string }

/** A form that nothing was typed into yet. */
export const emptyKeyForm = (idempotencyKey: string): KeyFormValues => ({
  idempotencyKey,
  name: "",
  kind: "secret",
  origins: "",
})

/** What a form brought. A slip that is none is replaced by `slip`. */
export function readKeyForm(form: SubmittedForm, slip: string): KeyFormValues {
  const sent = form.text("slip")
  return {
    idempotencyKey: isIdempotencyKey(sent) ? sent : slip,
    name: form.text("name"),
    kind: form.text("kind"),
    origins: form.text("origins"),
  }
}

/** What key is wanted. Null: the kind is none. */
export function parseNewKey({ name, kind, origins }: KeyFormValues, accountId: string): NewApiKey | null {
  if (!isKeyKind(kind)) return null
  return { accountId, kind, name, origins: origins.split(/[\s,]+/).filter(origin => origin !== "") }
}

/** The kind of key is missing, or made up. */
export const KIND_MISSING: KeyFormError = { field: "kind", message: "Choose one of the two kinds." }

/** The form had no slip: it is not one that we wrote. */
export const FORM_INCOMPLETE: KeyFormError = {
  field: "form",
  message: "The form was not complete. Please send it once more.",
}

/** Why there is no key, at the field that it is about. */
export function keyFormError(refusal: KeyCreationRefusal): KeyFormError {
  const fault = KEY_FORM_ERRORS[refusal.kind]
  return refusal.kind === "bad_origin"
    ? { ...fault, message: `“${printable(refusal.sent)}” cannot be used. ${fault.message}` }
    : fault
}

const KEY_FORM_ERRORS: { readonly [K in KeyCreationRefusal["kind"]]: KeyFormError } = {
  unknown_account: { field: "form", message: "Your account was deleted a moment ago." },
  too_many_keys: {
    field: "form",
    message: `You have ${LIMITS.keysPerAccountMax} active keys, the most an account may have. Revoke one first.`,
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

/** What was typed, short enough for a sentence and without what cannot be seen. */
const printable = (text: string): string => {
  const seen = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "�")
  return seen.length > ECHOED_LENGTH_MAX ? `${[...seen].slice(0, ECHOED_LENGTH_MAX).join("")}…` : seen
}

const isKeyKind = (kind: string): kind is KeyKind => Object.hasOwn(KEY_KINDS, kind)
