import { redactAddresses } from "../../base/address-redaction.ts"
import { assert } from "../../base/errors.ts"
import type { Random } from "../../base/outside-world.ts"
import { hasAtMostCharacters } from "../../base/text.ts"
import { DAY_MS, dayEndMs } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { AccountRange } from "../accounts/account-pruning.ts"
import { lockAccountRow, usableKeySql } from "../accounts/accounts.ts"
import { recordAct } from "../audit/audit.ts"
import { enqueueNotice } from "../notices/outbox.ts"
import { type AttributedLog, type ChangeLog, recordChanges, todayOf } from "../store/change-log/change-log.ts"
import { newId } from "../store/core/id.ts"
import type { Store } from "../store/core/store.ts"
import { generateKey, hashKey, type KeyKind, parseKey, redactKeys } from "./key-format.ts"
import {
  type KeyLimitCeiling,
  type KeyRestrictions,
  NO_CEILING,
  NO_RESTRICTIONS,
  parseRestrictions,
  type RestrictionRefusal,
} from "./key-restrictions.ts"
import { EXPIRY_NOTICE_MS } from "./key-state.ts"
import { deserializeNetworks, serializeNetworks } from "./networks.ts"
import { deserializeOrigins, ORIGINS_PER_KEY_MAX, parseOrigin, serializeOrigins } from "./origins.ts"

/** Who revoked a key: its owner, an admin, or the detection of leaks. */
export type Revoker = "owner" | "admin" | "leak"

/** A key as its owner sees it. */
export type ApiKey = KeyRestrictions & {
  readonly id: string
  readonly accountId: string
  readonly kind: KeyKind
  readonly name: string
  /** The last four characters of the key's text. */
  readonly last4: string
  /** The key itself. Null for a secret key, whose text is not stored, and for a publishable key of an earlier version. */
  readonly publicText: string | null
  /** In the form of `parseOrigin`; empty for a secret key. */
  readonly origins: readonly string[]
  readonly createdAtMs: number
  /** Null: never, as far as was written. */
  readonly lastUsedAtMs: number | null
  /** Null: the key is not revoked. */
  readonly revokedAtMs: number | null
  readonly revokedBy: Revoker | null
}

/** The input of a key's creation. */
export type NewApiKey = {
  readonly accountId: string
  readonly kind: KeyKind
  /** Null: the default name of the kind. */
  readonly name: string | null
  /** The origins that may use a publishable key, at least one; empty for a secret key. */
  readonly origins: readonly string[]
  /** Absent: none. */
  readonly restrictions?: KeyRestrictions
  /** The limits of the account, which those of the key have to be below. Absent: the account has none. */
  readonly ceiling?: KeyLimitCeiling
}

/** Why origins are refused. */
export type OriginsRefusal =
  | { readonly kind: "bad_origin"; readonly sent: string }
  | { readonly kind: "origins_missing" }
  | { readonly kind: "too_many_origins" }
  | { readonly kind: "origins_on_secret" }

/** Why a key was not created. */
export type KeyCreationRefusal =
  | { readonly kind: "unknown_account" }
  | { readonly kind: "too_many_keys" }
  | { readonly kind: "too_many_keys_today" }
  | { readonly kind: "bad_name" }
  | OriginsRefusal
  | RestrictionRefusal

/** A new key with its text, which is stored of a publishable key only; or why there is none. */
export type KeyCreation = { readonly kind: "created"; readonly key: ApiKey; readonly text: string } | KeyCreationRefusal

/**
 * Creates a key and enqueues a notice to its owner. An account has at most `LIMITS.keysPerAccountMax` active keys and creates at most
 * `LIMITS.keysCreatedPerDayMax` a UTC day, also under concurrent calls.
 */
export async function createKey(log: AttributedLog, random: Random, newKey: NewApiKey): Promise<KeyCreation> {
  return await log.store.transaction(async store => {
    const creation = await insertKey(store, random, momentOf(log), newKey)
    await recordKeyCreation(log, store, creation)
    return creation
  })
}

/** Records that a key was created, in the transaction that does it; nothing if it was refused. */
export async function recordKeyCreation(
  log: Pick<AttributedLog, "clock" | "actor">,
  store: Store,
  creation: KeyCreation,
): Promise<void> {
  if (creation.kind !== "created") return
  const { id, accountId } = creation.key
  await recordAct(log, store, { kind: "key_created", accountId, details: id })
}

/** When a key is created, and the day whose bound counts. */
export type KeyMoment = { readonly nowMs: number; readonly day: number }

