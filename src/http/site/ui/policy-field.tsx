/** @jsxImportSource preact */
import { POLICIES, POLICY_NAMES } from "../../../contract/policies.ts"
import { RadioCards, SelectField } from "./forms.tsx"

type PolicyFieldProps = { readonly selected: string; readonly error: string | null }

/** The field of a form in which a policy is chosen, with what each means. */
export const PolicyField = ({ selected, error }: PolicyFieldProps) => (
  <SelectField
    name="policy"
    label="Policy"
    options={POLICY_NAMES.map(policy => ({ value: policy, label: policy }))}
    hint={POLICY_NAMES.map(policy => (
      <span key={policy} class="line">
        <code>{policy}</code>: {POLICIES[policy].description}
      </span>
    ))}
    selected={selected}
    error={error}
  />
)

/** The same as cards, each with what it means. */
export const PolicyCards = (props: PolicyFieldProps) => (
  <RadioCards
    name="policy"
    legend="Policy"
    cards={POLICY_NAMES.map(value => ({ value, label: value, description: POLICIES[value].description }))}
    {...props}
  />
)
