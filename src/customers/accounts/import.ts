import type { Random } from "../../base/outside-world.ts"
import { recordAct } from "../audit/audit.ts"
import type { AttributedLog } from "../store/change-log/change-log.ts"
import { newId } from "../store/core/id.ts"
import type { Store } from "../store/core/store.ts"
import { normalizeAccountEmail } from "./account-email.ts"
import { type Account, type AccountCreationRefusal, insertAccount, type NewAccount } from "./accounts.ts"

/** How many accounts are imported at once at most: SQLite has one writer, which so many keep busy for most of a second; over PostgreSQL they take some seconds. */
export const IMPORTED_ACCOUNTS_MAX = 2000

/** Why an account of an import cannot be created. `repeated`: one before it in the same import has its email, at `firstIndex`. */
export type ImportRefusal = { readonly index: number } & (
  | AccountCreationRefusal
  | { readonly kind: "repeated"; readonly firstIndex: number }
)

/** All accounts, or all refusals, in the order of the import. */
export type AccountImport =
  | { readonly kind: "imported"; readonly accounts: readonly Account[] }
  | { readonly kind: "refused"; readonly refusals: readonly ImportRefusal[] }

/**
 * Creates all of these accounts, as `createAccount` creates one, or none of them if one is refused. A dry run does the same and then takes it
 * back, so that it gives the result that the import would have now.
 */
export async function importAccounts(
  log: AttributedLog,
  random: Random,
  accounts: readonly NewAccount[],
  isDryRun: boolean,
): Promise<AccountImport> {
  try {
    return await log.store.transaction(async store => {
      const result = await insertAll(log, store, random, accounts)
      if (isDryRun || result.kind === "refused") throw new Undone(result)
      return result
    })
  } catch (error) {
    if (error instanceof Undone) return error.result
    throw error
  }
}

/** Rolls a transaction back, and carries what it found. */
class Undone extends Error {
  override readonly name = "Undone"
  readonly result: AccountImport
  constructor(result: AccountImport) {
    super("The accounts of an import are not kept.")
    this.result = result
  }
}

async function insertAll(
  log: AttributedLog,
  store: Store,
  random: Random,
  accounts: readonly NewAccount[],
): Promise<AccountImport> {
  const created: Account[] = []
  const refusals: ImportRefusal[] = []
  const indexes = new Map<string, number>()
  for (const [index, account] of accounts.entries()) {
    const email = normalizeAccountEmail(account.email)
    const firstIndex = email === null ? undefined : indexes.get(email)
    if (firstIndex !== undefined) {
      refusals.push({ index, kind: "repeated", firstIndex })
      continue
    }
    if (email !== null) indexes.set(email, index)
    const creation = await insertAccount(store, newId("acc", random), log.clock(), account)
    if (creation.kind !== "created") {
      refusals.push({ index, ...creation })
      continue
    }
    created.push(creation.account)
    await recordAct(log, store, { kind: "account_created", accountId: creation.account.id, details: "" })
  }
  return refusals.length > 0 ? { kind: "refused", refusals } : { kind: "imported", accounts: created }
}
