import type { Store } from "../store/store.ts"
import type { Ending } from "./outbox.ts"

/** How a mail in the outbox stands: nobody has taken it yet, a sender has claimed it, or how it ended. */
export type MailState = "waiting" | "under_way" | Ending

/** How many mails of a notice are kept in a state. */
export type OutboxCount = { readonly notice: string; readonly state: MailState; readonly count: number }

/** What the outbox keeps, by notice and state. */
export async function outboxCounts(store: Store): Promise<readonly OutboxCount[]> {
  return await store.all<OutboxCount>(
    `SELECT notice, COALESCE(ending, CASE WHEN claim IS NULL THEN 'waiting' ELSE 'under_way' END) AS state,
       COUNT(*) AS count FROM outbox GROUP BY 1, 2`,
  )
}

/** When the oldest mail that waits was written, in milliseconds since the Unix epoch; null: none waits. */
export async function oldestWaitingMs(store: Store): Promise<number | null> {
  const row = await store.one<{ atMs: number | null }>(
    `SELECT MIN(written_at_ms) AS "atMs" FROM outbox WHERE ended_at_ms IS NULL AND claim IS NULL`,
  )
  return row?.atMs ?? null
}
