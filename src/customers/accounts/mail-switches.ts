import { recordAct } from "../audit/audit.ts"
import { type NoticeKind, OPTIONAL_NOTICES } from "../notices/notices.ts"
import type { AttributedLog } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"
import { lockAccountRow } from "./accounts.ts"

/** The optional mails that the account has switched off. */
export async function readMutedNotices(store: Store, accountId: string): Promise<ReadonlySet<NoticeKind>> {
  const rows = await store.all<{ notice: string }>("SELECT notice FROM muted_notices WHERE account_id = $1", [
    accountId,
  ])
  const stored = new Set(rows.map(({ notice }) => notice))
  return new Set(OPTIONAL_NOTICES.filter(kind => stored.has(kind)))
}

/**
 * Switches the optional mails of `wanted` on and all other optional mails off. A mail that is switched off and still waits is not sent,
 * unless a process is sending it just now. Other kinds in `wanted` have no effect. False when there is no such account.
 */
export async function setWantedNotices(
  log: Pick<AttributedLog, "store" | "clock" | "actor">,
  accountId: string,
  wanted: readonly string[],
): Promise<boolean> {
  const { store, clock } = log
  return await store.transaction(async inner => {
    if (!(await lockAccountRow(inner, accountId))) return false
    const details = OPTIONAL_NOTICES.filter(kind => wanted.includes(kind)).join(", ")
    await recordAct(log, inner, { kind: "mails_switched", accountId, details })
    for (const kind of OPTIONAL_NOTICES) {
      if (wanted.includes(kind)) {
        await inner.run("DELETE FROM muted_notices WHERE account_id = $1 AND notice = $2", [accountId, kind])
        continue
      }
      await inner.run(
        `INSERT INTO muted_notices (account_id, notice, muted_at_ms) VALUES ($1, $2, $3)
         ON CONFLICT (account_id, notice) DO NOTHING`,
        [accountId, kind, clock()],
      )
      await inner.run(
        "DELETE FROM outbox WHERE account_id = $1 AND notice = $2 AND ended_at_ms IS NULL AND claim IS NULL",
        [accountId, kind],
      )
    }
    return true
  })
}
