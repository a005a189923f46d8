/** @jsxImportSource preact */
import { POLICIES, POLICY_NAMES } from "../../../contract/policies.ts"
import { RadioCards } from "./forms.tsx"

type PolicyCardsProps = { readonly selected: string; readonly error: string | null }

/** The field of a form in which a policy is chosen, as cards with what each means. */
export const PolicyCards = (props: PolicyCardsProps) => (
  <RadioCards
    name="policy"
    legend="Policy"
    cards={POLICY_NAMES.map(value => ({ value, label: value, description: POLICIES[value].description }))}
    {...props}
  />
)
