/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import type { AccountCreationRefusal } from "../../../customers/accounts/accounts.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { SelectField, TextField } from "../ui/forms.tsx"
import { tierOptions } from "./tier-labels.ts"

/** What is wrong in one of the fields. */
export type AccountFieldError = { readonly field: "email" | "tier"; readonly message: string }

/** The message for each reason, and its field. */
export const ACCOUNT_FIELD_ERRORS: Readonly<Record<AccountCreationRefusal["kind"], AccountFieldError>> = {
  malformed_email: { field: "email", message: "Enter a valid email address." },
  email_taken: { field: "email", message: "An account with this email exists already." },
  unknown_tier: { field: "tier", message: "Choose one of the tiers." },
}

type AccountFieldsProps = {
  readonly emailName: string
  readonly tierName: string
  readonly tiers: readonly TierLimits[]
  readonly defaultTier: number
  /** The values of a form that was rejected; null: none was. */
  readonly rejected: { readonly email: string; readonly tier: string } | null
  readonly error: AccountFieldError | null
}

/** The email and the tier of an account that is to be. */
export function AccountFields({ emailName, tierName, tiers, defaultTier, rejected, error }: AccountFieldsProps) {
  const errorAt = (field: AccountFieldError["field"]) => (error?.field === field ? error.message : null)
  return (
    <>
      <TextField
        name={emailName}
        label="Email"
        type="email"
        required
        maxLength={LIMITS.addressBytesMax}
        autocomplete="off"
        value={rejected?.email ?? ""}
        error={errorAt("email")}
      />
      <SelectField
        name={tierName}
        label="Tier"
        options={tierOptions(tiers)}
        selected={rejected?.tier ?? String(defaultTier)}
        error={errorAt("tier")}
      />
    </>
  )
}
