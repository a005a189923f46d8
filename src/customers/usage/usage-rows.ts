import { utcDay } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import { createBulkStatements } from "../store/core/sql-text.ts"
import type { Store } from "../store/core/store.ts"
import type { UsageCounter } from "./counter-buffer.ts"

/** Adds counts to the stored ones, in the transaction of `store`. Those of deleted accounts are left out. */
export async function addCounts(store: Store, counters: readonly UsageCounter[]): Promise<void> {
  const rows = counters
    .toSorted(byPrimaryKey)
    .map(({ accountId, keyId, day, measure, count }) => [accountId, keyId, day, measure, count])
  for (const { sql, params } of ADD_COUNTS(rows)) await store.run(sql, params)
}

/** One global order of rows: two processes that lock the same ones never deadlock. */
const byPrimaryKey = (one: UsageCounter, other: UsageCounter): number => {
  const [a, b] = [primaryKeyOf(one), primaryKeyOf(other)]
  return a < b ? -1 : Number(a > b)
}

const primaryKeyOf = ({ accountId, day, keyId, measure }: UsageCounter): string =>
  `${accountId} ${day} ${keyId} ${measure}`

/** The statement itself checks that the account exists: a violated reference would roll back all other counts too. */
const ADD_COUNTS = createBulkStatements(
  ["TEXT", "TEXT", "BIGINT", "TEXT", "BIGINT"],
  rows => `INSERT INTO usage (account_id, key_id, day, measure, count)
  SELECT column1, column2, column3, column4, column5 FROM ${rows}
  WHERE EXISTS (SELECT 1 FROM accounts WHERE id = column1) ORDER BY place
  ON CONFLICT (account_id, day, key_id, measure) DO UPDATE SET count = usage.count + excluded.count`,
)

/** A count of one key of an account; `keyId` null: of all its keys together. */
export type StoredCount = {
  readonly keyId: string | null
  readonly day: number
  /** Another version may have written measures that this one does not know. */
  readonly measure: string
  readonly count: number
}

/** The account's counts from `fromDay` to `toDay`, both included: by key for `toDay`, over all keys for the days before. */
export async function readCounts(
  store: Store,
  accountId: string,
  fromDay: number,
  toDay: number,
): Promise<readonly StoredCount[]> {
  // Two statements need no transaction: they read different rows.
  const earlier = await store.all<StoredCount>(
    `SELECT NULL AS "keyId", day, measure, CAST(SUM(count) AS BIGINT) AS count FROM usage
     WHERE account_id = $1 AND day >= $2 AND day < $3 GROUP BY day, measure`,
    [accountId, fromDay, toDay],
  )
  const lastDay = await store.all<StoredCount>(
    'SELECT key_id AS "keyId", day, measure, count FROM usage WHERE account_id = $1 AND day = $2',
    [accountId, toDay],
  )
  return [...earlier, ...lastDay]
}

/** A count of one key of an account on one day. */
export type KeyDayCount = Omit<StoredCount, "keyId"> & { readonly keyId: string }

/** The account's counts from `fromDay` to `toDay`, both included, by key and day. */
export async function readKeyDayCounts(
  store: Store,
  accountId: string,
  fromDay: number,
  toDay: number,
): Promise<readonly KeyDayCount[]> {
  return await store.all<KeyDayCount>(
    `SELECT key_id AS "keyId", day, measure, count FROM usage WHERE account_id = $1 AND day >= $2 AND day <= $3`,
    [accountId, fromDay, toDay],
  )
}

/**
 * Deletes counts of the accounts after one id, up to another, that are older than `LIMITS.usageDaysKept` and one more day, which a clock that is
 * set back a little can bring back.
 */
export async function pruneUsageOf(
  store: Store,
  { after, last }: { readonly after: string; readonly last: string },
  nowMs: TrustedInstant,
): Promise<number> {
  // By account, as the primary key is ordered: a search by day would read the whole table.
  return await store.run(
    "DELETE FROM usage WHERE account_id IN (SELECT id FROM accounts WHERE id > $1 AND id <= $2) AND day < $3",
    [after, last, utcDay(nowMs) - LIMITS.usageDaysKept],
  )
}
