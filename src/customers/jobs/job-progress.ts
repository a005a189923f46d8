import { CATEGORY_NAMES, type Category } from "../../contract/categories.ts"
import { RECOMMENDATIONS, type Recommendation } from "../../contract/policies.ts"
import { addLeased, readLeased } from "../quota/units/unit-rows.ts"
import type { Store } from "../store/core/store.ts"
import type { UsageCounter } from "../usage/counter-buffer.ts"
import { CATEGORY_MEASURES, type Measure, RECOMMENDATION_MEASURES, SITE_KEY } from "../usage/measures.ts"
import { addCounts } from "../usage/usage-rows.ts"
import type { JobLease } from "./job-leases.ts"
import { formatCounts, formatParts, type Job, type JobProgress } from "./job-row.ts"

/** The units that rows of a job may still use, and the day on which they are charged. */
export type UnitAllowance = {
  readonly day: number
  /** Units a day of the account, and of the key's own limit. Null: unlimited. */
  readonly perDay: number | null
  readonly keyPerDay: number | null
}

/** What may be said of the owner of a job between two blocks. */
export type JobOwner = {
  readonly tier: number
  readonly isSuspended: boolean
  /** Whether the key that uploaded the list still works. A list of the dashboard has no key that could be revoked. */
  readonly isKeyUsable: boolean
  readonly keyUnitsPerDay: number | null
  /** Its rules as they are stored. Null: it has none. */
  readonly rules: string | null
}

/** The owner of a job as it is now; null: the account is gone. */
export async function readJobOwner(
  store: Store,
  { accountId, keyId }: Pick<Job, "accountId" | "keyId">,
  nowMs: number,
): Promise<JobOwner | null> {
  const row = await store.one<{
    tier: number
    rules: string | null
    suspended: number
    usable: number
    perDay: number | null
  }>(
    `SELECT tier, rules, CASE WHEN suspended_at_ms IS NULL THEN 0 ELSE 1 END AS suspended, units_per_day AS "perDay",
       CASE WHEN keys.id IS NOT NULL AND revoked_at_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > $3) THEN 1 ELSE 0 END AS usable
     FROM accounts LEFT JOIN keys ON keys.id = $2 AND keys.account_id = accounts.id WHERE accounts.id = $1`,
    [accountId, keyId, nowMs],
  )
  if (row === null) return null
  return {
    tier: row.tier,
    isSuspended: row.suspended === 1,
    isKeyUsable: row.usable === 1 || keyId === SITE_KEY.id,
    keyUnitsPerDay: row.perDay,
    rules: row.rules,
  }
}

/** How many units are left for the job; null: as many as it likes. */
export async function unitsLeft(
  store: Store,
  { accountId, keyId }: Pick<Job, "accountId" | "keyId">,
  { day, perDay, keyPerDay }: UnitAllowance,
): Promise<number | null> {
  const [ofAccount = 0, ofKey = 0] = await readLeased(store, [
    { subject: accountId, day },
    { subject: keyId, day },
  ])
  const left = [...(perDay === null ? [] : [perDay - ofAccount]), ...(keyPerDay === null ? [] : [keyPerDay - ofKey])]
  return left.length === 0 ? null : Math.max(0, Math.min(...left))
}

/** Rows by category, and by recommendation. */
type CategoryCounts = { readonly [C in Category]?: number }
type RecommendationCounts = { readonly [R in Recommendation]?: number }

/** How many rows cost a unit each, by what became of them. Test addresses are not among them. */
export type ChargedRows = { readonly byCategory?: CategoryCounts; readonly byRecommendation?: RecommendationCounts }

/** Rows that are checked, and whose results are on the disk. */
export type DoneBlock = {
  readonly charged: ChargedRows
  /** How far the job is with it. */
  readonly progress: JobProgress
}

