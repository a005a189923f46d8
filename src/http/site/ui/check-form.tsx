/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { LIMITS } from "../../../contract/limits.ts"
import { POLICY_NAMES } from "../../../contract/policies.ts"
import { ariaDescription, type FieldError, FieldNotes } from "./forms.tsx"

/** The id of the form that checks, so that buttons elsewhere on its page can send it. */
export const CHECK_FORM_ID = "check"

type CheckFormProps = {
  readonly method: "get" | "post"
  readonly action: string
  /** The name of the field, and its element id. */
  readonly name: string
  readonly label: string
  readonly value: string
  /** What is wrong with the value; null: nothing. */
  readonly error: FieldError
  readonly button?: string
  readonly hint?: ComponentChildren
  readonly placeholder?: string
  readonly children?: ComponentChildren
}

/** One field and one button: an address, a domain or a website to check. */
export function CheckForm(props: CheckFormProps) {
  const { method, action, name, label, value, error, button = "Check", hint, placeholder, children } = props
  return (
    <search>
      <form id={CHECK_FORM_ID} class="ask" method={method} action={action}>
        <label class="unseen" for={name}>
          {label}
        </label>
        <div class="ask-row">
          <input
            id={name}
            name={name}
            type="text"
            inputMode={method === "get" ? "url" : "email"}
            required
            maxLength={LIMITS.urlLengthMax}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={value}
            {...(placeholder === undefined ? {} : { placeholder })}
            {...ariaDescription(name, hint, error)}
          />
          <button type="submit">{button}</button>
        </div>
        <FieldNotes name={name} error={error} hint={hint} />
        {children}
      </form>
    </search>
  )
}

type PolicyChoiceProps = { readonly selected: string; readonly error?: string | null }

/** The policy of the check, among the options below its field. */
export const PolicyChoice = ({ selected, error = null }: PolicyChoiceProps) => (
  <span>
    <label for="policy">Policy</label>{" "}
    <select
      id="policy"
      name="policy"
      {...(error === null ? {} : { "aria-invalid": true, "aria-describedby": "policy-fault" })}
    >
      {POLICY_NAMES.map(policy => (
        <option key={policy} value={policy} selected={policy === selected}>
          {policy}
        </option>
      ))}
    </select>
  </span>
)
