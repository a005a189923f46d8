import type { Clock } from "../../base/outside-world.ts"
import { dayStart, isoDate, isoInstant, utcDay } from "../../base/time.ts"
import { CATEGORY_NAMES } from "../../contract/categories.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Usage } from "../../contract/usage-schema.ts"
import { CATEGORY_MEASURES, type Measure, RECOMMENDATION_MEASURES } from "./measures.ts"
import type { UsageMeter } from "./usage-meter.ts"
import type { StoredCount } from "./usage-rows.ts"

/** The limits of an account; null: unlimited. */
type ReportedLimits = {
  readonly requestsPerSecond: number | null
  readonly inFlight: number | null
  readonly unitsPerDay: number | null
  readonly batchItemsMax: number | null
  readonly keysMax: number | null
}

/** What a report contains of a key besides its usage. */
export type ReportedKey = {
  readonly id: string
  readonly name: string
  /** The last four characters of the key's text. */
  readonly last4: string
  /** Null: never, as far as is known. */
  readonly lastUsedAtMs: number | null
  /** Null: the key is not revoked. */
  readonly revokedAtMs: number | null
  /** The key's expiry and limits of its own. Null or absent: none. */
  readonly expiresAtMs?: number | null
  readonly unitsPerDay?: number | null
  readonly requestsPerSecond?: number | null
}

/** Whose units: those of the account, those that its publishable keys share, or those of a key with a limit of its own. */
type UnitsSubject = "account" | "publishable" | { readonly keyId: string }

/** The account of a report. */
export type ReportedAccount = {
  readonly accountId: string
  readonly tier: number
  readonly limits: ReportedLimits
  /** The account's keys in the order of the report, which omits revoked ones without usage today. */
  readonly keys: readonly ReportedKey[]
  /** How many units of a subject's day are left, as a check finds them; null: not known. */
  readonly readRemaining: (subject: UnitsSubject, perDay: number) => Promise<number | null>
}

/**
 * The body of GET /v1/usage: the usage of the account's keys on the day `today` and on each of the last `LIMITS.usageDays` UTC days, including what
 * the meter has not written yet. Rejects when the store fails.
 */
export async function createUsageReport(
  meter: UsageMeter,
  clock: Clock,
  { accountId, tier, limits, keys, readRemaining }: ReportedAccount,
  today = utcDay(clock()),
): Promise<Usage> {
  const days = Array.from({ length: LIMITS.usageDays }, (_, ago) => today - ago)
  const counts = await meter.counts(accountId, today - LIMITS.usageDays + 1, today)
  const countsOfDay = Map.groupBy(counts, ({ day }) => day)
  const countsOfToday = countsOfDay.get(today) ?? []
  const { used, ...eventCounts } = sumCounts(countsOfToday)
  const publishableUsed = sumMeasures(countsOfToday, ["publishable_used"])
  const leftOf: UnitsLeft = async (subject, perDay, usedOfIt) =>
    (await readRemaining(subject, perDay)) ?? Math.max(0, perDay - usedOfIt)
  const { unitsPerDay } = limits
  const remaining = unitsPerDay === null ? null : await leftOf("account", unitsPerDay, used)
  return {
    tier,
    limits: {
      requests_per_second: limits.requestsPerSecond,
      in_flight: limits.inFlight,
      daily_units: limits.unitsPerDay,
      batch_items: limits.batchItemsMax,
      keys: limits.keysMax,
    },
    today: {
      date: isoDate(today),
      used,
      remaining,
      lost: unitsPerDay === null || remaining === null ? 0 : Math.max(0, unitsPerDay - used - remaining),
      publishable: {
        used: publishableUsed,
        remaining: await leftOf("publishable", LIMITS.publishableUnitsPerDay, publishableUsed),
      },
      resets_at: dayStart(today + 1),
      ...eventCounts,
      by_key: await byKey(keys, countsOfToday, leftOf),
    },
    daily: days.map(day => ({ date: isoDate(day), ...sumCounts(countsOfDay.get(day) ?? []) })),
  }
}

/** How many units of a subject's day are left, of which so many were used. */
type UnitsLeft = (subject: UnitsSubject, perDay: number, used: number) => Promise<number>

type UsageTotals = Omit<Usage["daily"][number], "date">

/** The counts of one day, summed over all keys. */
function sumCounts(counts: readonly StoredCount[]): UsageTotals {
  const sums = new Map<string, number>()
  for (const { measure, count } of counts) sums.set(measure, (sums.get(measure) ?? 0) + count)
  const sumOf = (measure: Measure): number => sums.get(measure) ?? 0
  return {
    used: sumOf("used"),
    checks: sumOf("checks"),
    deep_checks: sumOf("deep_checks"),
    batch_items: sumOf("batch_items"),
    feedback: sumOf("feedback"),
    dry_runs: sumOf("dry_runs"),
    rate_limited: sumOf("rate_limited"),
    by_category: byCategory(sumOf),
    by_recommendation: {
      allow: sumOf(RECOMMENDATION_MEASURES.allow),
      review: sumOf(RECOMMENDATION_MEASURES.review),
      block: sumOf(RECOMMENDATION_MEASURES.block),
    },
  }
}

function byCategory(sumOf: (measure: Measure) => number): UsageTotals["by_category"] {
  const entries = CATEGORY_NAMES.map(category => [category, sumOf(CATEGORY_MEASURES[category])])
  return Object.fromEntries(entries) as UsageTotals["by_category"] // built from all the names of the record
}

async function byKey(
  keys: readonly ReportedKey[],
  countsOfToday: readonly StoredCount[],
  leftOf: UnitsLeft,
): Promise<Usage["today"]["by_key"]> {
  const countsOfKey = Map.groupBy(countsOfToday, ({ keyId }) => keyId)
  const reported = keys.filter(({ id, revokedAtMs }) => revokedAtMs === null || countsOfKey.has(id))
  return await Promise.all(
    reported.map(async key => {
      const used = sumMeasures(countsOfKey.get(key.id) ?? [], UNIT_MEASURES)
      return {
        id: key.id,
        name: key.name,
        last4: key.last4,
        used,
        last_used_at: isoInstant(key.lastUsedAtMs),
        ...(await ownLimits(key, used, leftOf)),
      }
    }),
  )
}

type KeyLimitMembers = Pick<
  Usage["today"]["by_key"][number],
  "expires_at" | "daily_units" | "remaining" | "requests_per_second"
>

/** The members of a key with an expiry or limits of its own. */
async function ownLimits(
  { id, expiresAtMs = null, unitsPerDay = null, requestsPerSecond = null }: ReportedKey,
  used: number,
  leftOf: UnitsLeft,
): Promise<KeyLimitMembers> {
  return {
    ...(expiresAtMs === null ? {} : { expires_at: isoInstant(expiresAtMs) }),
    ...(unitsPerDay === null
      ? {}
      : { daily_units: unitsPerDay, remaining: await leftOf({ keyId: id }, unitsPerDay, used) }),
    ...(requestsPerSecond === null ? {} : { requests_per_second: requestsPerSecond }),
  }
}

/** The measures of units of either quota. */
const UNIT_MEASURES = ["used", "publishable_used"] as const satisfies readonly Measure[]

const sumMeasures = (counts: readonly Pick<StoredCount, "measure" | "count">[], measures: readonly Measure[]): number =>
  counts.reduce((sum, { measure, count }) => (measures.some(name => name === measure) ? sum + count : sum), 0)
