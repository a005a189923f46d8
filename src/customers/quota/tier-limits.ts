import { assert } from "../../base/errors.ts"
import { TIERS } from "../../contract/tiers.ts"

/** The limits of the accounts of a tier; null: unlimited. */
export type TierLimits = {
  readonly requestsPerSecond: number | null
  readonly inFlight: number | null
  readonly unitsPerDay: number | null
}

/** `TIER=PER_SECOND/IN_FLIGHT/UNITS_A_DAY`: numbers from 1 up, or `-` for unlimited. Zero is not allowed, since it would refuse everything. */
const OVERRIDE_FORMAT = /^([0-4])=([1-9]\d{0,8}|-)\/([1-9]\d{0,8}|-)\/([1-9]\d{0,11}|-)$/

/** The limits of every tier, indexed by its number: the built-in ones, replaced by overrides, of which the last one for a tier wins. */
export function tierLimits(overrides: readonly string[]): readonly TierLimits[] {
  const limits = TIERS.map(
    ({ requestsPerSecond, inFlight, unitsPerDay }): TierLimits => ({ requestsPerSecond, inFlight, unitsPerDay }),
  )
  for (const text of overrides) {
    const parsed = OVERRIDE_FORMAT.exec(text)
    assert(parsed !== null, "an override was validated before")
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
