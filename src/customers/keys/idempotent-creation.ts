import type { Random } from "../../base/outside-world.ts"
import { lockAccountRow } from "../accounts/accounts.ts"
import { recordKeyCreation } from "../keys/keys.ts"
import type { AttributedLog } from "../store/change-log/change-log.ts"
import { BASE62_DIGITS, deterministicBytes, newId, randomBase62 } from "../store/core/id.ts"
import { type ApiKey, findKey, insertKey, type KeyCreation, momentOf, type NewApiKey } from "./keys.ts"

/** As long as an id, so that two do not collide. */
const IDEMPOTENCY_KEY_LENGTH = 20

const IDEMPOTENCY_KEY_FORMAT = new RegExp(`^[${BASE62_DIGITS}]{${IDEMPOTENCY_KEY_LENGTH}}$`)

/** A new idempotency key for one form. At most one API key is created with it (DECISIONS 49). */
export const newIdempotencyKey = (random: Random): string => randomBase62(random, IDEMPOTENCY_KEY_LENGTH)

/** True for a text of the form of an idempotency key. */
export const isIdempotencyKey = (text: string): boolean => IDEMPOTENCY_KEY_FORMAT.test(text)

/** As for `createKey`, or the key that was created with this idempotency key before, whose text is no longer known. */
export type IdempotentKeyCreation = KeyCreation | { readonly kind: "created_before"; readonly key: ApiKey }

/**
 * Creates a key as `createKey` does, once for each idempotency key of the account, in any process and at any time. The id of the API
 * key is derived from the idempotency key, and ids are unique in the store.
 */
export async function createKeyOnce(
  log: AttributedLog,
  random: Random,
  newKey: NewApiKey,
  idempotencyKey: string,
): Promise<IdempotentKeyCreation> {
  const id = newId("key", deterministicBytes(`${newKey.accountId} ${idempotencyKey}`))
  return await log.store.transaction(async store => {
    // The lock comes first, so that of two concurrent calls one sees the key of the other.
    if (!(await lockAccountRow(store, newKey.accountId))) return { kind: "unknown_account" }
    const existing = await findKey(store, id)
    if (existing !== null) return { kind: "created_before", key: existing }
    const creation = await insertKey(store, random, momentOf(log), newKey, id)
    await recordKeyCreation(log, store, creation)
    return creation
  })
}
