import { assert } from "../../base/errors.ts"
import type { Clock, Random } from "../../base/outside-world.ts"
import { OWNER_TIER } from "../../contract/tiers.ts"
import { type Account, insertAccount } from "../accounts/accounts.ts"
import { recordAct } from "../audit/audit.ts"
import { recordKeyCreation } from "../keys/keys.ts"
import { SERVER_ACTOR } from "../store/change-log/actor.ts"
import { newId } from "../store/core/id.ts"
import type { Store } from "../store/core/store.ts"
import { isWriteUnsure } from "../store/core/store-error.ts"
import { generateKey, hashKey } from "./key-format.ts"
import { type ApiKey, insertKey, momentOf } from "./keys.ts"

/** The email of the account that the first start creates. */
export const OWNER_EMAIL = "owner@localhost"

/** The created account with its key and the key's text, which is not stored; or that the store has accounts already. */
export type FirstAccountResult =
  | { readonly kind: "created"; readonly account: Account; readonly key: ApiKey; readonly text: string }
  | { readonly kind: "exists" }

/**
 * Creates the account `OWNER_EMAIL` with one secret key in a store without accounts. It counts as having accepted `termsVersion`; null
 * when no terms are published. `keyText` null: a random key. It is one transaction, and of several processes that start together only one creates the account.
 */
export async function createFirstAccount(
  store: Store,
  clock: Clock,
  random: Random,
  termsVersion: string | null,
  keyText: string | null = null,
): Promise<FirstAccountResult> {
  const hasAccount = async (inner: Store): Promise<boolean> =>
    (await inner.one("SELECT id FROM accounts LIMIT 1")) !== null
  // Nearly every start: no transaction, which a busy server would idle in.
  if (await hasAccount(store)) return { kind: "exists" }
  const made: { result: Extract<FirstAccountResult, { kind: "created" }> | null } = { result: null }
  const create = async (inner: Store): Promise<FirstAccountResult> => {
    made.result = null
    if (await hasAccount(inner)) return { kind: "exists" }
    const newAccount = { email: OWNER_EMAIL, tier: OWNER_TIER, termsVersion }
    const creation = await insertAccount(inner, newId("acc", random), clock(), newAccount)
    // Where transactions run concurrently, the slower one finds the account here.
    if (creation.kind === "email_taken") return { kind: "exists" }
    assert(creation.kind === "created", "the first account is valid")
    const { account } = creation
    const newKey = { accountId: account.id, kind: "secret", name: null, origins: [] } as const
    const text = keyText ?? generateKey("secret", random)
    const keyCreation = await insertKey(inner, random, momentOf({ clock }), newKey, newId("key", random), text)
    assert(keyCreation.kind === "created", "a new account may have a key")
    const log = { clock, actor: SERVER_ACTOR }
    await recordAct(log, inner, { kind: "account_created", accountId: account.id, details: "" })
    await recordKeyCreation(log, inner, keyCreation)
    made.result = { kind: "created", account, key: keyCreation.key, text: keyCreation.text }
    return made.result
  }
  try {
    return await store.transaction(create)
  } catch (error) {
    // The answer to the commit did not come. The key is nowhere else, so it is not left to chance whether it is shown.
    if (isWriteUnsure(error) && made.result !== null && (await hasKey(store, made.result.text))) return made.result
    throw error
  }
}

/** Whether there is a key with this text, also a revoked one. */
export const hasKey = async (store: Store, text: string): Promise<boolean> =>
  (await store.one("SELECT id FROM keys WHERE hash = $1", [hashKey(text)])) !== null
