import { assert } from "../../base/errors.ts"
import { TIERS } from "../../contract/tiers.ts"

/** What the accounts of a tier may do; null: as much as they like. */
export type TierLimits = {
  readonly requestsPerSecond: number | null
  readonly inFlight: number | null
  readonly unitsPerDay: number | null
}

/** `TIER=PER_SECOND/IN_FLIGHT/UNITS_A_DAY`, a number from 1 up or `-` for unlimited. Zero is neither: nothing could be asked. */
const OVERRIDE_FORMAT = /^([0-4])=([1-9]\d{0,8}|-)\/([1-9]\d{0,8}|-)\/([1-9]\d{0,11}|-)$/

/** Whether the text sets the limits of a tier, as `0=10/10/2000` or `3=-/500/-` do. */
export function isTierOverride(text: string): boolean {
  return OVERRIDE_FORMAT.test(text)
}

/** The limits of every tier, by its number: those of the overrides, the last one for a tier, else the built-in ones. */
export function tierLimits(overrides: readonly string[]): readonly TierLimits[] {
  const limits = TIERS.map(
    ({ requestsPerSecond, inFlight, unitsPerDay }): TierLimits => ({ requestsPerSecond, inFlight, unitsPerDay }),
  )
  for (const text of overrides) {
    const parsed = OVERRIDE_FORMAT.exec(text)
    assert(parsed !== null, "an override was read by its form before")
    const [, tier = "", perSecond = "", inFlight = "", perDay = ""] = parsed
    limits[Number(tier)] = {
      requestsPerSecond: parseLimit(perSecond),
      inFlight: parseLimit(inFlight),
      unitsPerDay: parseLimit(perDay),
    }
  }
  return limits
}

const parseLimit = (text: string): number | null => (text === "-" ? null : Number(text))
