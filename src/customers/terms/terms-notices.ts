import { DAY_MS } from "../../base/time.ts"
import { LIMITS } from "../../contract/limits.ts"
import { lockAccountRow } from "../accounts/accounts.ts"
import { enqueueNotice } from "../notices/outbox.ts"
import type { Store } from "../store/core/store.ts"

/** Accounts notified in one transaction, which blocks other writers for some tens of milliseconds. */
const NOTIFIED_AT_ONCE_MAX = 500

/** The value of `told_up_to` before the first account. */
export const NOBODY_NOTIFIED = ""

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
    const terms = await inner.one<TermsProgressRow>(
      `SELECT version, url, published_at_ms AS "publishedAtMs", told_up_to AS "toldUpTo" FROM terms
       WHERE told_up_to IS NOT NULL ORDER BY published_at_ms LIMIT 1`,
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
