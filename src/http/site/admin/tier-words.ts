import { TIERS } from "../../../contract/tiers.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { grouped } from "./admin-layout.tsx"

/** A tier's number and name. */
export const tierName = (tier: number): string => `${tier} (${TIERS[tier]?.name ?? "not known"})`

/** What accounts of a tier may do. */
export function limitWords({ requestsPerSecond, inFlight, unitsPerDay }: TierLimits): string {
  const limits = [
    [requestsPerSecond, "requests a second"],
    [inFlight, "at once"],
    [unitsPerDay, "units a day"],
  ] as const
  const words = limits.flatMap(([limit, what]) => (limit === null ? [] : [`${grouped(limit)} ${what}`]))
  return words.length === 0 ? "no limits" : words.join(", ")
}

/** Every tier as a choice, with its limits in words. */
export const tierOptions = (tiers: readonly TierLimits[]) =>
  tiers.map((limits, tier) => ({ value: String(tier), label: `${tierName(tier)}: ${limitWords(limits)}` }))

/** The tier that a form names; a number that is no tier when it names none. */
export const tierIn = (text: string): number => (/^\d$/.test(text) ? Number(text) : -1)
