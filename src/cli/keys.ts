import { LIMITS } from "../contract/limits.ts"
import type { KeyKind } from "../customers/keys/key-format.ts"
import { createKey, type KeyCreationRefusal, listKeys, revokeKey } from "../customers/keys/keys.ts"
import { accountByEmail, type CustomerCommandDeps } from "./accounts.ts"
import { CommandError, escapeControls, type Output, printJson, printTable } from "./output.ts"

/** How many keys `key list` shows: the active ones and the latest revoked. */
const LISTED_KEYS_MAX = 1000

/** What a new key shall be. */
type NewKeyOptions = { readonly name: string | null; readonly kind: KeyKind; readonly origins: readonly string[] }

/** `key create --account EMAIL [--name N] [--publishable --origin O]`: prints the key, this once. */
export async function keyCreate(
  output: Output,
  customers: CustomerCommandDeps,
  email: string,
  wanted: NewKeyOptions,
  asJson: boolean,
): Promise<void> {
  const account = await accountByEmail(customers, email)
  const made = await createKey(customers.changes, customers.random, { accountId: account.id, ...wanted })
  if (made.kind !== "created") throw new CommandError(KEY_REFUSALS[made.kind], USAGE_ERRORS.includes(made.kind) ? 2 : 1)
  const { key, text } = made
  if (asJson)
    return printJson(output, {
      id: key.id,
      key: text,
      kind: key.kind,
      name: key.name,
      last4: key.last4,
      origins: key.origins,
    })
  output.line(text)
  output.stderrLine(`This is the only time that the key is shown; ${key.id} is its id.`)
}

/** What the command line itself got wrong; the rest is the state of things. */
const USAGE_ERRORS: readonly KeyCreationRefusal["kind"][] = [
  "bad_name",
  "bad_origin",
  "origins_missing",
  "too_many_origins",
  "origins_on_secret",
]

const KEY_REFUSALS: { readonly [K in KeyCreationRefusal["kind"]]: string } = {
  unknown_account: "The account was deleted a moment ago.",
  too_many_keys: `The account has ${LIMITS.keysPerAccountMax} active keys, the most it may have; revoke one first.`,
  bad_name: `A key's name has at most ${LIMITS.keyNameLengthMax} characters and no control characters.`,
  bad_origin: "An origin is scheme, host and port, such as https://example.com.",
  origins_missing: "A publishable key needs the origins of the pages that it is for: --origin https://example.com.",
  too_many_origins: "That is more origins than a key may have.",
  origins_on_secret: "A secret key has no origins; they go with --publishable.",
}

/** `key list --account EMAIL`: active keys first; the keys themselves are not stored. */
export async function keyList(
  output: Output,
  customers: CustomerCommandDeps,
  email: string,
  asJson: boolean,
): Promise<void> {
  const account = await accountByEmail(customers, email)
  const keys = await listKeys(customers.changes.store, account.id, LISTED_KEYS_MAX)
  if (asJson)
    return printJson(
      output,
      keys.map(({ id, kind, name, last4, origins, createdAtMs, lastUsedAtMs, revokedAtMs }) => ({
        id,
        kind,
        name,
        last4,
        origins,
        created_at: isoInstant(createdAtMs),
        last_used_at: isoInstant(lastUsedAtMs),
        revoked_at: isoInstant(revokedAtMs),
      })),
    )
  if (keys.length === 0) return output.line("The account has no keys.")
  printTable(
    output,
    keys.map(key => [
      key.id,
      key.kind,
      `…${key.last4}`,
      key.revokedAtMs === null ? "active" : "revoked",
      `last used ${isoInstant(key.lastUsedAtMs) ?? "never"}`,
      escapeControls(key.name),
      key.origins.join(" "),
    ]),
  )
}

/** `key revoke ID`: durable when it is acknowledged; revoking twice is revoking once. */
export async function keyRevoke(
  output: Output,
  { changes }: CustomerCommandDeps,
  id: string,
  asJson: boolean,
): Promise<void> {
  const revoked = await revokeKey(changes, id, "admin")
  if (revoked.kind === "unknown_key")
    throw new CommandError("There is no key with that id; `key list --account EMAIL` shows ids.")
  if (asJson) return printJson(output, { id, revoked_at: isoInstant(revoked.key.revokedAtMs) })
  output.line(
    revoked.isNew ? "The key is revoked." : `The key has been revoked since ${isoInstant(revoked.key.revokedAtMs)}.`,
  )
}

const isoInstant = (atMs: number | null): string | null => (atMs === null ? null : new Date(atMs).toISOString())
