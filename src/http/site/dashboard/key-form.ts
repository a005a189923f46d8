import { LIMITS } from "../../../contract/limits.ts"
import { KEY_KINDS, type KeyKind } from "../../../customers/keys/key-form.ts"
import { isSlip } from "../../../customers/keys/key-once.ts"
import type { KeyRefusal, NewKey } from "../../../customers/keys/keys.ts"
import { ORIGINS_PER_KEY_MAX } from "../../../customers/keys/origin.ts"
import type { Form } from "../form.ts"

/** What stands in the form for a new key. */
export type KeyEntry = {
  readonly slip: string
  readonly name: string
  readonly kind: string
  /** As they were typed, parted by white space or commas. */
  readonly origins: string
}

/** What is wrong with it: a sentence at a field, or at the whole form. */
export type KeyFault = { readonly field: "name" | "kind" | "origins" | "form"; readonly says: string }

/** A form that nothing was typed into yet. */
export const newEntry = (slip: string): KeyEntry => ({ slip, name: "", kind: "secret", origins: "" })

/** What a form brought. A slip that is none is replaced by `slip`. */
export function entryOf(form: Form, slip: string): KeyEntry {
  const sent = form.text("slip")
  return {
    slip: isSlip(sent) ? sent : slip,
    name: form.text("name"),
    kind: form.text("kind"),
    origins: form.text("origins"),
  }
}

/** What key is wanted. Null: the kind is none. */
export function wantedKey({ name, kind, origins }: KeyEntry, accountId: string): NewKey | null {
  if (!isKeyKind(kind)) return null
  return { accountId, kind, name, origins: origins.split(/[\s,]+/).filter(origin => origin !== "") }
}

/** The kind of key is missing, or made up. */
export const NO_KIND: KeyFault = { field: "kind", says: "Choose one of the two kinds." }

/** The form had no slip: it is not one that we wrote. */
export const NO_SLIP: KeyFault = { field: "form", says: "The form was not complete. Please send it once more." }

/** Why there is no key, at the field that it is about. */
export function faultOf(refusal: KeyRefusal): KeyFault {
  const fault = FAULTS[refusal.kind]
  return refusal.kind === "bad_origin"
    ? { ...fault, says: `“${shown(refusal.sent)}” cannot be used. ${fault.says}` }
    : fault
}

const FAULTS: { readonly [K in KeyRefusal["kind"]]: KeyFault } = {
  unknown_account: { field: "form", says: "Your account was deleted a moment ago." },
  too_many_keys: {
    field: "form",
    says: `You have ${LIMITS.keysPerAccountMax} active keys, the most an account may have. Revoke one first.`,
  },
  bad_name: {
    field: "name",
    says: `A name has at most ${LIMITS.keyNameLengthMax} characters, and no invisible ones.`,
  },
  bad_origin: { field: "origins", says: "Write each as https://example.com: no path, no *, http or https." },
  origins_missing: { field: "origins", says: "A publishable key needs to know at least one of your websites." },
  too_many_origins: { field: "origins", says: `A key has at most ${ORIGINS_PER_KEY_MAX} of them.` },
  origins_on_secret: {
    field: "origins",
    says: "A secret key has no websites. Leave this empty, or choose a publishable key.",
  },
}

const SHOWN_MAX = 80

/** What was typed, short enough for a sentence and without what cannot be seen. */
const shown = (text: string): string => {
  const seen = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "�")
  return seen.length > SHOWN_MAX ? `${[...seen].slice(0, SHOWN_MAX).join("")}…` : seen
}

const isKeyKind = (kind: string): kind is KeyKind => Object.hasOwn(KEY_KINDS, kind)
