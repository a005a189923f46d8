import { enqueueNotice } from "../notices/outbox.ts"
import type { Store } from "../store/core/store.ts"
import { POLLED_AT } from "../store/poll/database-poll.ts"
import { type KeyKind, redactKeys } from "./key-format.ts"
import { EXPIRY_NOTICE_MS } from "./key-state.ts"

/** Keys whose owners are reminded in one transaction. */
const REMINDED_AT_ONCE_MAX = 200

/** A key that expires within the notice and whose owner was not reminded of this expiry. */
const isDueBetween = (fromMs: string, toMs: string): string =>
  `revoked_at_ms IS NULL AND expires_at_ms > ${fromMs} AND expires_at_ms <= ${toMs}
  AND (reminded_for_ms IS NULL OR reminded_for_ms <> expires_at_ms)`

const IS_DUE = isDueBetween("$1", "$2")

/** Whether a reminder is due, as a column of a poll of the database. */
export const REMINDERS_POLLED = `EXISTS (SELECT 1 FROM keys WHERE ${isDueBetween(POLLED_AT, `${POLLED_AT} + ${EXPIRY_NOTICE_MS}`)})`

/**
 * Adds the mail about a key that expires soon to the outbox, for the next keys that are due, and returns their count. Each expiry is told
 * once, by whichever process is first. An expiry that was set nearer than the notice is not told, nor one that is over.
 */
export async function remindOfExpiry(store: Store, nowMs: number): Promise<number> {
  const window = [nowMs, nowMs + EXPIRY_NOTICE_MS] as const
  // A look outside a transaction first: a transaction each time would block the other writers.
  if ((await store.one(`SELECT id FROM keys WHERE ${IS_DUE} LIMIT 1`, window)) === null) return 0
  return await store.transaction(async inner => {
    const due = await inner.all<{ readonly id: string }>(
      `SELECT id FROM keys WHERE ${IS_DUE} ORDER BY id LIMIT ${REMINDED_AT_ONCE_MAX}`,
      window,
    )
    let remindedCount = 0
    for (const { id } of due) if (await remindOwner(inner, id, window)) remindedCount++
    return remindedCount
  })
}

/** False: another process was faster, or the key has changed meanwhile. */
async function remindOwner(store: Store, id: string, window: readonly [nowMs: number, untilMs: number]) {
  const key = await store.one<ExpiringKeyRow>(
    `UPDATE keys SET reminded_for_ms = expires_at_ms WHERE id = $3 AND ${IS_DUE}
     RETURNING account_id, kind, name, last4, expires_at_ms`,
    [...window, id],
  )
  if (key === null) return false
  const [nowMs] = window
  const { account_id: accountId, kind, last4, expires_at_ms: expiresAtMs } = key
  await enqueueNotice(store, nowMs, {
    accountId,
    // A key whose expiry is put off expires a second time.
    subject: `${id} ${expiresAtMs}`,
    kind: "key_expiring",
    params: { kind, name: redactKeys(key.name), last4, atMs: expiresAtMs },
  })
  return true
}

type ExpiringKeyRow = {
  readonly account_id: string
  readonly kind: KeyKind
  readonly name: string
  readonly last4: string
  readonly expires_at_ms: number
}
