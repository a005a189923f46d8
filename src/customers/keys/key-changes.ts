import { assert } from "../../base/errors.ts"
import { fingerprint } from "../../base/fingerprint.ts"
import { LIMITS } from "../../contract/limits.ts"
import { lockAccountRow } from "../accounts/accounts.ts"
import { recordAct } from "../audit/audit.ts"
import { type AttributedLog, recordChanges, todayOf } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"
import {
  type KeyLimitCeiling,
  type KeyRestrictions,
  NO_CEILING,
  parseRestrictions,
  type RestrictionRefusal,
} from "./key-restrictions.ts"
import { isUsableKey } from "./key-state.ts"
import {
  type ApiKey,
  countActiveKeysOf,
  findKey,
  lateReminder,
  normalizeKeyName,
  type OriginsRefusal,
  parseOrigins,
} from "./keys.ts"
import { serializeNetworks } from "./networks.ts"
import { serializeOrigins } from "./origins.ts"

/** What an owner changes of a key. What is absent stays as it is. */
export type KeySettings = {
  /** Blank: the default of the kind. */
  readonly name?: string
  readonly origins?: readonly string[]
  /** Of these, too, what is absent stays as it is. */
  readonly restrictions?: Partial<KeyRestrictions>
}

type SettingRefusal = { readonly kind: "bad_name" } | OriginsRefusal | RestrictionRefusal

/** The changed key, or why it stays as it is. `changed_meanwhile`: it is no longer as the caller saw it. */
export type KeyChange =
  | { readonly kind: "changed"; readonly key: ApiKey }
  | { readonly kind: "unknown_key" | "too_many_keys" }
  | StaleChange
  | SettingRefusal

type StaleChange = { readonly kind: "revoked" } | { readonly kind: "changed_meanwhile"; readonly key: ApiKey }

/** A text that differs when the settings of a key differ: what a form or a command shows to tell whether they have changed since. */
export const keyVersion = (key: ApiKey): string =>
  fingerprint(JSON.stringify([key.name, key.origins, restrictionsVersion(key)]))

const restrictionsVersion = ({ expiresAtMs, unitsPerDay, requestsPerSecond, networks }: KeyRestrictions): string =>
  JSON.stringify([expiresAtMs, unitsPerDay, requestsPerSecond, networks])

/**
 * Changes settings of a key, all of them or none. This process applies them at once, every other one when it reads the change log; pages of
 * a new origin are let in within seconds. A revoked key gets another name and nothing else. An expired key that works again counts among
 * the active keys of its account. `seen` is the `keyVersion` that the change is based on; null: whatever the settings are now.
 */
export async function changeKey(
  log: AttributedLog,
  id: string,
  wanted: KeySettings,
  ceiling: KeyLimitCeiling = NO_CEILING,
  seen: string | null = null,
): Promise<KeyChange> {
  return await recordChanges(log, async (store, record): Promise<KeyChange> => {
    const key = await lockKey(store, id)
    if (key === null) return { kind: "unknown_key" }
    const nowMs = log.clock()
    const parsed = refusalOf(key, wanted, seen) ?? parseSettings(key, wanted, ceiling, nowMs)
    if (parsed.kind !== "parsed") return parsed
    if (await isOneTooMany(store, key, parsed.key, nowMs)) return { kind: "too_many_keys" }
    const acts = await writeSettings(log, store, key, parsed.key)
    for (const kind of acts) {
      const details = kind === "key_limited" ? `${id} ${describeLimits(key, parsed.key)}` : id
      await recordAct(log, store, { kind, accountId: key.accountId, details })
    }
    if (acts.length > 0) await record("key_changed", id)
    return { kind: "changed", key: parsed.key }
  })
}

/** Why a key takes no change, or not this one; null: it may. */
function refusalOf(key: ApiKey, { origins, restrictions }: KeySettings, seen: string | null): StaleChange | null {
  if (key.revokedAtMs !== null && (origins !== undefined || restrictions !== undefined)) return { kind: "revoked" }
  return seen === null || seen === keyVersion(key) ? null : { kind: "changed_meanwhile", key }
}

/** Whether the account has no place for a key that works again. */
const isOneTooMany = async (store: Store, before: ApiKey, key: ApiKey, nowMs: number): Promise<boolean> =>
  !isUsableKey(before, nowMs) &&
  isUsableKey(key, nowMs) &&
  (await countActiveKeysOf(store, key.accountId, nowMs)) >= LIMITS.keysPerAccountMax

