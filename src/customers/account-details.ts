import type { Clock } from "../base/outside-world.ts"
import { type AccountSummary, summarizeAccount } from "./accounts/accounts.ts"
import { readOperatorNote } from "./accounts/operator-note.ts"
import { listSessions } from "./sign-in/sessions.ts"
import type { Store } from "./store/core/store.ts"
import type { TermsAcceptance, TermsState } from "./terms/terms-cache.ts"

/** What an operator sees of an account, besides its usage, its keys and what was done. */
export type AccountDetails = {
  readonly account: AccountSummary
  readonly sessionCount: number
  readonly termsState: TermsState
  /** The operator's note; empty: none. */
  readonly note: string
}

/** Reads an account as administrators and commands show it. Null: there is none with this id. */
export async function readAccountDetails(
  { store, clock, terms }: { readonly store: Store; readonly clock: Clock; readonly terms: TermsReader },
  id: string,
): Promise<AccountDetails | null> {
  const account = await summarizeAccount(store, id, clock())
  if (account === null) return null
  return {
    account,
    sessionCount: (await listSessions(store, clock, id)).length,
    termsState: terms.stateOf(account),
    note: await readOperatorNote(store, id),
  }
}

/** The part of `TermsCache` that is read here. */
type TermsReader = { readonly stateOf: (acceptance: TermsAcceptance) => TermsState }
