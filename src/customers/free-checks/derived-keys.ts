import { createHmac } from "node:crypto"
import { assert } from "../../base/errors.ts"
import type { Random } from "../../base/outside-world.ts"
import { newSecret } from "../sign-in/secrets.ts"
import type { Store } from "../store/core/store.ts"

/** What the secret of an installation is used for. No use can be made of the key of another. */
const KEY_PURPOSES = ["challenge", "solution", "client", "network"] as const

/** The keys of the free checker, one for each use. */
export type FreeCheckKeys = { readonly [U in (typeof KEY_PURPOSES)[number]]: string }

/** A text under a key (HMAC-SHA-256, hex): without the key nobody can tell which text it was. */
export const keyedHash = (key: string, text: string): string => createHmac("sha256", key).update(text).digest("hex")

/** Gives the keys of the installation: the same in every process on one store, and after a restart. Rejects when the store fails. */
export type LoadFreeCheckKeys = () => Promise<FreeCheckKeys>

/** Builds it. The secret is made when it is first asked for, and read once. */
export function createFreeCheckKeys(store: Store, random: Random): LoadFreeCheckKeys {
  let held: Promise<FreeCheckKeys> | null = null
  return () => {
    held ??= deriveKeys(store, random).catch((fault: unknown) => {
      held = null
      throw fault
    })
    return held
  }
}

async function deriveKeys(store: Store, random: Random): Promise<FreeCheckKeys> {
  // Of processes that start together one makes it, and all read what that one made.
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
