import type { Clock } from "../../base/clock.ts"
import { dayOf } from "../../base/utc-day.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Measure } from "./measures.ts"
import type { UsageMeter } from "./usage-meter.ts"
import type { KeyCount } from "./usage-rows.ts"

/** What one key did on the last `LIMITS.usageDays` days, today included. */
export type KeyUsage = {
  /** A key's id, or that of `SITE_KEY`. */
  readonly keyId: string
  /** Units, of whichever quota. */
  readonly used: number
  readonly checks: number
  readonly deepChecks: number
  readonly batchItems: number
  readonly rateLimited: number
}

/**
 * What each key of the account did on the days of a report, with what the meter has not written yet, the busiest first. Keys
 * that did nothing are not among them. Rejects when the store fails.
 */
export async function keyUsages(meter: UsageMeter, clock: Clock, accountId: string): Promise<readonly KeyUsage[]> {
  const today = dayOf(clock())
  const counts = await meter.countsByKey(accountId, today - LIMITS.usageDays + 1, today)
  const usages = [...Map.groupBy(counts, ({ keyId }) => keyId)].map(([keyId, own]) => keyUsage(keyId, own))
  return usages.sort((one, other) => other.used - one.used || (one.keyId < other.keyId ? -1 : 1))
}

function keyUsage(keyId: string, counts: readonly KeyCount[]): KeyUsage {
  const sumOf = (...measures: readonly Measure[]): number =>
    counts.reduce((sum, { measure, count }) => (measures.some(name => name === measure) ? sum + count : sum), 0)
  return {
    keyId,
    used: sumOf("used", "publishable_used"),
    checks: sumOf("checks"),
    deepChecks: sumOf("deep_checks"),
    batchItems: sumOf("batch_items"),
    rateLimited: sumOf("rate_limited"),
  }
}
