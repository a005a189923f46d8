import { assert } from "../../base/errors.ts"
import type { Clock, Random } from "../../base/outside-world.ts"
import { OWNER_TIER } from "../../contract/tiers.ts"
import { type Account, insertAccount } from "../accounts/accounts.ts"
import { newId } from "../store/core/id.ts"
import type { Store } from "../store/core/store.ts"
import { type ApiKey, insertKey } from "./keys.ts"

/** The email of the account that the first start creates. */
export const OWNER_EMAIL = "owner@localhost"

/** The created account with its key and the key's text, which is not stored; or that the store has accounts already. */
export type FirstAccountResult =
  | { readonly kind: "created"; readonly account: Account; readonly key: ApiKey; readonly text: string }
  | { readonly kind: "exists" }

/**
 * Creates the account `OWNER_EMAIL` with one secret key in a store without accounts. It counts as having accepted `termsVersion`; null
 * when no terms are published. It is one transaction, and of several processes that start together only one creates the account.
 */
export async function createFirstAccount(
  store: Store,
  clock: Clock,
  random: Random,
  termsVersion: string | null,
): Promise<FirstAccountResult> {
  return await store.transaction(async inner => {
    if ((await inner.one("SELECT id FROM accounts LIMIT 1")) !== null) return { kind: "exists" }
    const newAccount = { email: OWNER_EMAIL, tier: OWNER_TIER, termsVersion }
    const creation = await insertAccount(inner, newId("acc", random), clock(), newAccount)
    // Where transactions run concurrently, the slower one finds the account here.
    if (creation.kind === "email_taken") return { kind: "exists" }
    assert(creation.kind === "created", "the first account is valid")
    const { account } = creation
    const keyCreation = await insertKey(inner, random, clock(), {
      accountId: account.id,
      kind: "secret",
      name: null,
      origins: [],
    })
    assert(keyCreation.kind === "created", "a new account may have a key")
    return { kind: "created", account, key: keyCreation.key, text: keyCreation.text }
  })
}
