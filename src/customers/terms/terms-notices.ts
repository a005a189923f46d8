import { DAY_MS } from "../../base/time.ts"
import { LIMITS } from "../../contract/limits.ts"
import { enqueueNotice } from "../notices/outbox.ts"
import type { Store } from "../store/core/store.ts"

/** How many accounts are written to in one transaction, which keeps everything else waiting for some tens of milliseconds. */
const NOTIFIED_AT_ONCE_MAX = 500

/** What `told_up_to` holds before the first account. */
export const NOBODY_NOTIFIED = ""

/**
 * Puts the notice of material terms into the outbox for the next `countMax` accounts that have not accepted them, in one
 * transaction. False: nobody was left to be written to. Where a crash ends it, the next call goes on.
 */
export async function notifyNextAccounts(
  store: Store,
  nowMs: number,
  countMax = NOTIFIED_AT_ONCE_MAX,
): Promise<boolean> {
  // Asked outside of a transaction, which would keep every other process from writing, each time.
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
      // A write that changes nothing takes the account's row: one that is gone meanwhile, in any engine, is passed over.
      const held = await inner.run("UPDATE accounts SET tier = tier WHERE id = $1", [id])
      if (held > 0) await enqueueNotice(inner, nowMs, { accountId: id, kind: "terms_change", subject: version, params })
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

/** When accounts must have accepted terms, which are material: from that millisecond on they are refused. */
export function noticeEndsAtMs({ publishedAtMs }: { readonly publishedAtMs: number }): number {
  return publishedAtMs + LIMITS.termsNoticeDays * DAY_MS
}
