import type { Clock } from "../../base/outside-world.ts"
import { utcDay } from "../../base/time.ts"
import { CATEGORY_NAMES, type Category } from "../../contract/categories.ts"
import { RECOMMENDATIONS, type Recommendation } from "../../contract/policies.ts"
import { CATEGORY_MEASURES, type Measure, RECOMMENDATION_MEASURES } from "./measures.ts"
import type { UsageMeter } from "./usage-meter.ts"
import type { KeyDayCount } from "./usage-rows.ts"

/** What was done, by one key or several, on one day or several. */
export type UsageFigures = {
  /** Units of the account, which secret keys use. */
  readonly accountUnits: number
  /** Units of the pool that publishable keys share. */
  readonly publishableUnits: number
  readonly checks: number
  readonly deepChecks: number
  readonly batchItems: number
  readonly rateLimited: number
  /** The results of checks, deep checks and batch items. Their sum is the sum of these three. */
  readonly byCategory: { readonly [C in Category]: number }
  /** The recommendations of the same. Their sum is less where a version before counted. */
  readonly byRecommendation: { readonly [R in Recommendation]: number }
}

/** What one key did on one day. */
export type KeyDayUsage = UsageFigures & {
  /** The key's id, or that of `SITE_KEY`. */
  readonly keyId: string
  /** Days since 1 January 1970, UTC. */
  readonly day: number
}

/**
 * What each key of the account did on each of the last `dayCount` UTC days, today included, with what the meter has not written
 * yet. Days on which a key did nothing are omitted. All is read at once, so that sums by day and by key are equal. Rejects when the
 * store fails.
 */
export async function readUsageHistory(
  meter: UsageMeter,
  clock: Clock,
  accountId: string,
  dayCount: number,
): Promise<readonly KeyDayUsage[]> {
  const today = utcDay(clock())
  const counts = await meter.countsByKeyAndDay(accountId, today - dayCount + 1, today)
  const groups = Map.groupBy(counts, ({ keyId, day }) => `${day} ${keyId}`)
  return [...groups.values()]
    .flatMap(own => (own[0] === undefined ? [] : [{ day: own[0].day, keyId: own[0].keyId, ...figuresOf(own) }]))
    .sort((one, other) => one.day - other.day || (one.keyId < other.keyId ? -1 : 1))
}

function figuresOf(counts: readonly KeyDayCount[]): UsageFigures {
  const sums = new Map<string, number>()
  for (const { measure, count } of counts) sums.set(measure, (sums.get(measure) ?? 0) + count)
  const sumOf = (measure: Measure): number => sums.get(measure) ?? 0
  return {
    accountUnits: sumOf("used"),
    publishableUnits: sumOf("publishable_used"),
    checks: sumOf("checks"),
    deepChecks: sumOf("deep_checks"),
    batchItems: sumOf("batch_items"),
    rateLimited: sumOf("rate_limited"),
    byCategory: mapNames(CATEGORY_NAMES, category => sumOf(CATEGORY_MEASURES[category])),
    byRecommendation: mapNames(RECOMMENDATIONS, name => sumOf(RECOMMENDATION_MEASURES[name])),
  }
}

/** The sum of several figures. */
export function sumFigures(all: readonly UsageFigures[]): UsageFigures {
  const sumOf = (of: (figures: UsageFigures) => number): number => all.reduce((sum, figures) => sum + of(figures), 0)
  return {
    accountUnits: sumOf(figures => figures.accountUnits),
    publishableUnits: sumOf(figures => figures.publishableUnits),
    checks: sumOf(figures => figures.checks),
    deepChecks: sumOf(figures => figures.deepChecks),
    batchItems: sumOf(figures => figures.batchItems),
    rateLimited: sumOf(figures => figures.rateLimited),
    byCategory: mapNames(CATEGORY_NAMES, category => sumOf(figures => figures.byCategory[category])),
    byRecommendation: mapNames(RECOMMENDATIONS, name => sumOf(figures => figures.byRecommendation[name])),
  }
}

function mapNames<Name extends string>(names: readonly Name[], of: (name: Name) => number) {
  const entries = names.map(name => [name, of(name)])
  return Object.fromEntries(entries) as { readonly [N in Name]: number } // built from all the names of the record
}

/** How many inputs were checked: single ones, deep ones and those of batches. */
export const checkedCount = ({ checks, deepChecks, batchItems }: UsageFigures): number =>
  checks + deepChecks + batchItems

/** The units of both pools. */
export const unitCount = ({ accountUnits, publishableUnits }: UsageFigures): number => accountUnits + publishableUnits