/** The moment of a creation that a log records. It is within the day, whatever the clock says, so that the bound of the day counts the key. */
export function momentOf(log: Pick<ChangeLog, "clock" | "today">): KeyMoment {
  const day = todayOf(log)
  return { nowMs: Math.min(Math.max(log.clock(), dayEndMs(day - 1)), dayEndMs(day) - 1), day }
}

/** The same as `createKey`, in the transaction of `store`. The id and the text must be unused. */
export async function insertKey(
  store: Store,
  random: Random,
  { nowMs, day }: KeyMoment,
  newKey: NewApiKey,
  id: string = newId("key", random),
  text: string = generateKey(newKey.kind, random),
): Promise<KeyCreation> {
  const name = normalizeKeyName(newKey.name, newKey.kind)
  if (name === null) return { kind: "bad_name" }
  const parsed = parseOrigins(newKey.kind, newKey.origins)
  if (parsed.kind !== "parsed") return parsed
  const { restrictions: wanted = NO_RESTRICTIONS, ceiling = NO_CEILING, kind } = newKey
  const restricted = parseRestrictions(wanted, { kind, ceiling, current: NO_RESTRICTIONS }, nowMs)
  if (restricted.kind !== "parsed") return restricted
  // The lock makes concurrent creations wait, in any engine, so that they count this key.
  if (!(await lockAccountRow(store, newKey.accountId))) return { kind: "unknown_account" }
  if ((await countActiveKeysOf(store, newKey.accountId, nowMs)) >= LIMITS.keysPerAccountMax)
    return { kind: "too_many_keys" }
  if ((await countKeysCreatedOn(store, newKey.accountId, day)) >= LIMITS.keysCreatedPerDayMax)
    return { kind: "too_many_keys_today" }
  const accepted = { accountId: newKey.accountId, kind, name, origins: parsed.origins }
  const row = await insertKeyRow(store, id, text, { ...accepted, ...restricted.restrictions }, nowMs)
  await notifyOwner(store, "key_created", row, nowMs)
  return { kind: "created", key: toApiKey(row), text }
}

type AcceptedKey = KeyRestrictions & Pick<ApiKey, "accountId" | "kind" | "name" | "origins">

async function insertKeyRow(store: Store, id: string, text: string, key: AcceptedKey, nowMs: number): Promise<KeyRow> {
  const { accountId, kind, name, origins, expiresAtMs, unitsPerDay, requestsPerSecond, networks } = key
  const row = await store.one<KeyRow>(
    `INSERT INTO keys (id, account_id, kind, hash, last4, name, origins, created_at_ms, public_text, expires_at_ms,
       reminded_for_ms, units_per_day, requests_per_second, networks)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) RETURNING ${KEY_COLUMNS}`,
    [
      id,
      accountId,
      kind,
      hashKey(text),
      text.slice(-4),
      name,
      serializeOrigins(origins),
      nowMs,
      kind === "publishable" ? text : null,
      expiresAtMs,
      lateReminder(expiresAtMs, nowMs),
      unitsPerDay,
      requestsPerSecond,
      serializeNetworks(networks),
    ],
  )
  assert(row !== null, "an insertion returns its row")
  for (const origin of origins)
    await store.run("INSERT INTO key_origins (origin, key_id) VALUES ($1, $2)", [origin, row.id])
  return row
}

/**
 * The value of `reminded_for_ms` when an expiry is set: the expiry itself if it is nearer than the notice, since whoever sets it knows
 * it; else null, so that a reminder follows.
 */
export const lateReminder = (expiresAtMs: number | null, nowMs: number): number | null =>
  expiresAtMs !== null && expiresAtMs - nowMs < EXPIRY_NOTICE_MS ? expiresAtMs : null

/** The key with this id, or null. */
export async function findKey(store: Store, id: string): Promise<ApiKey | null> {
  const row = await store.one<KeyRow>(`SELECT ${KEY_COLUMNS} FROM keys WHERE id = $1`, [id])
  return row && toApiKey(row)
}

/** The account's keys, at most `countMax`: those that are not revoked first, then the newest first. */
export async function listKeys(store: Store, accountId: string, countMax: number): Promise<ApiKey[]> {
  const rows = await store.all<KeyRow>(
    `SELECT ${KEY_COLUMNS} FROM keys WHERE account_id = $1
     ORDER BY (revoked_at_ms IS NOT NULL), created_at_ms DESC, id LIMIT $2`,
    [accountId, countMax],
  )
  return rows.map(toApiKey)
}

