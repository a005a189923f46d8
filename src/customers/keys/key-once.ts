import type { Random } from "../../base/clock.ts"
import { BASE62_DIGITS, randomBase62 } from "../store/base62.ts"
import type { ChangeLog } from "../store/changes.ts"
import { newId } from "../store/id.ts"
import { findKey, holdAccount, insertKey, type Key, type KeyCreation, type NewKey } from "./keys.ts"

/** As many as an id has: two never meet. */
const SLIP_DIGITS = 20

const SLIP = new RegExp(`^[${BASE62_DIGITS}]{${SLIP_DIGITS}}$`)

/** A new slip: it stands in one form, and one key at most is made by it. */
export const newSlip = (random: Random): string => randomBase62(random, SLIP_DIGITS)

/** Whether a text that a form brought may be a slip. */
export const isSlip = (text: string): boolean => SLIP.test(text)

/** The same as for `createKey`, or the key that the slip had made before, whose text nobody has any more. */
export type KeyCreationOnce = KeyCreation | { readonly kind: "created_before"; readonly key: Key }

/**
 * Creates a key as `createKey` does, once for each slip of the account, in whichever process it is asked for again, and when:
 * the key's id is made from the slip, and the store has no id twice.
 */
export async function createKeyOnce(
  log: ChangeLog,
  random: Random,
  wanted: NewKey,
  slip: string,
): Promise<KeyCreationOnce> {
  const id = newId("key", digestsOf(`${wanted.accountId} ${slip}`))
  return await log.store.transaction(async store => {
    // First, so that of two at once one sees what the other made.
    if (!(await holdAccount(store, wanted.accountId))) return { kind: "unknown_account" }
    const before = await findKey(store, id)
    if (before !== null) return { kind: "created_before", key: before }
    return await insertKey(store, random, log.clock(), wanted, id)
  })
}

/** A source of bytes that is no chance at all: the same for the same text. Each draw is at most 32 bytes. */
function digestsOf(text: string): Random {
  let draw = 0
  return count => new Uint8Array(Bun.SHA256.hash(`${text} ${draw++}`).buffer).slice(0, count)
}
