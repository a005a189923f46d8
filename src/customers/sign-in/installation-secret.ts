import { createHmac } from "node:crypto"
import { assert } from "../../base/errors.ts"
import type { Random } from "../../base/outside-world.ts"
import type { Store } from "../store/core/store.ts"
import { newSecret } from "./secrets.ts"

/** The keyed hash of a text (HMAC-SHA-256, hex): without the key the text cannot be guessed. */
export const keyedHash = (key: string, text: string): string => createHmac("sha256", key).update(text).digest("hex")

/** The secret of the installation, from which keys are derived; null: it has none yet. */
export async function readInstallationSecret(store: Store): Promise<string | null> {
  const row = await store.one<{ secret: string }>("SELECT secret FROM free_check_secret WHERE singleton = 1")
  return row?.secret ?? null
}

/** The same; it is created if there is none. */
export async function ensureInstallationSecret(store: Store, random: Random): Promise<string> {
  const known = await readInstallationSecret(store)
  if (known !== null) return known
  await store.run(
    "INSERT INTO free_check_secret (singleton, secret) VALUES (1, $1) ON CONFLICT (singleton) DO NOTHING",
    [newSecret(random)],
  )
  const secret = await readInstallationSecret(store)
  assert(secret !== null, "the secret of the installation is stored")
  return secret
}
