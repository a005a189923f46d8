import { TIERS } from "../../../contract/tiers.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { formatNumber } from "../ui/format.ts"

/** A tier's number and name. */
export const tierLabel = (tier: number): string => `${tier} (${TIERS[tier]?.name ?? "not known"})`

/** The limits of a tier as text that fits into a drop-down list on a phone: `5/s, 5 at once, 1,000/day`. */
export function tierLimitsLabel({ requestsPerSecond, inFlight, unitsPerDay }: TierLimits): string {
  const limits = [
    [requestsPerSecond, "/s"],
    [inFlight, " at once"],
    [unitsPerDay, "/day"],
  ] as const
  const parts = limits.flatMap(([limit, unit]) => (limit === null ? [] : [`${formatNumber(limit)}${unit}`]))
  return parts.length === 0 ? "no limits" : parts.join(", ")
}

/** The options of a drop-down list of tiers. */
export const tierOptions = (tiers: readonly TierLimits[]) =>
  tiers.map((limits, tier) => ({ value: String(tier), label: `${tierLabel(tier)}: ${tierLimitsLabel(limits)}` }))

/** The tier that a form names. -1, which is no tier, for any other text. */
export const parseTier = (text: string): number => (/^\d$/.test(text) ? Number(text) : -1)
