import type { Clock } from "../../base/outside-world.ts"
import { createBulkStatements } from "../store/core/sql-text.ts"
import type { Store } from "../store/core/store.ts"

/** How many keys' last uses are buffered between two flushes; further keys are ignored until the next one. */
const PENDING_KEYS_MAX = 100_000

/** How many keys one flush writes: it blocks other writers for about 10 ms. */
const KEYS_PER_FLUSH_MAX = 2000

/** The last use of each key, buffered in memory and written in batches, so that a request writes nothing. A crash loses the last batch. */
export class LastUseBuffer {
  /** By key id, in the order of the first use since the last flush. */
  readonly #pending = new Map<string, number>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Records that the key is used now. */
  record(keyId: string): void {
    if (this.#pending.size < PENDING_KEYS_MAX || this.#pending.has(keyId)) this.#pending.set(keyId, this.#clock())
  }

  /**
   * Writes a batch in one transaction and returns the count of keys in it; zero when none was left. When the store fails it rejects, and
   * the batch stays buffered.
   */
  async flush(store: Store): Promise<number> {
    const batch = [...this.#pending.entries().take(KEYS_PER_FLUSH_MAX)]
    if (batch.length === 0) return 0
    for (const [id] of batch) this.#pending.delete(id)
    try {
      await store.transaction(inner => writeLastUses(inner, batch), "unsynced")
    } catch (error) {
      for (const [id, atMs] of batch) if (!this.#pending.has(id)) this.#pending.set(id, atMs)
      throw error
    }
    return batch.length
  }
}

async function writeLastUses(store: Store, batch: readonly (readonly [string, number])[]): Promise<void> {
  // One global order of rows: two processes that lock the same ones never deadlock.
  const ordered = batch.toSorted(([one], [other]) => (one < other ? -1 : 1))
  for (const { sql, params } of WRITE_LAST_USES(ordered)) await store.run(sql, params)
}

/**
 * Keeps the later use when another process wrote one. Every row exists, so nothing is inserted: the form of an INSERT is used because it
 * locks rows in a stated order, which an UPDATE of many rows does not.
 */
const WRITE_LAST_USES = createBulkStatements(
  ["TEXT", "BIGINT"],
  rows => `INSERT INTO keys (id, account_id, kind, hash, last4, name, origins, created_at_ms, last_used_at_ms)
  SELECT id, account_id, kind, hash, last4, name, origins, created_at_ms, column2
  FROM ${rows} JOIN keys ON keys.id = column1
  WHERE COALESCE(last_used_at_ms, 0) < column2 ORDER BY place
  ON CONFLICT (id) DO UPDATE SET last_used_at_ms = excluded.last_used_at_ms
  WHERE COALESCE(keys.last_used_at_ms, 0) < excluded.last_used_at_ms`,
)