/** Deletes keys of some accounts that were revoked, or have expired, more than `LIMITS.endedKeyDays` ago, with the units that they used. */
export async function pruneKeysOf(store: Store, { after, last }: AccountRange, nowMs: TrustedInstant): Promise<number> {
  const params = [after, last, nowMs - LIMITS.endedKeyDays * DAY_MS]
  return await store.transaction(async inner => {
    await inner.run(
      `DELETE FROM units WHERE subject IN (SELECT id FROM keys
       WHERE account_id > $1 AND account_id <= $2 AND (revoked_at_ms < $3 OR expires_at_ms < $3))`,
      params,
    )
    return await inner.run(
      "DELETE FROM keys WHERE account_id > $1 AND account_id <= $2 AND (revoked_at_ms < $3 OR expires_at_ms < $3)",
      params,
    )
  })
}

/** The count of keys of all accounts that are neither revoked nor expired. */
export async function countActiveKeys(store: Store, nowMs: number): Promise<number> {
  const row = await store.one<{ active: number }>(`SELECT COUNT(*) AS active FROM keys WHERE ${usableKeySql("$1")}`, [
    nowMs,
  ])
  return row?.active ?? 0
}

/** The revoked key. `isNew` is false when it had been revoked before; then `revokedBy` and `revokedAtMs` stay as they were. */
type KeyRevocation =
  | { readonly kind: "revoked"; readonly key: ApiKey; readonly isNew: boolean }
  | { readonly kind: "unknown_key" }

/**
 * Revokes a key for good and enqueues a notice to its owner. When it resolves, the revocation is on the disk and this process refuses
 * the key. All others do once they have read the change log, within `LIMITS.revocationSecondsMax`.
 */
export async function revokeKey(log: AttributedLog, id: string, by: Revoker): Promise<KeyRevocation> {
  const nowMs = log.clock()
  const revocation = await recordChanges(log, async (store, record): Promise<KeyRevocation> => {
    const row = await store.one<KeyRow>(
      `UPDATE keys SET revoked_at_ms = $2, revoked_by = $3 WHERE id = $1 AND revoked_at_ms IS NULL
       RETURNING ${KEY_COLUMNS}`,
      [id, nowMs, by],
    )
    if (row !== null) {
      await notifyOwner(store, REVOCATION_NOTICES[by], row, nowMs)
      await recordAct(log, store, { kind: "key_revoked", accountId: row.account_id, details: id })
      // The head of the log is always locked last: a transaction that holds it waits for no other lock.
      await record("key_revoked", id)
      return { kind: "revoked", key: toApiKey(row), isNew: true }
    }
    const key = await findKey(store, id)
    return key === null ? { kind: "unknown_key" } : { kind: "revoked", key, isNew: false }
  })
  // Another process may have revoked it, and this one may not have read the change yet.
  if (revocation.kind === "revoked" && !revocation.isNew) log.notify([{ kind: "key_revoked", subject: id }])
  return revocation
}

/** The notices that owners get after a revocation. */
const REVOCATION_NOTICES = {
  owner: "key_revoked_by_owner",
  admin: "key_revoked_by_admin",
  leak: "key_leaked",
} as const satisfies Record<Revoker, string>

type KeyNotice = "key_created" | (typeof REVOCATION_NOTICES)[Revoker]

async function notifyOwner(store: Store, kind: KeyNotice, row: KeyRow, nowMs: number): Promise<void> {
  const notice = { kind: row.kind, name: redactKeys(row.name), last4: row.last4, atMs: nowMs }
  await enqueueNotice(store, nowMs, { accountId: row.account_id, subject: row.id, kind, params: notice })
}

/** Every column but the hash, which is selected only to look a key up. */
const KEY_COLUMNS =
  "id, account_id, kind, last4, name, origins, created_at_ms, last_used_at_ms, revoked_at_ms, revoked_by, public_text, " +
  "expires_at_ms, units_per_day, requests_per_second, networks"

type KeyRow = {
  readonly id: string
  readonly account_id: string
  readonly kind: KeyKind
  readonly last4: string
  readonly name: string
  readonly origins: string
  readonly created_at_ms: number
  readonly last_used_at_ms: number | null
  readonly revoked_at_ms: number | null
  readonly revoked_by: Revoker | null
  readonly public_text: string | null
  readonly expires_at_ms: number | null
  readonly units_per_day: number | null
  readonly requests_per_second: number | null
  readonly networks: string
}

function toApiKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    kind: row.kind,
    name: row.name,
    last4: row.last4,
    origins: deserializeOrigins(row.origins),
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms,
    revokedAtMs: row.revoked_at_ms,
    revokedBy: row.revoked_by,
    publicText: row.public_text,
    expiresAtMs: row.expires_at_ms,
    unitsPerDay: row.units_per_day,
    requestsPerSecond: row.requests_per_second,
    networks: deserializeNetworks(row.networks),
  }
}

/** How many keys of the account are let in at this instant: neither revoked nor expired. */
export async function countActiveKeysOf(store: Store, accountId: string, nowMs: number): Promise<number> {
  const row = await store.one<{ active: number }>(
    `SELECT COUNT(*) AS active FROM keys WHERE account_id = $1 AND ${usableKeySql("$2")}`,
    [accountId, nowMs],
  )
  return row?.active ?? 0
}

/** How many keys the account created on the day, revoked ones included. */
async function countKeysCreatedOn(store: Store, accountId: string, day: number): Promise<number> {
  const row = await store.one<{ created: number }>(
    "SELECT COUNT(*) AS created FROM keys WHERE account_id = $1 AND created_at_ms >= $2 AND created_at_ms < $3",
    [accountId, dayEndMs(day - 1), dayEndMs(day)],
  )
  return row?.created ?? 0
}

type ParsedOrigins = { readonly kind: "parsed"; readonly origins: readonly string[] } | OriginsRefusal

/** Validates the origins of a key of this kind, and writes them in the form of `parseOrigin`. */
export function parseOrigins(kind: KeyKind, origins: readonly string[]): ParsedOrigins {
  if (kind === "secret") return origins.length === 0 ? { kind: "parsed", origins } : { kind: "origins_on_secret" }
  if (origins.length === 0) return { kind: "origins_missing" }
  if (origins.length > ORIGINS_PER_KEY_MAX) return { kind: "too_many_origins" }
  const parsed = new Set<string>()
  for (const sent of origins) {
    const origin = parseOrigin(sent)
    if (origin === null) return { kind: "bad_origin", sent }
    parsed.add(origin)
  }
  return { kind: "parsed", origins: [...parsed] }
}

/** The names of keys that were created without one. */
const DEFAULT_KEY_NAMES: { readonly [K in KeyKind]: string } = { secret: "Secret key", publishable: "Publishable key" }

/** Control characters, lone surrogates, line separators, and characters that change the direction of the surrounding text. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200E\u200F\u202A-\u202E\u2066-\u2069]/u

/**
 * The name to store: NFC, on one line, without addresses, at most `LIMITS.keyNameLengthMax` code points. Null or blank means the
 * kind's default. Returns null when the name is too long or contains a control character.
 */
export function normalizeKeyName(text: string | null, kind: KeyKind): string | null {
  if (text === null) return DEFAULT_KEY_NAMES[kind]
  // NFC shrinks a text at most so far; a longer text is not normalized.
  if (text.length > LIMITS.keyNameLengthMax * 4 || UNPRINTABLE.test(text)) return null
  const name = text.normalize("NFC").trim()
  if (!hasAtMostCharacters(name, LIMITS.keyNameLengthMax)) return null
  return redactAddresses(name, LIMITS.keyNameLengthMax) ?? DEFAULT_KEY_NAMES[kind]
}

/** The result for a text that was found in public. `isNew` is false when the key had been revoked before. */
export type LeakedKeyRevocation =
  | { readonly kind: "revoked"; readonly isNew: boolean }
  | { readonly kind: "no_secret_key" }

/**
 * Revokes the secret key with this text. When it resolves with `revoked`, the revocation is on the disk, and this process refuses the
 * key. A publishable key is public by nature and is not revoked.
 *
 * The key is read from the store and not from the authenticator, which would record a use.
 */
export async function revokeLeakedKey(log: AttributedLog, text: string): Promise<LeakedKeyRevocation> {
  const parsed = parseKey(text)
  if (parsed.kind !== "well_formed" || parsed.keyKind !== "secret") return NO_SECRET_KEY
  const row = await log.store.one<{ readonly id: string }>("SELECT id FROM keys WHERE hash = $1", [hashKey(text)])
  if (row === null) return NO_SECRET_KEY
  const revocation = await revokeKey(log, row.id, "leak")
  // The account and its keys may have been deleted meanwhile.
  return revocation.kind === "revoked" ? { kind: "revoked", isNew: revocation.isNew } : NO_SECRET_KEY
}

const NO_SECRET_KEY = { kind: "no_secret_key" } as const
