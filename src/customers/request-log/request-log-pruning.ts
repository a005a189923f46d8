import { yieldThread } from "../../base/concurrency.ts"
import { DAY_MS } from "../../base/time.ts"
import type { TrustedInstant, TrustedTime } from "../../base/trusted-clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Store } from "../store/core/store.ts"
import type { WrittenRows } from "./request-log.ts"
import { correctSize } from "./request-log-sizes.ts"
import { findPlaceFromLatest, type RequestPlace } from "./request-rows.ts"

/** How many rows one trim deletes at most. A second writes a quarter of that for one account. */
export const PRUNED_REQUESTS_MAX = 2000

/** How many rows one statement of a trim deletes at most: more would hold up requests for longer than half a millisecond. */
const ROWS_PER_STATEMENT_MAX = 250

/** After how many written rows an account is trimmed. It has so many rows too many at most, for each process. */
const TRIMMED_AFTER_ROWS = 1000

/** Of how many accounts the written rows are counted; with more the count begins anew, and the visits trim them. */
const COUNTED_ACCOUNTS_MAX = 10_000

/** How many accounts one visit looks at. */
const VISITED_ACCOUNTS_MAX = 20

/** Deletes the requests that are too old or too many. Every call is one bounded step; when the store fails it rejects. */
export type RequestLogPruning = {
  /** Trims one of the accounts that got many rows. `written`: what was just written. Returns how many rows were deleted. */
  readonly trimBusy: (written: WrittenRows) => Promise<number>
  /** Trims the next accounts in the order of their ids, until one step's worth of rows is deleted. Returns their count. */
  readonly visitNext: () => Promise<number>
  /** Whether the next visit begins with the first account again. */
  readonly isRoundOver: () => boolean
}

/** Creates the pruning of a process. `isKept` false: the operator keeps no log, and every row goes. */
export function createRequestLogPruning(
  store: Store,
  { now }: Pick<TrustedTime, "now">,
  isKept: boolean,
): RequestLogPruning {
  const rowsMax = isKept ? LIMITS.requestLogRowsMax : 0
  const writtenCounts = new Map<string, number>()
  let visitedUpTo = ""
  return {
    trimBusy: async written => {
      if (writtenCounts.size > COUNTED_ACCOUNTS_MAX) writtenCounts.clear()
      for (const [id, count] of written) writtenCounts.set(id, (writtenCounts.get(id) ?? 0) + count)
      const [busiest, count] = [...writtenCounts].reduce((most, one) => (one[1] > most[1] ? one : most), ["", 0])
      if (count < TRIMMED_AFTER_ROWS) return 0
      const deletedCount = await trimAccount(store, now(), busiest, rowsMax)
      if (deletedCount < PRUNED_REQUESTS_MAX) writtenCounts.delete(busiest)
      return deletedCount
    },
    isRoundOver: () => visitedUpTo === "",
    visitNext: async () => {
      let deletedCount = 0
      for (let visited = 0; visited < VISITED_ACCOUNTS_MAX && deletedCount < PRUNED_REQUESTS_MAX; visited++) {
        const next = await store.one<{ readonly id: string | null }>(NEXT_ACCOUNT, [visitedUpTo])
        if (next === null || next.id === null) {
          visitedUpTo = ""
          writtenCounts.clear()
          return deletedCount
        }
        const trimmedCount = await trimAccount(store, now(), next.id, rowsMax)
        deletedCount += trimmedCount
        // An account that has more to delete is visited again.
        if (trimmedCount < PRUNED_REQUESTS_MAX) visitedUpTo = next.id
      }
      return deletedCount
    },
  }
}

/** The next account that has rows, or a size, which may be wrong. */
const NEXT_ACCOUNT = `SELECT MIN(id) AS id FROM (
  SELECT MIN(account_id) AS id FROM request_log WHERE account_id > $1
  UNION ALL SELECT MIN(account_id) FROM request_log_sizes WHERE account_id > $1) AS next`

/**
 * Deletes at most `PRUNED_REQUESTS_MAX` rows of the account, those that are older than its last `rowsMax` and those that are too old, the oldest
 * first. Returns their count. `nowMs` null: none for its age. Corrects the size of the log.
 */
export async function trimAccount(
  store: Store,
  nowMs: TrustedInstant | null,
  accountId: string,
  rowsMax: number,
): Promise<number> {
  const oldestKept = rowsMax > 0 ? await findPlaceFromLatest(store, accountId, rowsMax - 1) : NOTHING_KEPT
  const oldest = { nowMs, oldestKept }
  let deletedCount = 0
  while (deletedCount < PRUNED_REQUESTS_MAX) {
    const stepCount = await deleteOldest(store, accountId, oldest)
    deletedCount += stepCount
    if (stepCount < ROWS_PER_STATEMENT_MAX) break
    // What has arrived is handled before the next step, which SQLite would begin at once.
    await yieldThread()
  }
  await correctSize(store, accountId)
  return deletedCount
}

/** The oldest requests that an account keeps: by their age (null: whatever it is) and by their count (null: it has fewer). */
type OldestKept = { readonly nowMs: TrustedInstant | null; readonly oldestKept: RequestPlace | null }

/** Deletes the oldest rows of the account, at most `ROWS_PER_STATEMENT_MAX`. What a power failure brings back is deleted again. */
async function deleteOldest(store: Store, accountId: string, { nowMs, oldestKept }: OldestKept): Promise<number> {
  const stepEnd = await store.one<RequestPlace>(
    `SELECT at_ms AS "atMs", seq FROM request_log WHERE account_id = $1 ORDER BY at_ms, seq LIMIT 1 OFFSET $2`,
    [accountId, ROWS_PER_STATEMENT_MAX],
  )
  const deletion = (inner: Store) =>
    inner.run(
      `DELETE FROM request_log WHERE account_id = $1 AND (at_ms, seq) < ($2, $3)
     AND (at_ms < $4 OR (at_ms, seq) < ($5, $6) OR at_ms < (SELECT request_log_from_ms FROM accounts WHERE id = $1))`,
      [
        ...[accountId, stepEnd?.atMs ?? Number.MAX_SAFE_INTEGER, stepEnd?.seq ?? 0],
        ...[nowMs === null ? 0 : nowMs - LIMITS.requestLogDays * DAY_MS, oldestKept?.atMs ?? 0, oldestKept?.seq ?? 0],
      ],
    )
  return await store.transaction(deletion, "unsynced")
}

const NOTHING_KEPT: RequestPlace = { atMs: Number.MAX_SAFE_INTEGER, seq: 0 }
