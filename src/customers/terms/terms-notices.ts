import { DAY_MS } from "../../base/time.ts"
import { LIMITS } from "../../contract/limits.ts"
import { lockAccountRow } from "../accounts/accounts.ts"
import { enqueueNotice } from "../notices/outbox.ts"
import type { Store } from "../store/core/store.ts"

/** Accounts notified in one transaction, which blocks other writers for some tens of milliseconds. */
const NOTIFIED_AT_ONCE_MAX = 500

/** The value of `told_up_to` before the first account. */
export const NOBODY_NOTIFIED = ""

/** Whether accounts are left to be notified, as a column of a poll of the database. */
export const NOTIFIED_TERMS_POLLED = "EXISTS (SELECT 1 FROM terms WHERE told_up_to IS NOT NULL)"

/**
 * Adds the notice of material terms to the outbox for the next `countMax` accounts that have not accepted them, in one
 * transaction. False: no account is left. After a crash the next call continues.
 */
export async function notifyNextAccounts(
  store: Store,
  nowMs: number,
  countMax = NOTIFIED_AT_ONCE_MAX,
): Promise<boolean> {
  // A look outside a transaction first: a transaction each time would block the other writers.
  if ((await store.one("SELECT version FROM terms WHERE told_up_to IS NOT NULL LIMIT 1")) === null) return false
  return await store.transaction(async inner => {
    // A write without effect locks the row: who withdraws the terms waits, and then deletes these mails too.
    const terms = await inner.one<TermsProgressRow>(
      `UPDATE terms SET told_up_to = told_up_to WHERE told_up_to IS NOT NULL AND version =
         (SELECT version FROM terms WHERE told_up_to IS NOT NULL ORDER BY published_at_ms LIMIT 1)
       RETURNING version, url, published_at_ms AS "publishedAtMs", told_up_to AS "toldUpTo"`,
    )
    if (terms === null) return false
    const { version, url, publishedAtMs } = terms
    const accounts = await inner.all<{ id: string }>(
      `SELECT accounts.id FROM accounts LEFT JOIN terms ON terms.version = accounts.accepted_terms_version
       WHERE accounts.id > $1 AND COALESCE(terms.published_at_ms, accounts.accepted_terms_at_ms, -1) < $2
       ORDER BY accounts.id LIMIT $3`,
      [terms.toldUpTo, publishedAtMs, countMax],
    )
    const params = { version, url, endsAtMs: noticeEndsAtMs(terms) }
    for (const { id } of accounts) {
      // An account that was deleted meanwhile is skipped.
      if (await lockAccountRow(inner, id))
        await enqueueNotice(inner, nowMs, { accountId: id, kind: "terms_change", subject: version, params })
    }
    const last = accounts.at(-1)
    const toldUpTo = last === undefined || accounts.length < countMax ? null : last.id
    await inner.run("UPDATE terms SET told_up_to = $2 WHERE version = $1", [version, toldUpTo])
    return true
  })
}

/** Lets no more accounts be told of terms: the mails that wait are deleted, but for one that a process is sending just now. */
export async function stopNotices(store: Store, version: string): Promise<void> {
  await store.run("UPDATE terms SET told_up_to = NULL WHERE version = $1", [version])
  await store.run(
    "DELETE FROM outbox WHERE notice = 'terms_change' AND subject = $1 AND ended_at_ms IS NULL AND claim IS NULL",
    [version],
  )
}

/** How many accounts have been mailed about terms, or are just now, as far as their mails are still stored. */
export async function countNotified(store: Store, version: string): Promise<{ readonly notifiedCount: number }> {
  const row = await store.one<{ notified: number }>(
    `SELECT COUNT(*) AS notified FROM outbox WHERE notice = 'terms_change' AND subject = $1
       AND (ending = 'sent' OR claim IS NOT NULL)`,
    [version],
  )
  return { notifiedCount: row?.notified ?? 0 }
}

type TermsProgressRow = {
  readonly version: string
  readonly url: string
  readonly publishedAtMs: number
  readonly toldUpTo: string
}

/** The deadline for accepting material terms: from this millisecond on requests are refused. */
export function noticeEndsAtMs({ publishedAtMs }: { readonly publishedAtMs: number }): number {
  return publishedAtMs + LIMITS.termsNoticeDays * DAY_MS
}
