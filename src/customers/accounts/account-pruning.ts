import type { TrustedInstant } from "../../base/trusted-clock.ts"
import type { Store } from "../store/core/store.ts"

/** Accounts in the order of their ids: those after one, up to another. */
export type AccountRange = { readonly after: string; readonly last: string }

/** Deletes what is too old of a kind of rows of these accounts, and returns its count. */
type PruneAccounts = (store: Store, accounts: AccountRange, nowMs: TrustedInstant) => Promise<number>

/** Of how many accounts one call deletes old rows: it blocks other writers for about 10 ms. */
const PRUNED_ACCOUNTS_MAX = 200

/**
 * Visits all accounts in the order of their ids, `accountsMax` a call, and deletes their old rows. One call a minute visits 288 000 accounts a
 * day. The returned function gives the count of deleted rows. When the store fails it rejects, and the next call starts there again.
 */
export function createAccountPruning(
  store: Store,
  prunes: readonly PruneAccounts[],
  accountsMax = PRUNED_ACCOUNTS_MAX,
): (nowMs: TrustedInstant) => Promise<number> {
  let prunedUpTo = ""
  return async nowMs => {
    const next = await store.one<{ last: string | null }>(
      "SELECT MAX(id) AS last FROM (SELECT id FROM accounts WHERE id > $1 ORDER BY id LIMIT $2) AS next_accounts",
      [prunedUpTo, accountsMax],
    )
    const last = next?.last ?? null
    if (last === null) {
      prunedUpTo = ""
      return 0
    }
    let deletedCount = 0
    for (const prune of prunes) deletedCount += await prune(store, { after: prunedUpTo, last }, nowMs)
    prunedUpTo = last
    return deletedCount
  }
}
