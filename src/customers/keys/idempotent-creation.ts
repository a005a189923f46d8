import type { Random } from "../../base/outside-world.ts"
import type { ChangeLog } from "../store/change-log/change-log.ts"
import { BASE62_DIGITS, newId, randomBase62 } from "../store/core/id.ts"
import { type ApiKey, findKey, insertKey, type KeyCreation, lockAccountRow, type NewApiKey } from "./keys.ts"

/** As many as an id has: two never meet. */
const IDEMPOTENCY_KEY_LENGTH = 20

const IDEMPOTENCY_KEY_FORMAT = new RegExp(`^[${BASE62_DIGITS}]{${IDEMPOTENCY_KEY_LENGTH}}$`)

/** A new slip: it stands in one form, and one key at most is made by it. */
export const newIdempotencyKey = (random: Random): string => randomBase62(random, IDEMPOTENCY_KEY_LENGTH)

/** Whether a text that a form brought may be a slip. */
export const isIdempotencyKey = (text: string): boolean => IDEMPOTENCY_KEY_FORMAT.test(text)

/** The same as for `createKey`, or the key that the slip had made before, whose text nobody has any more. */
export type IdempotentKeyCreation = KeyCreation | { readonly kind: "created_before"; readonly key: ApiKey }

/**
 * Creates a key as `createKey` does, once for each slip of the account, in whichever process it is asked for again, and when:
 * the key's id is made from the slip, and the store has no id twice.
 */
export async function createKeyOnce(
  log: ChangeLog,
  random: Random,
  wanted: NewApiKey,
  slip: string,
): Promise<IdempotentKeyCreation> {
  const id = newId("key", deterministicBytes(`${wanted.accountId} ${slip}`))
  return await log.store.transaction(async store => {
    // First, so that of two at once one sees what the other made.
    if (!(await lockAccountRow(store, wanted.accountId))) return { kind: "unknown_account" }
    const before = await findKey(store, id)
    if (before !== null) return { kind: "created_before", key: before }
    return await insertKey(store, random, log.clock(), wanted, id)
  })
}

/** A source of bytes that is no chance at all: the same for the same text. Each draw is at most 32 bytes. */
function deterministicBytes(text: string): Random {
  let draw = 0
  return count => new Uint8Array(Bun.SHA256.hash(`${text} ${draw++}`).buffer).slice(0, count)
}
