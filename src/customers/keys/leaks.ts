import type { ChangeLog } from "../store/changes.ts"
import { keyHash, parseKey } from "./key-form.ts"
import { revokeKey } from "./keys.ts"

/** What became of a text that was found in public; `isNew` is false when the key had been revoked before. */
export type Leak = { readonly kind: "revoked"; readonly isNew: boolean } | { readonly kind: "no_secret_key" }

/**
 * Revokes the secret key that the text is. When it resolves with `revoked`, that is on the disk, and no request of this
 * process is let in by the key. A publishable key is public by its nature: it is no secret key, and stays as it is.
 *
 * The key is looked up in the store and not in the key ring, where it would count as used.
 */
export async function revokeLeaked(log: ChangeLog, text: string): Promise<Leak> {
  const parsed = parseKey(text)
  if (parsed.kind !== "well_formed" || parsed.keyKind !== "secret") return NO_SECRET_KEY
  const row = await log.store.one<{ readonly id: string }>("SELECT id FROM keys WHERE hash = $1", [keyHash(text)])
  if (row === null) return NO_SECRET_KEY
  const revocation = await revokeKey(log, row.id, "leak")
  // The key may have gone with its account meanwhile.
  return revocation.kind === "revoked" ? { kind: "revoked", isNew: revocation.isNew } : NO_SECRET_KEY
}

const NO_SECRET_KEY = { kind: "no_secret_key" } as const
