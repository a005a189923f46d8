import { assert } from "../../base/errors.ts"
import type { Random } from "../../base/outside-world.ts"
import { lazyPromise } from "../../base/single-flight.ts"
import { ensureInstallationSecret, keyedHash } from "../sign-in/installation-secret.ts"
import type { Store } from "../store/core/store.ts"

/** The uses of an installation's secret. Each has a key of its own. */
const KEY_PURPOSES = ["challenge", "solution", "client", "network"] as const

/** The keys of the free checker, one per use. */
export type FreeCheckKeys = { readonly [U in (typeof KEY_PURPOSES)[number]]: string }

/** Returns the keys of the installation: the same in every process on one store and after a restart. Rejects when the store fails. */
export type LoadFreeCheckKeys = () => Promise<FreeCheckKeys>

/** Creates the function. The secret is created on first use, and read once. */
export function createFreeCheckKeys(store: Store, random: Random): LoadFreeCheckKeys {
  return lazyPromise(() => deriveKeys(store, random))
}

async function deriveKeys(store: Store, random: Random): Promise<FreeCheckKeys> {
  // If processes start together, one creates the secret and all read that one.
  const secret = await ensureInstallationSecret(store, random)
  const [challenge, solution, client, network] = KEY_PURPOSES.map(use => keyedHash(secret, use))
  assert(challenge && solution && client && network, "every use has its key")
  return { challenge, solution, client, network }
}
