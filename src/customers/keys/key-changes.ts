import { assert } from "../../base/errors.ts"
import { LIMITS } from "../../contract/limits.ts"
import { lockAccountRow } from "../accounts/accounts.ts"
import { recordAct } from "../audit/audit.ts"
import { type AttributedLog, recordChanges, todayOf } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"
import {
  type KeyLimitCeiling,
  type KeyRestrictions,
  parseRestrictions,
  type RestrictionRefusal,
} from "./key-restrictions.ts"
import { isUsableKey } from "./key-state.ts"
import { type ApiKey, countActiveKeysOf, findKey, lateReminder, type OriginsRefusal, parseOrigins } from "./keys.ts"
import { serializeNetworks } from "./networks.ts"
import { serializeOrigins } from "./origins.ts"

/** Why a key stays as it is. `changed_meanwhile`: it is no longer as the caller saw it. */
export type ChangeRefusal =
  | { readonly kind: "unknown_key" }
  | { readonly kind: "revoked" }
  | { readonly kind: "changed_meanwhile"; readonly key: ApiKey }

/** The changed key, or why it was not changed. */
export type RestrictionChange =
  | { readonly kind: "changed"; readonly key: ApiKey }
  | ChangeRefusal
  | RestrictionRefusal
  | { readonly kind: "too_many_keys" }

/** A text that differs when the restrictions of a key differ: what a form shows to tell whether they have changed since. */
export const restrictionsVersion = ({
  expiresAtMs,
  unitsPerDay,
  requestsPerSecond,
  networks,
}: KeyRestrictions): string => JSON.stringify([expiresAtMs, unitsPerDay, requestsPerSecond, networks])

/**
 * Replaces expiry, limits and networks of a key together. This process applies them at once, every other one when it reads the change
 * log. An expired key that works again counts among the active keys of its account. `seen` is the `restrictionsVersion` that the change
 * is based on; null: whatever they are now.
 */
export async function changeRestrictions(
  log: AttributedLog,
  id: string,
  wanted: KeyRestrictions,
  ceiling: KeyLimitCeiling,
  seen: string | null = null,
): Promise<RestrictionChange> {
  return await recordChanges(log, async (store, record): Promise<RestrictionChange> => {
    const found = await lockChangeable(store, id, key => seen === null || seen === restrictionsVersion(key))
    if (found.kind !== "changeable") return found
    const { key } = found
    const nowMs = log.clock()
    const parsed = parseRestrictions(wanted, { kind: key.kind, ceiling, current: key }, nowMs)
    if (parsed.kind !== "parsed") return parsed
    const changed = { ...key, ...parsed.restrictions }
    const isRevived = !isUsableKey(key, nowMs) && isUsableKey(changed, nowMs)
    if (isRevived && (await countActiveKeysOf(store, key.accountId, nowMs)) >= LIMITS.keysPerAccountMax)
      return { kind: "too_many_keys" }
    await writeRestrictions(store, changed, changed.expiresAtMs !== key.expiresAtMs, nowMs)
    if (key.unitsPerDay === null && changed.unitsPerDay !== null) await countUsedToday(store, changed, todayOf(log))
    await recordAct(log, store, { kind: "key_limited", accountId: key.accountId, details: id })
    await record("key_changed", id)
    return { kind: "changed", key: changed }
  })
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

/** The changed key, or why its origins were not changed. */
export type OriginsChange = { readonly kind: "changed"; readonly key: ApiKey } | ChangeRefusal | OriginsRefusal

/** Replaces the origins of a key. Pages of a new origin are let in within seconds. `seen`: the origins that the change is based on. */
export async function changeOrigins(
  log: AttributedLog,
  id: string,
  origins: readonly string[],
  seen: string | null = null,
): Promise<OriginsChange> {
  return await recordChanges(log, async (store, record): Promise<OriginsChange> => {
    const found = await lockChangeable(store, id, ({ origins }) => seen === null || seen === serializeOrigins(origins))
    if (found.kind !== "changeable") return found
    const { key } = found
    const parsed = parseOrigins(key.kind, origins)
    if (parsed.kind !== "parsed") return parsed
    await store.run("UPDATE keys SET origins = $2 WHERE id = $1", [id, serializeOrigins(parsed.origins)])
    await store.run("DELETE FROM key_origins WHERE key_id = $1", [id])
    for (const origin of parsed.origins)
      await store.run("INSERT INTO key_origins (origin, key_id) VALUES ($1, $2)", [origin, id])
    await recordAct(log, store, { kind: "key_moved", accountId: key.accountId, details: id })
    await record("key_changed", id)
    return { kind: "changed", key: { ...key, origins: parsed.origins } }
  })
}

async function lockChangeable(
  store: Store,
  id: string,
  isAsSeen: (key: ApiKey) => boolean,
): Promise<{ readonly kind: "changeable"; readonly key: ApiKey } | ChangeRefusal> {
  const key = await lockKey(store, id)
  if (key === null) return { kind: "unknown_key" }
  if (key.revokedAtMs !== null) return { kind: "revoked" }
  return isAsSeen(key) ? { kind: "changeable", key } : { kind: "changed_meanwhile", key }
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
