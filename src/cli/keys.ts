import { type Command, InvalidArgumentError } from "commander"
import { dayEndMs, isoInstant, parseInstant, utcDay } from "../base/time.ts"
import { escapeControls } from "../base/untrusted-text.ts"
import { LIMITS } from "../contract/limits.ts"
import type { KeyKind } from "../customers/keys/key-format.ts"
import { type KeyRestrictions, NO_CEILING } from "../customers/keys/key-restrictions.ts"
import { KEY_STATES, keyState } from "../customers/keys/key-state.ts"
import { type ApiKey, createKey, type KeyCreationRefusal, listKeys, revokeKey } from "../customers/keys/keys.ts"
import { accountByEmail, type CustomerCommandDeps, type WithCustomers } from "./accounts.ts"
import { CommandError, collect, JSON_FLAG, type Output, printJson, printTable } from "./output.ts"

/** How many keys `key list` shows at most: active keys, then the latest revoked ones. */
const LISTED_KEYS_MAX = 1000

/** Registers the group `key`. */
export function registerKeyCommands(
  root: Command,
  output: Output,
  withCustomers: WithCustomers,
  newKey: () => string,
): void {
  const group = root.command("key").description("Keys of an account.")
  group
    .command("create")
    .requiredOption("--account <email>", "whose key")
    .option("--name <name>", "a name for the key")
    .option("--publishable", "for pages: checks only, with reduced results", false)
    .option("--origin <origin>", "an origin of a publishable key, can be repeated", collect, [])
    .option(
      "--expires <when>",
      "the last day (UTC) such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z",
      parseExpiry,
    )
    .option("--units-per-day <n>", "fewer than the account's", parseCount)
    .option("--requests-per-second <n>", "fewer than the account's", parseCount)
    .option("--network <cidr>", "a network of a secret key, can be repeated", collect, [])
    .option(...JSON_FLAG, false)
    .action(({ account, name = null, publishable, origin: origins, json: asJson, ...limits }) =>
      withCustomers(deps => {
        const kind = publishable ? "publishable" : "secret"
        const { expires = null, unitsPerDay = null, requestsPerSecond = null, network: networks } = limits
        const restrictions = { expiresAtMs: expires, unitsPerDay, requestsPerSecond, networks }
        return keyCreate(output, deps, account, { name, kind, origins, restrictions }, asJson)
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
  group
    .command("generate")
    .description("Print a new secret key for MAILKIND_FIRST_KEY, without storing it.")
    .option(...JSON_FLAG, false)
    .action(({ json: asJson }) => {
      if (asJson) printJson(output, { key: newKey() })
      else output.line(newKey())
    })
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,11}$/.test(text)) throw new InvalidArgumentError("Use a whole number of at least 1.")
  return Number(text)
}

/** A day stands for its end. */
function parseExpiry(text: string): number {
  const atMs = parseInstant(text)
  if (atMs === null)
    throw new InvalidArgumentError("Use a day such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z.")
  return text.includes("T") ? atMs : dayEndMs(utcDay(atMs))
}

type NewKeyOptions = {
  readonly name: string | null
  readonly kind: KeyKind
  readonly origins: readonly string[]
  readonly restrictions: KeyRestrictions
}

/** `key create --account EMAIL [--name N] [--publishable --origin O]` and limits: prints the key. A secret key is never shown again. */
async function keyCreate(
  output: Output,
  customers: CustomerCommandDeps,
  email: string,
  wanted: NewKeyOptions,
  asJson: boolean,
): Promise<void> {
  const account = await accountByEmail(customers, email)
  const ceiling = customers.tiers?.[account.tier] ?? NO_CEILING
  const made = await createKey(customers.changes, customers.random, { accountId: account.id, ...wanted, ceiling })
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
      ...restrictionMembers(key),
    })
  output.line(text)
  output.stderrLine(
    key.kind === "secret" ? `Copy the key now. You cannot see it again. Its id is ${key.id}.` : `Its id is ${key.id}.`,
  )
}

