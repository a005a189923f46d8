import type { Clock } from "../../base/outside-world.ts"
import { utcDay } from "../../base/time.ts"
import { LIMITS } from "../../contract/limits.ts"
import { createBulkStatements } from "../store/core/sql-text.ts"
import type { Store } from "../store/core/store.ts"
import type { UsageCounter } from "./counter-buffer.ts"

/** Adds the counts to what stands there. Those of an account that is gone are left out. `store` is a transaction's. */
export async function addCounts(store: Store, counters: readonly UsageCounter[]): Promise<void> {
  const rows = counters
    .toSorted(byPrimaryKey)
    .map(({ accountId, keyId, day, measure, count }) => [accountId, keyId, day, measure, count])
  for (const { sql, params } of ADD_COUNTS(rows)) await store.run(sql, params)
}

/** One order for all processes: in an engine that locks rows, two that write the same ones never wait for each other. */
const byPrimaryKey = (one: UsageCounter, other: UsageCounter): number => {
  const [a, b] = [primaryKeyOf(one), primaryKeyOf(other)]
  return a < b ? -1 : Number(a > b)
}

const primaryKeyOf = ({ accountId, day, keyId, measure }: UsageCounter): string =>
  `${accountId} ${day} ${keyId} ${measure}`

/** The account is looked for in the statement itself: a broken reference would end the transaction for all others too. */
const ADD_COUNTS = createBulkStatements(
  ["TEXT", "TEXT", "BIGINT", "TEXT", "BIGINT"],
  rows => `INSERT INTO usage (account_id, key_id, day, measure, count)
  SELECT column1, column2, column3, column4, column5 FROM ${rows}
  WHERE EXISTS (SELECT 1 FROM accounts WHERE id = column1) ORDER BY place
  ON CONFLICT (account_id, day, key_id, measure) DO UPDATE SET count = usage.count + excluded.count`,
)

/** A count of an account: of one key, or, when `keyId` is null, of all of them together. */
export type StoredCount = {
  readonly keyId: string | null
  readonly day: number
  /** Another version may have written measures that this one does not know. */
  readonly measure: string
  readonly count: number
}

/** The account's counts from `fromDay` to `toDay`, both included: of `toDay` by key, of the days before of all keys. */
export async function readCounts(
  store: Store,
  accountId: string,
  fromDay: number,
  toDay: number,
): Promise<readonly StoredCount[]> {
  // Two statements that need no transaction: they share no row.
  const before = await store.all<StoredCount>(
    `SELECT NULL AS "keyId", day, measure, CAST(SUM(count) AS BIGINT) AS count FROM usage
     WHERE account_id = $1 AND day >= $2 AND day < $3 GROUP BY day, measure`,
    [accountId, fromDay, toDay],
  )
  const last = await store.all<StoredCount>(
    'SELECT key_id AS "keyId", day, measure, count FROM usage WHERE account_id = $1 AND day = $2',
    [accountId, toDay],
  )
  return [...before, ...last]
}

/** A count of one key of an account over several days. */
export type KeyCount = Omit<StoredCount, "day" | "keyId"> & { readonly keyId: string }

/** The account's counts from `fromDay` to `toDay`, both included, by key. */
export async function readKeyCounts(
  store: Store,
  accountId: string,
  fromDay: number,
  toDay: number,
): Promise<readonly KeyCount[]> {
  return await store.all<KeyCount>(
    `SELECT key_id AS "keyId", measure, CAST(SUM(count) AS BIGINT) AS count FROM usage
     WHERE account_id = $1 AND day >= $2 AND day <= $3 GROUP BY key_id, measure`,
    [accountId, fromDay, toDay],
  )
}

/** Of how many accounts a turn deletes the old rows: it keeps everything else waiting for about 10 ms. */
export const PRUNED_ACCOUNTS_MAX = 200

/** Deletes old rows of some accounts, and gives the count of rows. Rejects when the store fails, and then begins there again. */
export type PruneUsage = () => Promise<number>

/**
 * Goes around all accounts in the order of their ids, `accountsMax` a call, and deletes their rows that are older than
 * the days of a report and the one before them, which a clock that is set back a little brings back into a report. One
 * call a minute goes around 288 000 accounts in a day.
 */
export function createUsagePruning(store: Store, clock: Clock, accountsMax = PRUNED_ACCOUNTS_MAX): PruneUsage {
  let prunedUpTo = ""
  return async () => {
    // By account, which is how rows are ordered: to look for days only would read the whole table.
    const next = await store.one<{ last: string | null }>(
      "SELECT MAX(id) AS last FROM (SELECT id FROM accounts WHERE id > $1 ORDER BY id LIMIT $2) AS next_accounts",
      [prunedUpTo, accountsMax],
    )
    const last = next?.last ?? null
    if (last === null) {
      prunedUpTo = ""
      return 0
    }
    const deletedCount = await store.run(
      `DELETE FROM usage WHERE account_id IN (SELECT id FROM accounts WHERE id > $1 AND id <= $2) AND day < $3`,
      [prunedUpTo, last, utcDay(clock()) - LIMITS.usageDays],
    )
    prunedUpTo = last
    return deletedCount
  }
}
