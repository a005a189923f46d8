import { recordAct } from "../audit/audit.ts"
import type { AttributedLog } from "../store/change-log/change-log.ts"
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
export async function switchRequestLogOn(log: SwitchLog, accountId: string): Promise<void> {
  await log.store.transaction(async store => {
    const sql = "UPDATE accounts SET request_log_from_ms = $2 WHERE id = $1 AND request_log_from_ms = $3"
    if ((await store.run(sql, [accountId, log.clock(), NEVER_LOGGED_MS])) > 0)
      await recordAct(log, store, { kind: "request_log_switched", accountId, details: "on" })
  })
}

type SwitchLog = Pick<AttributedLog, "store" | "clock" | "actor">

/**
 * Switches the log of an account off and deletes it. When it resolves, what any process has not written yet is never written. Rows that
 * another process is writing at this moment are read by nothing and exported to nobody, and the pruning deletes them.
 */
export async function switchRequestLogOff(log: SwitchLog, accountId: string): Promise<void> {
  await log.store.transaction(async store => {
    const sql = "UPDATE accounts SET request_log_from_ms = $2 WHERE id = $1 AND request_log_from_ms <> $2"
    if ((await store.run(sql, [accountId, NEVER_LOGGED_MS])) > 0)
      await recordAct(log, store, { kind: "request_log_switched", accountId, details: "off" })
  })
  // After the commit of the switch, so that what was written before it is seen by this statement.
  await log.store.run("DELETE FROM request_log WHERE account_id = $1", [accountId])
  await log.store.run("DELETE FROM request_log_sizes WHERE account_id = $1", [accountId])
}
