import { createKey } from "../../src/customers/keys/keys.ts"
import type { AttributedLog } from "../../src/customers/store/change-log/change-log.ts"
import { newAccount, random } from "../customers/temp-store.ts"

/** An account beside the house's own, of tier 4, with a secret key: its id and the key's text. */
export async function anotherAccount(
  changes: AttributedLog,
  email = "other@example.com",
): Promise<{ readonly accountId: string; readonly key: string }> {
  const accountId = await newAccount(changes, email, 4)
  const made = await createKey(changes, random, { accountId, kind: "secret", name: null, origins: [] })
  if (made.kind !== "created") throw new Error(made.kind)
  return { accountId, key: made.text }
}
