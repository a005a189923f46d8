import { type Command, InvalidArgumentError, Option } from "commander"
import { dayEndMs, isoInstant, parseInstant, utcDay } from "../base/time.ts"
import { escapeControls } from "../base/untrusted-text.ts"
import { LIMITS } from "../contract/limits.ts"
import { findAccount } from "../customers/accounts/accounts.ts"
import { changeKey, type KeyChange, type KeySettings, keyVersion } from "../customers/keys/key-changes.ts"
import { KEY_KINDS, type KeyKind } from "../customers/keys/key-format.ts"
import { type KeyRestrictions, NO_CEILING } from "../customers/keys/key-restrictions.ts"
import { KEY_STATES, type KeyState, keyState } from "../customers/keys/key-state.ts"
import {
  type ApiKey,
  createKey,
  findKey,
  type KeyCreationRefusal,
  listKeys,
  revokeKey,
} from "../customers/keys/keys.ts"
import { type CustomerCommandDeps, namedAccount, type WithCustomers } from "./account/accounts.ts"
import { addTimeOptions, containsText, isWithin, parseCount, type TimeFlags } from "./list-options.ts"
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
    .description("Create a key and show it. A secret key is shown this once.")
    .requiredOption("--account <account>", "whose key: the email or the id")
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
  registerKeyReading(group, output, withCustomers)
  registerKeyUpdate(group, output, withCustomers)
  group
    .command("revoke")
    .description("Revoke a key permanently. Its owner gets an email.")
    .argument(...KEY_ARGUMENT)
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

/** Registers `key list` and `key show`. */
function registerKeyReading(group: Command, output: Output, withCustomers: WithCustomers): void {
  addTimeOptions(group.command("list").description("List the keys of an account, the newest first, revoked ones last."))
    .requiredOption("--account <account>", "whose keys: the email or the id")
    .addOption(new Option("--state <state>", "only keys in this state").choices(Object.keys(KEY_STATES)))
    .addOption(new Option("--kind <kind>", "only keys of this kind").choices(Object.keys(KEY_KINDS)))
    .option("--search <text>", "only keys with this text in their name, or that end so")
    .option(...JSON_FLAG, false)
    .action((flags: ListFlags) => withCustomers(deps => keyList(output, deps, flags)))
  group
    .command("show")
    .description("Show a key.")
    .argument(...KEY_ARGUMENT)
    .option(...JSON_FLAG, false)
    .action((id, { json: asJson }) => withCustomers(deps => keyShow(output, deps, id, asJson)))
}

/** Registers `key update`. What no option names stays as it is. */
function registerKeyUpdate(group: Command, output: Output, withCustomers: WithCustomers): void {
  group
    .command("update")
    .description("Change the name, the limits, the networks or the origins of a key. What is not named stays.")
    .argument(...KEY_ARGUMENT)
    .option("--name <name>", "a name for the key")
    .option(
      "--expires <when>",
      "the last day, or a time, as of `key create`; `never` takes it away",
      orNone("never", parseExpiry),
    )
    .option("--units-per-day <n>", "fewer than the account's; `none` takes the limit away", orNone("none", parseCount))
    .option(
      "--requests-per-second <n>",
      "fewer than the account's; `none` takes the limit away",
      orNone("none", parseCount),
    )
    .option(
      "--network <cidr>",
      "all networks that it has from now on, can be repeated; `none` alone takes them away",
      collect,
    )
    .option("--origin <origin>", "all origins that a publishable key has from now on, can be repeated", collect)
    .option("--seen <version>", "change only the key with this version, as `key show --json` has it")
    .option(...JSON_FLAG, false)
    .action((id, flags: UpdateFlags) => withCustomers(deps => keyUpdate(output, deps, id, flags)))
}

const KEY_ARGUMENT = ["<id>", "the key's id, such as key_…"] as const

/** A value, or that there is none from now on. Commander takes null for a missing text. */
type ValueOrNone = number | "none"

