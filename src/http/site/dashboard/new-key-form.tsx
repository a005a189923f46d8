/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { KEY_KINDS, type KeyKind } from "../../../customers/keys/key-form.ts"
import { ORIGINS_PER_KEY_MAX } from "../../../customers/keys/origin.ts"
import { Choice, Refused, TextArea, TextField } from "../fields.tsx"
import type { KeyEntry, KeyFault } from "./key-form.ts"

type Props = {
  readonly entry: KeyEntry
  readonly fault: KeyFault | null
  /** The account has as many active keys as it may have. */
  readonly isFull: boolean
}

/** The form for another key; where there may be none, what to do first. */
export function NewKeyForm({ entry, fault, isFull }: Props) {
  return (
    <section aria-labelledby="new">
      <h2 id="new">Create a key</h2>
      <Refused says={faultAt("form", fault)} />
      {isFull ? (
        <p>
          An account has at most {LIMITS.keysPerAccountMax} active keys. Open one that you no longer need and revoke it;
          then you can create another.
        </p>
      ) : (
        <Fields entry={entry} fault={fault} />
      )}
    </section>
  )
}

function Fields({ entry, fault }: Omit<Props, "isFull">) {
  return (
    <form class="form" method="post" action={`${ROUTES.postKey.path}#new`}>
      <input type="hidden" name="slip" value={entry.slip} />
      <TextField
        name="name"
        label="Name"
        hint="Where the key will be used, such as “Shop server”. You can change it later."
        value={entry.name}
        maxLength={LIMITS.keyNameLengthMax}
        autocomplete="off"
        fault={faultAt("name", fault)}
      />
      <Choice
        name="kind"
        label="Kind"
        options={KINDS}
        chosen={entry.kind}
        fault={faultAt("kind", fault)}
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
        value={entry.origins}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        rows={3}
        fault={faultAt("origins", fault)}
      />
      <button type="submit">Create key</button>
    </form>
  )
}

const faultAt = (field: KeyFault["field"], fault: KeyFault | null): string | null =>
  fault?.field === field ? fault.says : null

const KINDS: readonly { readonly value: KeyKind; readonly label: string }[] = [
  { value: "secret", label: `Secret · ${KEY_KINDS.secret.says}` },
  { value: "publishable", label: `Publishable · ${KEY_KINDS.publishable.says}` },
]
