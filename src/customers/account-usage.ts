import type { Clock } from "../base/outside-world.ts"
import { utcDay } from "../base/time.ts"
import { LIMITS } from "../contract/limits.ts"
import type { Usage } from "../contract/usage-schema.ts"
import type { Account } from "./accounts/accounts.ts"
import { unitSubject } from "./accounts/unit-subjects.ts"
import { listKeys } from "./keys/keys.ts"
import type { TierLimits } from "./quota/tier-limits.ts"
import { readLeased } from "./quota/units/unit-rows.ts"
import type { Store } from "./store/core/store.ts"
import { USAGE_METER_BOUNDS, UsageMeter } from "./usage/usage-meter.ts"
import { createUsageReport } from "./usage/usage-report.ts"

/** The most keys in a usage report: the active ones and the latest revoked ones. */
const REPORTED_KEYS_MAX = 100

/** What a report is read from. */
type UsageSources = {
  readonly store: Store
  readonly clock: Clock
  /** The limits by tier. */
  readonly tiers: readonly TierLimits[]
  readonly usage: UsageMeter
  /** How many units of a subject are left of a quota on the day; null: not known. */
  readonly readRemaining: (subject: string, perDay: number) => Promise<number | null>
}

/** The usage of an account on a day and before it, as GET /v1/usage answers it. */
export async function readAccountUsage(
  { store, clock, tiers, usage, readRemaining }: UsageSources,
  { id, tier }: Pick<Account, "id" | "tier">,
  day: number,
): Promise<Usage> {
  const { requestsPerSecond = null, inFlight = null, unitsPerDay = null } = tiers[tier] ?? {}
  const limits = {
    requestsPerSecond,
    inFlight,
    unitsPerDay,
    batchItemsMax: LIMITS.batchItemsMax,
    keysMax: LIMITS.keysPerAccountMax,
  }
  const keys = await listKeys(store, id, REPORTED_KEYS_MAX)
  return await createUsageReport(
    usage,
    clock,
    {
      ...{ accountId: id, tier, limits, keys },
      readRemaining: (of, perDay) => readRemaining(typeof of === "string" ? unitSubject(id, of) : of.keyId, perDay),
    },
    day,
  )
}

/**
 * The same beside a server, from what the store has: servers write their counts every second, and units that they hold and have not used
 * count as not left. It leases nothing.
 */
export async function readStoredUsage(
  sources: Pick<UsageSources, "store" | "clock" | "tiers">,
  account: Pick<Account, "id" | "tier">,
): Promise<Usage> {
  const { store, clock } = sources
  const day = utcDay(clock())
  const usage = new UsageMeter(store, clock, () => undefined, USAGE_METER_BOUNDS)
  const readRemaining = async (subject: string, perDay: number): Promise<number> => {
    const [leased = 0] = await readLeased(store, [{ subject, day }])
    return Math.max(0, perDay - leased)
  }
  return await readAccountUsage({ ...sources, usage, readRemaining }, account, day)
}
