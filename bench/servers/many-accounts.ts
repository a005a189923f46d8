import type { Random } from "../../src/base/outside-world.ts"
import { generateKey, hashKey, type KeyKind } from "../../src/customers/keys/key-format.ts"
import { newId } from "../../src/customers/store/core/id.ts"
import type { Store } from "../../src/customers/store/core/store.ts"

/** The keys of each account: the last one is for pages, and allows one origin. */
const KINDS: readonly KeyKind[] = ["secret", "secret", "publishable"]

/** How many keys each account of `addAccounts` has. */
export const KEYS_PER_ACCOUNT = KINDS.length

/**
 * Adds so many accounts of tier 0 with `KEYS_PER_ACCOUNT` active keys each, in one transaction, and gives the texts of
 * `textsMax` keys, spread evenly over all that were added.
 */
export async function addAccounts(
  store: Store,
  random: Random,
  count: number,
  textsMax: number,
): Promise<readonly string[]> {
  const texts: string[] = []
  const step = Math.max(1, (count * KEYS_PER_ACCOUNT) / textsMax)
  await store.transaction(async inner => {
    for (let at = 0; at < count; at++) {
      const accountId = newId("acc", random)
      await inner.run("INSERT INTO accounts (id, email, tier, created_at_ms) VALUES ($1, $2, 0, $3)", [
        accountId,
        `owner${at}@customer${at}.example`,
        at,
      ])
      for (const [place, kind] of KINDS.entries()) {
        const text = await addKey(inner, random, { accountId, kind, at })
        if (at * KEYS_PER_ACCOUNT + place >= texts.length * step) texts.push(text)
      }
    }
  })
  return texts
}

type Added = { readonly accountId: string; readonly kind: KeyKind; readonly at: number }

async function addKey(store: Store, random: Random, { accountId, kind, at }: Added): Promise<string> {
  const text = generateKey(kind, random)
  const id = newId("key", random)
  const origin = kind === "publishable" ? `https://www.customer${at}.example` : ""
  await store.run(
    `INSERT INTO keys (id, account_id, kind, hash, last4, name, origins, created_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [id, accountId, kind, hashKey(text), text.slice(-4), "default", origin, at],
  )
  if (origin !== "") await store.run("INSERT INTO key_origins (origin, key_id) VALUES ($1, $2)", [origin, id])
  return text
}
