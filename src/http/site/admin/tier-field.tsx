/** @jsxImportSource preact */
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { formatNumber, tierName } from "../ui/format.ts"
import { SelectField } from "../ui/forms.tsx"

/** The limits of a tier: `5/s, 5 at once, 1,000/day`. */
function tierLimitsLabel({ requestsPerSecond, inFlight, unitsPerDay }: TierLimits): string {
  const limits = [
    [requestsPerSecond, "/s"],
    [inFlight, " at once"],
    [unitsPerDay, "/day"],
  ] as const
  const parts = limits.flatMap(([limit, unit]) => (limit === null ? [] : [`${formatNumber(limit)}${unit}`]))
  return parts.length === 0 ? "no limits" : parts.join(", ")
}

type TierFieldProps = {
  readonly tiers: readonly TierLimits[]
  /** As a form has it. */
  readonly selected: string
  readonly error: string | null
}

/** The choice of a tier, each with its limits. */
export const TierField = ({ tiers, selected, error }: TierFieldProps) => (
  <SelectField
    id="new-tier"
    name="tier"
    label="Tier"
    options={tiers.map((limits, tier) => ({
      value: String(tier),
      label: `${tierName(tier)}: ${tierLimitsLabel(limits)}`,
    }))}
    selected={selected}
    error={error}
  />
)

/** The tier that a form names. -1, which is no tier, for any other text. */
export const parseTier = (text: string): number => (/^\d$/.test(text) ? Number(text) : -1)
