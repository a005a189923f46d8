import type { Command } from "commander"
import { isoInstant } from "../base/time.ts"
import { LIMITS } from "../contract/limits.ts"
import type { KeyKind } from "../customers/keys/key-format.ts"
import { createKey, type KeyCreationRefusal, listKeys, revokeKey } from "../customers/keys/keys.ts"
import { accountByEmail, type CustomerCommandDeps, type WithCustomers } from "./accounts.ts"
import { CommandError, escapeControls, JSON_FLAG, type Output, printJson, printTable } from "./output.ts"

/** How many keys `key list` shows at most: active keys, then the latest revoked ones. */
const LISTED_KEYS_MAX = 1000

/** Registers the group `key`. */
export function registerKeyCommands(root: Command, output: Output, withCustomers: WithCustomers): void {
  const group = root.command("key").description("Keys of an account.")
  group
    .command("create")
    .requiredOption("--account <email>", "whose key")
    .option("--name <name>", "a name to know the key by")
    .option("--publishable", "for pages: checks only, with reduced results", false)
    .option("--origin <origin>", "where a publishable key may be used from; may be given again", collect, [])
    .option(...JSON_FLAG, false)
    .action(({ account, name = null, publishable, origin: origins, json: asJson }) =>
      withCustomers(deps => {
        const kind = publishable ? "publishable" : "secret"
        return keyCreate(output, deps, account, { name, kind, origins }, asJson)
      }),
    )
  group
    .command("list")
    .requiredOption("--account <email>", "whose keys")
    .option(...JSON_FLAG, false)
    .action(({ account, json: asJson }) => withCustomers(deps => keyList(output, deps, account, asJson)))
  group
    .command("revoke")
    .argument("<id>", "the key's id, such as key_…")
    .option(...JSON_FLAG, false)
    .action((id, { json: asJson }) => withCustomers(deps => keyRevoke(output, deps, id, asJson)))
}

/** Collects the values of a repeatable option. */
const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]

type NewKeyOptions = { readonly name: string | null; readonly kind: KeyKind; readonly origins: readonly string[] }

/** `key create --account EMAIL [--name N] [--publishable --origin O]`: prints the key, which is never shown again. */
async function keyCreate(
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

/** Refusals that mean a wrong use of the command (exit code 2). */
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
  too_many_keys_today: `The account has created ${LIMITS.keysCreatedPerDayMax} keys today, the most a day; create the next one after 00:00 UTC.`,
  bad_name: `A key's name has at most ${LIMITS.keyNameLengthMax} characters and no control characters.`,
  bad_origin: "An origin is scheme, host and port, such as https://example.com.",
  origins_missing: "A publishable key needs the origins of the pages that it is for: --origin https://example.com.",
  too_many_origins: "That is more origins than a key may have.",
  origins_on_secret: "A secret key has no origins; they go with --publishable.",
}

/** `key list --account EMAIL`: active keys first; the keys themselves are not stored. */
async function keyList(output: Output, customers: CustomerCommandDeps, email: string, asJson: boolean): Promise<void> {
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

/** `key revoke ID`: durable when the command ends. Idempotent. */
async function keyRevoke(output: Output, { changes }: CustomerCommandDeps, id: string, asJson: boolean): Promise<void> {
  const revoked = await revokeKey(changes, id, "admin")
  if (revoked.kind === "unknown_key")
    throw new CommandError("There is no key with that id; `key list --account EMAIL` shows ids.")
  if (asJson) return printJson(output, { id, revoked_at: isoInstant(revoked.key.revokedAtMs) })
  output.line(
    revoked.isNew ? "The key is revoked." : `The key has been revoked since ${isoInstant(revoked.key.revokedAtMs)}.`,
  )
}
