import type { Clock } from "../../base/outside-world.ts"
import type { Store } from "../store/core/store.ts"

/** The instant from which the requests of an account are logged whose log is off: none has come that far. */
export const NEVER_LOGGED_MS: number = Number.MAX_SAFE_INTEGER

/** Whether the account's requests are logged. False also for an account that does not exist. */
export async function isRequestLogOn(store: Store, accountId: string): Promise<boolean> {
  const row = await store.one<{ readonly from: number }>(
    'SELECT request_log_from_ms AS "from" FROM accounts WHERE id = $1',
    [accountId],
  )
  return row !== null && row.from !== NEVER_LOGGED_MS
}

/** Switches the log of an account on, from now on. It stays as it is if it is on. */
export async function switchRequestLogOn(store: Store, clock: Clock, accountId: string): Promise<void> {
  await store.run("UPDATE accounts SET request_log_from_ms = $2 WHERE id = $1 AND request_log_from_ms = $3", [
    accountId,
    clock(),
    NEVER_LOGGED_MS,
  ])
}

/**
 * Switches the log of an account off and deletes it. When it resolves, what any process has not written yet is never written. Rows that
 * another process is writing at this moment are read by nothing and exported to nobody, and the pruning deletes them.
 */
export async function switchRequestLogOff(store: Store, accountId: string): Promise<void> {
  await store.run("UPDATE accounts SET request_log_from_ms = $2 WHERE id = $1", [accountId, NEVER_LOGGED_MS])
  // After the commit of the switch, so that what was written before it is seen by this statement.
  await store.run("DELETE FROM request_log WHERE account_id = $1", [accountId])
}
