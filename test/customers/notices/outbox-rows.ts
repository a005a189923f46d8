import { enqueueNotice } from "../../../src/customers/notices/outbox.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"

/** What a test sees of a mail in the outbox. */
export type OutboxTableRow = {
  readonly accountId: string
  readonly notice: string
  readonly subject: string
  readonly particulars: string
  readonly writtenAtMs: number
  readonly dueAtMs: number
  readonly refusalCount: number
  readonly claim: string | null
  readonly ending: string | null
}

/** Every mail of the outbox, in the order of its keys. */
export async function outboxRows(store: Store): Promise<readonly OutboxTableRow[]> {
  return await store.all<OutboxTableRow>(
    `SELECT account_id AS "accountId", notice, subject, particulars, written_at_ms AS "writtenAtMs", due_at_ms AS "dueAtMs",
       refusal_count AS "refusalCount", claim, ending FROM outbox ORDER BY account_id, notice, subject`,
  )
}

/** Posts that a key was created; `subject` is the key's id. */
export async function post(store: Store, accountId: string, subject = "key_1", nowMs = 5_000): Promise<boolean> {
  const params = { kind: "secret", name: "Billing", last4: "aB3d", atMs: nowMs } as const
  return await enqueueNotice(store, nowMs, { accountId, subject, kind: "key_created", params })
}
