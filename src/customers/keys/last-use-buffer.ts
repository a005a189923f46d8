import type { Clock } from "../../base/outside-world.ts"
import { createBulkStatements } from "../store/core/sql-text.ts"
import type { Store } from "../store/core/store.ts"

/** How many keys' last uses are held between two flushes; further keys are not noted until the next one. */
const PENDING_KEYS_MAX = 100_000

/** How many keys one flush writes: it keeps everything else waiting for about 10 ms. */
const KEYS_PER_FLUSH_MAX = 2000

/** When each key was last used, kept in memory and written in batches: a request writes nothing. A crash forgets the last batch. */
export class LastUseBuffer {
  /** By key id, the one that has waited longest first. */
  readonly #pending = new Map<string, number>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Notes that the key is used now. */
  record(keyId: string): void {
    if (this.#pending.size < PENDING_KEYS_MAX || this.#pending.has(keyId)) this.#pending.set(keyId, this.#clock())
  }

  /**
   * Writes a batch of what was noted, in one transaction, and gives the count of keys in it: zero when nothing is left.
   * When that fails it rejects, and what it took is noted still.
   */
  async flush(store: Store): Promise<number> {
    const batch = [...this.#pending.entries().take(KEYS_PER_FLUSH_MAX)]
    if (batch.length === 0) return 0
    for (const [id] of batch) this.#pending.delete(id)
    try {
      await store.transaction(inner => writeLastUses(inner, batch))
    } catch (fault) {
      for (const [id, atMs] of batch) if (!this.#pending.has(id)) this.#pending.set(id, atMs)
      throw fault
    }
    return batch.length
  }
}

async function writeLastUses(store: Store, batch: readonly (readonly [string, number])[]): Promise<void> {
  // One order for all processes: in an engine that locks rows, two that write the same ones never wait for each other.
  const ordered = batch.toSorted(([one], [other]) => (one < other ? -1 : 1))
  for (const { sql, params } of WRITE_LAST_USES(ordered)) await store.run(sql, params)
}

/**
 * Another process may have written a later use of the same key. Nothing is inserted: each row is one that is there. But an UPDATE of
 * many rows cannot be told in which order to lock them, and an INSERT can.
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