/** The JSON members of a key with an expiry, limits or networks of its own. */
const restrictionMembers = ({ expiresAtMs, unitsPerDay, requestsPerSecond, networks }: ApiKey) => ({
  ...(expiresAtMs === null ? {} : { expires_at: isoInstant(expiresAtMs) }),
  ...(unitsPerDay === null ? {} : { units_per_day: unitsPerDay }),
  ...(requestsPerSecond === null ? {} : { requests_per_second: requestsPerSecond }),
  ...(networks.length === 0 ? {} : { networks }),
})

/** Refusals that mean a wrong use of the command (exit code 2). */
const USAGE_ERRORS: readonly KeyCreationRefusal["kind"][] = [
  "bad_name",
  "bad_origin",
  "origins_missing",
  "too_many_origins",
  "origins_on_secret",
  "bad_expiry",
  "bad_units",
  "bad_rate",
  "bad_network",
  "too_many_networks",
  "networks_on_publishable",
]

const KEY_REFUSALS: { readonly [K in KeyCreationRefusal["kind"]]: string } = {
  unknown_account: "The account was deleted a moment ago.",
  too_many_keys: `The account has ${LIMITS.keysPerAccountMax} active keys, which is the maximum. Revoke one first.`,
  too_many_keys_today: `The account has created ${LIMITS.keysCreatedPerDayMax} keys today, which is the maximum. Create the next one after 00:00 UTC.`,
  bad_name: `A key's name has at most ${LIMITS.keyNameLengthMax} characters and no control characters.`,
  bad_origin: "An origin is scheme, host and port, such as https://example.com.",
  origins_missing: "A publishable key needs the origins of your pages, such as --origin https://example.com.",
  too_many_origins: "These are too many origins for one key.",
  origins_on_secret: "A secret key has no origins. Use them with --publishable.",
  bad_expiry: `A key expires in the future, within ${LIMITS.keyExpiryDaysMax} days.`,
  bad_units: "A key's units per day must be fewer than its account's.",
  bad_rate: "A key's requests per second must be fewer than its account's.",
  bad_network: "A network is written as 203.0.113.0/24 or 2001:db8::/32, or as one address.",
  too_many_networks: `A key has at most ${LIMITS.networksPerKeyMax} networks.`,
  networks_on_publishable: "A publishable key has origins, not networks.",
}

/** `key list --account EMAIL`: keys that are not revoked first; secret keys themselves are not stored. */
async function keyList(output: Output, customers: CustomerCommandDeps, email: string, asJson: boolean): Promise<void> {
  const account = await accountByEmail(customers, email)
  const keys = await listKeys(customers.changes.store, account.id, LISTED_KEYS_MAX)
  const nowMs = customers.changes.clock()
  if (asJson)
    return printJson(
      output,
      keys.map(key => ({
        id: key.id,
        kind: key.kind,
        name: key.name,
        last4: key.last4,
        origins: key.origins,
        created_at: isoInstant(key.createdAtMs),
        last_used_at: isoInstant(key.lastUsedAtMs),
        revoked_at: isoInstant(key.revokedAtMs),
        ...restrictionMembers(key),
        ...(key.publicText === null ? {} : { key: key.publicText }),
      })),
    )
  if (keys.length === 0) return output.line("The account has no keys.")
  printTable(
    output,
    keys.map(key => [
      key.id,
      key.kind,
      `…${key.last4}`,
      KEY_STATES[keyState(key, nowMs)].label,
      `last used ${isoInstant(key.lastUsedAtMs) ?? "never"}`,
      escapeControls(key.name),
      key.origins.join(" "),
      key.expiresAtMs === null ? "" : `expires ${isoInstant(key.expiresAtMs)}`,
    ]),
  )
}

/** `key revoke ID`: durable when the command ends. Idempotent. */
async function keyRevoke(output: Output, { changes }: CustomerCommandDeps, id: string, asJson: boolean): Promise<void> {
  const revoked = await revokeKey(changes, id, "admin")
  if (revoked.kind === "unknown_key")
    throw new CommandError("There is no key with this id. `key list --account EMAIL` shows the ids.")
  if (asJson) return printJson(output, { id, revoked_at: isoInstant(revoked.key.revokedAtMs) })
  output.line(
    revoked.isNew ? "The key is revoked." : `The key has been revoked since ${isoInstant(revoked.key.revokedAtMs)}.`,
  )
}
