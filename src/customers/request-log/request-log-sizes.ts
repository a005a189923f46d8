import { LIMITS } from "../../contract/limits.ts"
import { createBulkStatements } from "../store/core/sql-text.ts"
import type { Store } from "../store/core/store.ts"

/** How much the log of an account is: its rows, and the characters of their texts. */
export type LogSize = { readonly id: string; readonly rowCount: number; readonly textLength: number }

/** What logged requests take on the disk with their index: so many bytes each, and so many for each character of their texts. */
export type RowBytes = { readonly perRow: number; readonly perCharacter: number }

/**
 * Measured in logs that are trimmed as they are written. A usual row has 78 characters. In SQLite it takes 200 bytes when it is written, and 318 with
 * its part of the gaps between rows that stay, since a page is used anew when two thirds of it are empty. In PostgreSQL it takes 340, and 510 with the
 * space of deleted rows that waits for its vacuum.
 */
export const ROW_BYTES = {
  sqlite: { perRow: 162, perCharacter: 2 },
  postgres: { perRow: 400, perCharacter: 1.4 },
} as const satisfies Record<string, RowBytes>

/** The characters of the texts of a row that was written before sizes were counted. */
const USUAL_TEXT_LENGTH = 78

/** How many rows of an account are counted at most. Trimming leaves it no more than half. */
const COUNTED_ROWS_MAX = 2 * LIMITS.requestLogRowsMax

/** Adds rows that are being written to the sizes of their accounts, in the same transaction. `rows`: account, instant, and the other columns. */
export async function addToSizes(store: Store, rows: readonly (readonly (string | number)[])[]): Promise<void> {
  const sizes = new Map<string, { rowCount: number; textLength: number; lastAtMs: number }>()
  for (const [accountId, atMs, ...columns] of rows) {
    const size = sizes.get(String(accountId)) ?? { rowCount: 0, textLength: 0, lastAtMs: 0 }
    size.rowCount++
    for (const column of columns) if (typeof column === "string") size.textLength += column.length
    size.lastAtMs = Math.max(size.lastAtMs, Number(atMs))
    sizes.set(String(accountId), size)
  }
  const ordered = [...sizes].sort(([one], [other]) => (one < other ? -1 : 1))
  const added = ordered.map(([id, { rowCount, textLength, lastAtMs }]) => [id, rowCount, textLength, lastAtMs])
  for (const { sql, params } of ADD_SIZES(added)) await store.run(sql, params)
}

const ADD_SIZES = createBulkStatements(
  ["TEXT", "BIGINT", "BIGINT", "BIGINT"],
  rows => `INSERT INTO request_log_sizes (account_id, row_count, text_length)
  SELECT column1, column2, column3 FROM ${rows}
  WHERE EXISTS (SELECT 1 FROM accounts WHERE id = column1 AND request_log_from_ms <= column4) ORDER BY place
  ON CONFLICT (account_id) DO UPDATE SET row_count = request_log_sizes.row_count + excluded.row_count,
    text_length = request_log_sizes.text_length + excluded.text_length`,
)

/**
 * Counts the rows of an account and corrects its size, after rows were deleted or written without being counted: by an earlier version, or twice.
 * The texts are taken to be as long as those that were counted before.
 */
export async function correctSize(store: Store, accountId: string): Promise<void> {
  await store.transaction(
    inner => inner.run(CORRECT_SIZE, [accountId, USUAL_TEXT_LENGTH, COUNTED_ROWS_MAX]),
    "unsynced",
  )
}

const CORRECT_SIZE = `INSERT INTO request_log_sizes (account_id, row_count, text_length)
  SELECT CAST($1 AS TEXT), COUNT(*), COUNT(*) * CAST($2 AS BIGINT)
  FROM (SELECT 1 AS one FROM request_log WHERE account_id = $1 LIMIT $3) AS counted
  HAVING EXISTS (SELECT 1 FROM accounts WHERE id = $1)
  ON CONFLICT (account_id) DO UPDATE SET row_count = excluded.row_count,
    text_length = CASE WHEN request_log_sizes.row_count = 0 THEN excluded.text_length
      ELSE request_log_sizes.text_length * excluded.row_count / request_log_sizes.row_count END
  WHERE request_log_sizes.row_count <> excluded.row_count`

/** The sizes of the next accounts in the order of their ids, at most so many. */
export async function readSizes(store: Store, afterId: string, countMax: number): Promise<readonly LogSize[]> {
  return await store.all<LogSize>(
    `SELECT account_id AS id, row_count AS "rowCount", text_length AS "textLength" FROM request_log_sizes
     WHERE account_id > $1 ORDER BY account_id LIMIT $2`,
    [afterId, countMax],
  )
}