const orNone =
  (none: string, parse: (text: string) => number) =>
  (text: string): ValueOrNone =>
    text === none ? "none" : parse(text)

const valueOrNull = (value: ValueOrNone): number | null => (value === "none" ? null : value)

type UpdateFlags = {
  readonly name?: string
  readonly expires?: ValueOrNone
  readonly unitsPerDay?: ValueOrNone
  readonly requestsPerSecond?: ValueOrNone
  readonly network?: readonly string[]
  readonly origin?: readonly string[]
  readonly seen?: string
  readonly json: boolean
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
  const account = await namedAccount(customers, email)
  const ceiling = customers.tiers?.[account.tier] ?? NO_CEILING
  const made = await createKey(customers.changes, customers.random, { accountId: account.id, ...wanted, ceiling })
  if (made.kind !== "created") throw keyRefusal(made.kind)
  const { key, text } = made
  if (asJson) return printJson(output, { ...keyJson(key, customers.changes.clock()), key: text })
  output.line(text)
  output.stderrLine(
    key.kind === "secret" ? `Copy the key now. You cannot see it again. Its id is ${key.id}.` : `Its id is ${key.id}.`,
  )
}

/** A key as JSON. `key`: its text, which is stored of a publishable key only. */
const keyJson = (key: ApiKey, nowMs: number) => ({
  id: key.id,
  account_id: key.accountId,
  kind: key.kind,
  name: key.name,
  last4: key.last4,
  state: keyState(key, nowMs),
  key: key.publicText,
  origins: key.origins,
  networks: key.networks,
  units_per_day: key.unitsPerDay,
  requests_per_second: key.requestsPerSecond,
  created_at: isoInstant(key.createdAtMs),
  last_used_at: isoInstant(key.lastUsedAtMs),
  expires_at: isoInstant(key.expiresAtMs),
  revoked_at: isoInstant(key.revokedAtMs),
  revoked_by: key.revokedBy,
  version: keyVersion(key),
})

/** Why a key is not created, or not changed. */
type KeyRefusal = KeyCreationRefusal | Exclude<KeyChange, { readonly kind: "changed" }>