/** `committed`: the block is charged and done. `units_used_up`, `lost` (another process has the job, or it is deleted): nothing was written. */
export type CommitResult =
  | {
      readonly kind: "committed" /** Units of the account's day that are leased now; null: unlimited. */
      readonly leased: number | null
    }
  | { readonly kind: "units_used_up" }
  | { readonly kind: "lost" }

/** Charges a block and records it as done, in one transaction: either both happen or none. */
export async function commitBlock(
  store: Store,
  job: Pick<Job, "accountId" | "keyId"> & JobLease,
  { charged, progress }: DoneBlock,
  { day, perDay, keyPerDay }: UnitAllowance,
): Promise<CommitResult> {
  const units = countUnits(charged)
  try {
    return await store.transaction(async inner => {
      if (!(await recordProgress(inner, job, progress))) return { kind: "lost" } as const
      const take = async (subject: string, limit: number | null): Promise<number | null> => {
        if (limit === null || units === 0) return null
        const [leased = null] = await addLeased(inner, [{ subject, day, count: units }], limit)
        if (leased === null) throw new UnitsUsedUp()
        return leased
      }
      const leased = await take(job.accountId, perDay)
      await take(job.keyId, keyPerDay)
      await addCounts(inner, usageCounters(job, charged, day))
      return { kind: "committed", leased } as const
    })
  } catch (error) {
    if (error instanceof UnitsUsedUp) return { kind: "units_used_up" }
    throw error
  }
}

/** Rolls the transaction back. */
class UnitsUsedUp extends Error {
  override readonly name = "UnitsUsedUp"
}

const recordProgress = async (store: Store, { id, lease }: JobLease, progress: JobProgress): Promise<boolean> =>
  (await store.run(
    `UPDATE jobs SET beat = beat + 1, input_offset = $3, input_skipped = $4, rows_done = $5, units_used = $6, busy_ms = $7,
       parts = $8, result_bytes = $9, counts = $10, stalled_claims = $11, suspect_row = $12 WHERE id = $1 AND lease = $2 AND state = 'running'`,
    [
      ...[id, lease, progress.inputOffset, progress.inputSkipped, progress.rowsDone, progress.unitsUsed],
      ...[
        Math.round(progress.busyMs),
        formatParts(progress.parts),
        progress.resultBytes,
        formatCounts(progress.counts),
        progress.stalledClaims,
        progress.suspectRow,
      ],
    ],
  )) > 0

/** The sums of the counts of two parts of a job. */
export const addCharged = (rows: ChargedRows, more: ChargedRows): ChargedRows => ({
  byCategory: addNamed(CATEGORY_NAMES, rows.byCategory, more.byCategory),
  byRecommendation: addNamed(RECOMMENDATIONS, rows.byRecommendation, more.byRecommendation),
})

const addNamed = <Name extends string>(
  names: readonly Name[],
  counts: { readonly [N in Name]?: number } = {},
  more: { readonly [N in Name]?: number } = {},
) => Object.fromEntries(names.map(name => [name, (counts[name] ?? 0) + (more[name] ?? 0)]))

/** The units that rows cost. */
export const countUnits = ({ byCategory = {} }: ChargedRows): number =>
  Object.values(byCategory).reduce((sum, count) => sum + count, 0)

/** Rows count as items of a batch. */
function usageCounters(
  { accountId, keyId }: Pick<Job, "accountId" | "keyId">,
  { byCategory = {}, byRecommendation = {} }: ChargedRows,
  day: number,
): readonly UsageCounter[] {
  const units = countUnits({ byCategory })
  const counts: readonly (readonly [Measure, number])[] = [
    ["used", units],
    ["batch_items", units],
    ...CATEGORY_NAMES.map(name => [CATEGORY_MEASURES[name], byCategory[name] ?? 0] as const),
    ...RECOMMENDATIONS.map(name => [RECOMMENDATION_MEASURES[name], byRecommendation[name] ?? 0] as const),
  ]
  return counts.filter(([, count]) => count > 0).map(([measure, count]) => ({ accountId, keyId, day, measure, count }))
}
