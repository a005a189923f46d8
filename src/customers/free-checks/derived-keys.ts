import { createHmac } from "node:crypto"
import { assert } from "../../base/errors.ts"
import type { Random } from "../../base/outside-world.ts"
import { lazyPromise } from "../../base/single-flight.ts"
import { newSecret } from "../sign-in/secrets.ts"
import type { Store } from "../store/core/store.ts"

/** The uses of an installation's secret. Each has a key of its own. */
const KEY_PURPOSES = ["challenge", "solution", "client", "network"] as const

/** The keys of the free checker, one per use. */
export type FreeCheckKeys = { readonly [U in (typeof KEY_PURPOSES)[number]]: string }

/** The keyed hash of a text (HMAC-SHA-256, hex): without the key the text cannot be guessed. */
export const keyedHash = (key: string, text: string): string => createHmac("sha256", key).update(text).digest("hex")

/** Returns the keys of the installation: the same in every process on one store and after a restart. Rejects when the store fails. */
export type LoadFreeCheckKeys = () => Promise<FreeCheckKeys>

/** Creates the function. The secret is created on first use, and read once. */
export function createFreeCheckKeys(store: Store, random: Random): LoadFreeCheckKeys {
  return lazyPromise(() => deriveKeys(store, random))
}

async function deriveKeys(store: Store, random: Random): Promise<FreeCheckKeys> {
  // If processes start together, one creates the secret and all read that one.
  const secret = (await readSecret(store)) ?? (await createSecret(store, random))
  const [challenge, solution, client, network] = KEY_PURPOSES.map(use => keyedHash(secret, use))
  assert(challenge && solution && client && network, "every use has its key")
  return { challenge, solution, client, network }
}

async function readSecret(store: Store): Promise<string | null> {
  const row = await store.one<{ secret: string }>("SELECT secret FROM free_check_secret WHERE singleton = 1")
  return row?.secret ?? null
}

async function createSecret(store: Store, random: Random): Promise<string> {
  await store.run(
    "INSERT INTO free_check_secret (singleton, secret) VALUES (1, $1) ON CONFLICT (singleton) DO NOTHING",
    [newSecret(random)],
  )
  const secret = await readSecret(store)
  assert(secret !== null, "the secret of the free checker is stored")
  return secret
}