/** Refusals that mean a wrong use of the command (exit code 2). */
const USAGE_ERRORS: readonly KeyRefusal["kind"][] = [
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

const UNKNOWN_KEY = "There is no key with this id. `key list --account ACCOUNT` shows the ids."

const KEY_REFUSALS: { readonly [K in KeyRefusal["kind"]]: string } = {
  unknown_account: "The account was deleted a moment ago.",
  unknown_key: UNKNOWN_KEY,
  revoked: "The key is revoked. Only its name can change.",
  changed_meanwhile:
    "The key is not as you saw it. Nothing was changed. Read it with `key show`, and name its version.",
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

type ListFlags = TimeFlags & {
  readonly account: string
  readonly state?: KeyState
  readonly kind?: KeyKind
  readonly search?: string
  readonly json: boolean
}

/** `key list --account ACCOUNT`: keys that are not revoked first; secret keys themselves are not stored. */
async function keyList(
  output: Output,
  customers: CustomerCommandDeps,
  { account: name, state, kind, search, json: asJson, ...times }: ListFlags,
): Promise<void> {
  const account = await namedAccount(customers, name)
  const nowMs = customers.changes.clock()
  const isInTime = isWithin(times, nowMs)
  const keys = (await listKeys(customers.changes.store, account.id, LISTED_KEYS_MAX)).filter(
    key =>
      (state === undefined || keyState(key, nowMs) === state) &&
      (kind === undefined || key.kind === kind) &&
      (containsText(key.name, search) || key.last4 === search) &&
      isInTime(key.createdAtMs),
  )
  if (asJson)
    return printJson(
      output,
      keys.map(key => keyJson(key, nowMs)),
    )
  if (keys.length === 0) return output.line("There are no keys.")
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

/** `key show ID`. */
async function keyShow(output: Output, { changes }: CustomerCommandDeps, id: string, asJson: boolean): Promise<void> {
  const key = await findKey(changes.store, id)
  if (key === null) throw new CommandError(UNKNOWN_KEY)
  printKey(output, key, changes.clock(), asJson)
}

function printKey(output: Output, key: ApiKey, nowMs: number, asJson: boolean): void {
  if (asJson) {
    printJson(output, keyJson(key, nowMs))
    return
  }
  const { unitsPerDay: units, requestsPerSecond: rate, expiresAtMs, networks, origins } = key
  printTable(output, [
    ["id", key.id],
    ["account", key.accountId],
    ["name", escapeControls(key.name)],
    ["kind", `${key.kind} …${key.last4}`],
    ["state", KEY_STATES[keyState(key, nowMs)].label],
    ["last used", isoInstant(key.lastUsedAtMs) ?? "never"],
    ...(expiresAtMs === null ? [] : [["expires", isoInstant(expiresAtMs)]]),
    ...(units === null ? [] : [["units per day", String(units)]]),
    ...(rate === null ? [] : [["requests per second", String(rate)]]),
    ...(networks.length === 0 ? [] : [["networks", networks.join(" ")]]),
    ...(origins.length === 0 ? [] : [["origins", origins.join(" ")]]),
  ])
}

/** `key update ID`: all that is named, or nothing. */
async function keyUpdate(
  output: Output,
  { changes, tiers }: CustomerCommandDeps,
  id: string,
  { seen, json: asJson, ...flags }: UpdateFlags,
): Promise<void> {
  if (Object.keys(flags).length === 0) throw new CommandError("Name what is to change, such as --name.", 2)
  const before = await findKey(changes.store, id)
  const account = before && (await findAccount(changes.store, before.accountId))
  if (before === null || account === null) throw new CommandError(UNKNOWN_KEY)
  const ceiling = tiers?.[account.tier] ?? NO_CEILING
  const change = await changeKey(changes, id, settingsOf(flags), ceiling, seen ?? null)
  if (change.kind !== "changed") throw keyRefusal(change.kind)
  printKey(output, change.key, changes.clock(), asJson)
}

function settingsOf({
  name,
  origin,
  network,
  expires,
  unitsPerDay,
  requestsPerSecond,
}: Omit<UpdateFlags, "json">): KeySettings {
  const restrictions: Partial<KeyRestrictions> = {
    ...(expires === undefined ? {} : { expiresAtMs: valueOrNull(expires) }),
    ...(unitsPerDay === undefined ? {} : { unitsPerDay: valueOrNull(unitsPerDay) }),
    ...(requestsPerSecond === undefined ? {} : { requestsPerSecond: valueOrNull(requestsPerSecond) }),
    ...(network === undefined ? {} : { networks: network.join() === "none" ? [] : network }),
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(origin === undefined ? {} : { origins: origin }),
    // A revoked key takes a name alone.
    ...(Object.keys(restrictions).length === 0 ? {} : { restrictions }),
  }
}

const keyRefusal = (kind: KeyRefusal["kind"]): CommandError =>
  new CommandError(KEY_REFUSALS[kind], kind === "changed_meanwhile" ? 4 : USAGE_ERRORS.includes(kind) ? 2 : 1)

/** `key revoke ID`: durable when the command ends. Idempotent. */
async function keyRevoke(output: Output, { changes }: CustomerCommandDeps, id: string, asJson: boolean): Promise<void> {
  const revoked = await revokeKey(changes, id, "admin")
  if (revoked.kind === "unknown_key") throw new CommandError(UNKNOWN_KEY)
  if (asJson) return printJson(output, keyJson(revoked.key, changes.clock()))
  output.line(
    revoked.isNew ? "The key is revoked." : `The key has been revoked since ${isoInstant(revoked.key.revokedAtMs)}.`,
  )
}