function parseSettings(
  key: ApiKey,
  { name: typed = key.name, origins = key.origins, restrictions = {} }: KeySettings,
  ceiling: KeyLimitCeiling,
  nowMs: number,
): { readonly kind: "parsed"; readonly key: ApiKey } | SettingRefusal {
  const name = normalizeKeyName(typed, key.kind)
  if (name === null) return { kind: "bad_name" }
  const moved = parseOrigins(key.kind, origins)
  if (moved.kind !== "parsed") return moved
  const restricted = parseRestrictions({ ...key, ...restrictions }, { kind: key.kind, ceiling, current: key }, nowMs)
  if (restricted.kind !== "parsed") return restricted
  return { kind: "parsed", key: { ...key, ...restricted.restrictions, name, origins: moved.origins } }
}

/** Writes what differs. Gives the acts that this is. */
async function writeSettings(
  log: AttributedLog,
  store: Store,
  before: ApiKey,
  key: ApiKey,
): Promise<readonly KeyAct[]> {
  const acts: KeyAct[] = []
  if (key.name !== before.name) {
    await store.run("UPDATE keys SET name = $2 WHERE id = $1", [key.id, key.name])
    acts.push("key_renamed")
  }
  if (serializeOrigins(key.origins) !== serializeOrigins(before.origins)) {
    await writeOrigins(store, key)
    acts.push("key_moved")
  }
  if (restrictionsVersion(key) !== restrictionsVersion(before)) {
    await writeRestrictions(store, key, key.expiresAtMs !== before.expiresAtMs, log.clock())
    if (before.unitsPerDay === null && key.unitsPerDay !== null) await countUsedToday(store, key, todayOf(log))
    acts.push("key_limited")
  }
  return acts
}

type KeyAct = "key_renamed" | "key_moved" | "key_limited"

/** What has changed of a key's limits, for the audit, such as `units_per_day none → 500`. Of networks it has how many there are: some are people's. */
function describeLimits(before: KeyRestrictions, after: KeyRestrictions): string {
  const limitsOf = ({ expiresAtMs, unitsPerDay, requestsPerSecond, networks }: KeyRestrictions) => ({
    expires_at: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
    units_per_day: unitsPerDay,
    requests_per_second: requestsPerSecond,
    networks: networks.length === 0 ? null : networks.length,
  })
  const was: Readonly<Record<string, string | number | null>> = limitsOf(before)
  const changed = Object.entries(limitsOf(after)).filter(([name, limit]) => limit !== was[name])
  if (changed.length === 0) return "networks"
  return changed.map(([name, limit]) => `${name} ${was[name] ?? "none"} → ${limit ?? "none"}`).join(", ")
}

async function writeOrigins(store: Store, { id, origins }: ApiKey): Promise<void> {
  await store.run("UPDATE keys SET origins = $2 WHERE id = $1", [id, serializeOrigins(origins)])
  await store.run("DELETE FROM key_origins WHERE key_id = $1", [id])
  for (const origin of origins)
    await store.run("INSERT INTO key_origins (origin, key_id) VALUES ($1, $2)", [origin, id])
}

async function writeRestrictions(store: Store, key: ApiKey, hasNewExpiry: boolean, nowMs: number): Promise<void> {
  const { id, expiresAtMs, unitsPerDay, requestsPerSecond, networks } = key
  await store.run(
    "UPDATE keys SET expires_at_ms = $2, units_per_day = $3, requests_per_second = $4, networks = $5 WHERE id = $1",
    [id, expiresAtMs, unitsPerDay, requestsPerSecond, serializeNetworks(networks)],
  )
  if (hasNewExpiry)
    await store.run("UPDATE keys SET reminded_for_ms = $2 WHERE id = $1", [id, lateReminder(expiresAtMs, nowMs)])
}

/** A new limit holds for the whole day: what the key used of it before counts, as far as it is written, which takes a second. */
async function countUsedToday(store: Store, { id, accountId }: ApiKey, day: number): Promise<void> {
  const row = await store.one<{ used: number }>(
    `SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) AS used FROM usage
     WHERE account_id = $1 AND day = $2 AND key_id = $3 AND measure IN ('used', 'publishable_used')`,
    [accountId, day, id],
  )
  if (row === null || row.used === 0) return
  await store.run(
    `INSERT INTO units (subject, day, leased) VALUES ($1, $2, $3) ON CONFLICT (subject, day)
     DO UPDATE SET leased = excluded.leased WHERE units.leased < excluded.leased`,
    [id, day, row.used],
  )
}

/** The key as no other transaction can change it until the end of this one; null: there is none. */
async function lockKey(store: Store, id: string): Promise<ApiKey | null> {
  const owner = await store.one<{ account_id: string }>("SELECT account_id FROM keys WHERE id = $1", [id])
  // The account first, as where a key is created, so that two transactions that lock both never deadlock.
  if (owner === null || !(await lockAccountRow(store, owner.account_id))) return null
  if ((await store.run("UPDATE keys SET name = name WHERE id = $1", [id])) === 0) return null
  const key = await findKey(store, id)
  assert(key !== null, "a locked key is there")
  return key
}
