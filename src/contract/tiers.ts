type TierSpec = {
  readonly name: string
  /** Null means unlimited. */
  readonly requestsPerSecond: number | null
  readonly inFlight: number | null
  readonly unitsPerDay: number | null
}

/** The limits of each tier. The index is the tier's number. */
export const TIERS = [
  { name: "free", requestsPerSecond: 5, inFlight: 5, unitsPerDay: 1_000 },
  { name: "starter", requestsPerSecond: 20, inFlight: 20, unitsPerDay: 10_000 },
  { name: "growth", requestsPerSecond: 100, inFlight: 100, unitsPerDay: 250_000 },
  { name: "scale", requestsPerSecond: 1_000, inFlight: 500, unitsPerDay: 5_000_000 },
  { name: "unlimited", requestsPerSecond: null, inFlight: null, unitsPerDay: null },
] as const satisfies readonly TierSpec[]

/** The tier of the account that is created at the first start. */
export const OWNER_TIER = 4

/** The highest tier's number; 0 is the lowest. */
export const TIER_MAX = TIERS.length - 1
