/** @jsxImportSource preact */
import { TIERS } from "../../../contract/tiers.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { formatNumber } from "../ui/format.ts"
import { RadioCards } from "../ui/forms.tsx"

/** A tier's number and name. */
export const tierLabel = (tier: number): string => `${tier} (${TIERS[tier]?.name ?? "not known"})`

/** The limits of a tier: `5/s, 5 at once, 1,000/day`. None of the three is divided between lines. */
function tierLimitsLabel({ requestsPerSecond, inFlight, unitsPerDay }: TierLimits): string {
  const limits = [
    [requestsPerSecond, "/s"],
    [inFlight, "\u00a0at\u00a0once"],
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
  <div class="tiers wide-field">
    <RadioCards
      name="tier"
      legend="Tier"
      cards={tiers.map((limits, tier) => ({
        value: String(tier),
        label: tierLabel(tier),
        description: tierLimitsLabel(limits),
      }))}
      selected={selected}
      error={error}
    />
  </div>
)

/** The tier that a form names. -1, which is no tier, for any other text. */
export const parseTier = (text: string): number => (/^\d$/.test(text) ? Number(text) : -1)
