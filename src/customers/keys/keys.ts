import { assert } from "../../base/errors.ts"
import type { Random } from "../../base/outside-world.ts"
import { LIMITS } from "../../contract/limits.ts"
import { enqueueNotice } from "../notices/outbox.ts"
import { type ChangeLog, recordChanges } from "../store/change-log/change-log.ts"
import { newId } from "../store/core/id.ts"
import type { Store } from "../store/core/store.ts"
import { generateKey, hashKey, type KeyKind, parseKey, redactKeys } from "./key-format.ts"
import { deserializeOrigins, ORIGINS_PER_KEY_MAX, parseOrigin, serializeOrigins } from "./origins.ts"

/** Who revoked a key: its owner, an admin, or the detection of leaks. */
export type Revoker = "owner" | "admin" | "leak"

/** A key as its owner sees it; the key's own text is not among it, and not stored. */
export type ApiKey = {
  readonly id: string
  readonly accountId: string
  readonly kind: KeyKind
  readonly name: string
  /** The last four characters of the key's text. */
  readonly last4: string
  /** As `parseOrigin` writes them; empty for a secret key. */
  readonly origins: readonly string[]
  readonly createdAtMs: number
  /** Null: never, as far as was written. */
  readonly lastUsedAtMs: number | null
  /** Null: the key is active. */
  readonly revokedAtMs: number | null
  readonly revokedBy: Revoker | null
}

/** What a new key is made from. */
export type NewApiKey = {
  readonly accountId: string
  readonly kind: KeyKind
  /** Null: a default. */
  readonly name: string | null
  /** Where a publishable key may be used from, at least one; none for a secret key. */
  readonly origins: readonly string[]
}

/** Why a key could not be made. */
export type KeyCreationRefusal =
  | { readonly kind: "unknown_account" }
  | { readonly kind: "too_many_keys" }
  | { readonly kind: "bad_name" }
  | { readonly kind: "bad_origin"; readonly sent: string }
  | { readonly kind: "origins_missing" }
  | { readonly kind: "too_many_origins" }
  | { readonly kind: "origins_on_secret" }

/** A new key and, this once, its text; or why there is none. */
export type KeyCreation = { readonly kind: "created"; readonly key: ApiKey; readonly text: string } | KeyCreationRefusal

/**
 * Creates a key, unless its account has `LIMITS.keysPerAccountMax` active ones, however many are created at once, and has
 * its owner written to.
 */
export async function createKey(log: ChangeLog, random: Random, wanted: NewApiKey): Promise<KeyCreation> {
  return await log.store.transaction(store => insertKey(store, random, log.clock(), wanted))
}

/** The same as `createKey`, as part of a transaction: that of `store`. No key has the id. */
export async function insertKey(
  store: Store,
  random: Random,
  nowMs: number,
  wanted: NewApiKey,
  id: string = newId("key", random),
): Promise<KeyCreation> {
  const name = normalizeKeyName(wanted.name, wanted.kind)
  if (name === null) return { kind: "bad_name" }
  const parsed = parseOrigins(wanted)
  if (parsed.kind !== "parsed") return parsed
  // Who counts next, in any engine, waits for this key to be there.
  if (!(await lockAccountRow(store, wanted.accountId))) return { kind: "unknown_account" }
  if ((await countActiveKeysOf(store, wanted.accountId)) >= LIMITS.keysPerAccountMax) return { kind: "too_many_keys" }
  const text = generateKey(wanted.kind, random)
  const row = await store.one<KeyRow>(
    `INSERT INTO keys (id, account_id, kind, hash, last4, name, origins, created_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${KEY_COLUMNS}`,
    [id, wanted.accountId, wanted.kind, hashKey(text), text.slice(-4), name, serializeOrigins(parsed.origins), nowMs],
  )
  assert(row !== null, "an insertion returns its row")
  for (const origin of parsed.origins)
    await store.run("INSERT INTO key_origins (origin, key_id) VALUES ($1, $2)", [origin, row.id])
  await notifyOwner(store, "key_created", row, nowMs)
  return { kind: "created", key: toApiKey(row), text }
}

/** Takes the account's row by a write that changes nothing, until the transaction of `store` ends; false: there is none. */
export async function lockAccountRow(store: Store, accountId: string): Promise<boolean> {
  return (await store.run("UPDATE accounts SET tier = tier WHERE id = $1", [accountId])) > 0
}

/** The key with this id, or null. */
export async function findKey(store: Store, id: string): Promise<ApiKey | null> {
  const row = await store.one<KeyRow>(`SELECT ${KEY_COLUMNS} FROM keys WHERE id = $1`, [id])
  return row && toApiKey(row)
}

/** The account's keys, active ones first, then the newest first, at most `countMax` of them. */
export async function listKeys(store: Store, accountId: string, countMax: number): Promise<ApiKey[]> {
  const rows = await store.all<KeyRow>(
    `SELECT ${KEY_COLUMNS} FROM keys WHERE account_id = $1
     ORDER BY (revoked_at_ms IS NOT NULL), created_at_ms DESC, id LIMIT $2`,
    [accountId, countMax],
  )
  return rows.map(toApiKey)
}

/** How many keys of all accounts are active. */
export async function countActiveKeys(store: Store): Promise<number> {
  const row = await store.one<{ active: number }>("SELECT COUNT(*) AS active FROM keys WHERE revoked_at_ms IS NULL")
  return row?.active ?? 0
}

/** The revoked key; `isNew` is false when it had been revoked before, and then who and when are as they were. */
type KeyRevocation =
  | { readonly kind: "revoked"; readonly key: ApiKey; readonly isNew: boolean }
  | { readonly kind: "unknown_key" }

/**
 * Revokes a key for good, and has its owner written to. When it resolves, that is on the disk, and no request of this
 * process is let in by the key.
 */
export async function revokeKey(log: ChangeLog, id: string, by: Revoker): Promise<KeyRevocation> {
  const nowMs = log.clock()
  const revocation = await recordChanges(log, async (store, note): Promise<KeyRevocation> => {
    const row = await store.one<KeyRow>(
      `UPDATE keys SET revoked_at_ms = $2, revoked_by = $3 WHERE id = $1 AND revoked_at_ms IS NULL
       RETURNING ${KEY_COLUMNS}`,
      [id, nowMs, by],
    )
    if (row !== null) {
      await notifyOwner(store, REVOCATION_NOTICES[by], row, nowMs)
      // The log's head comes last, as everywhere: who has it waits for nobody who wants it.
      await note("key_revoked", id)
      return { kind: "revoked", key: toApiKey(row), isNew: true }
    }
    const key = await findKey(store, id)
    return key === null ? { kind: "unknown_key" } : { kind: "revoked", key, isNew: false }
  })
  // Another process may have revoked it, and this one not have read of it yet.
  if (revocation.kind === "revoked" && !revocation.isNew) log.notify([{ kind: "key_revoked", subject: id }])
  return revocation
}

/** The key under its new name, or why it keeps the old one. */
type KeyRenaming =
  | { readonly kind: "renamed"; readonly key: ApiKey }
  | { readonly kind: "bad_name" }
  | { readonly kind: "unknown_key" }

/** Gives a key, active or revoked, another name; a blank one is the kind's default. */
export async function renameKey(log: ChangeLog, id: string, name: string): Promise<KeyRenaming> {
  return await recordChanges(log, async (store, note): Promise<KeyRenaming> => {
    const key = await findKey(store, id)
    if (key === null) return { kind: "unknown_key" }
    const written = normalizeKeyName(name, key.kind)
    if (written === null) return { kind: "bad_name" }
    await store.run("UPDATE keys SET name = $2 WHERE id = $1", [id, written])
    await note("key_changed", id)
    return { kind: "renamed", key: { ...key, name: written } }
  })
}

/** What the owner is written after a revocation. */
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

/** Every column but the hash, which leaves the database only where a key is looked up. */
const KEY_COLUMNS =
  "id, account_id, kind, last4, name, origins, created_at_ms, last_used_at_ms, revoked_at_ms, revoked_by"

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
  }
}

async function countActiveKeysOf(store: Store, accountId: string): Promise<number> {
  const row = await store.one<{ active: number }>(
    "SELECT COUNT(*) AS active FROM keys WHERE account_id = $1 AND revoked_at_ms IS NULL",
    [accountId],
  )
  return row?.active ?? 0
}

type ParsedOrigins = { readonly kind: "parsed"; readonly origins: readonly string[] } | KeyCreationRefusal

function parseOrigins({ kind, origins }: NewApiKey): ParsedOrigins {
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

/** What a key without a name is called. */
const DEFAULT_KEY_NAMES: { readonly [K in KeyKind]: string } = { secret: "Secret key", publishable: "Publishable key" }

/** Control characters, half characters, line ends, and what turns the direction of the text around it. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200E\u200F\u202A-\u202E\u2066-\u2069]/u

/**
 * The name to store: NFC, trimmed of spaces, at most `LIMITS.keyNameLengthMax` characters (code points). Null or blank
 * means the kind's default. Gives null when the name is too long or holds a control character.
 */
export function normalizeKeyName(text: string | null, kind: KeyKind): string | null {
  if (text === null) return DEFAULT_KEY_NAMES[kind]
  // A code point has at most two code units: what is longer than that is not looked at.
  if (text.length > LIMITS.keyNameLengthMax * 4 || UNPRINTABLE.test(text)) return null
  const name = text.normalize("NFC").trim()
  if (name === "") return DEFAULT_KEY_NAMES[kind]
  return [...name].length > LIMITS.keyNameLengthMax ? null : name
}

/** What became of a text that was found in public; `isNew` is false when the key had been revoked before. */
export type LeakedKeyRevocation =
  | { readonly kind: "revoked"; readonly isNew: boolean }
  | { readonly kind: "no_secret_key" }

/**
 * Revokes the secret key that the text is. When it resolves with `revoked`, that is on the disk, and no request of this
 * process is let in by the key. A publishable key is public by its nature: it is no secret key, and stays as it is.
 *
 * The key is looked up in the store and not in the key ring, where it would count as used.
 */
export async function revokeLeakedKey(log: ChangeLog, text: string): Promise<LeakedKeyRevocation> {
  const parsed = parseKey(text)
  if (parsed.kind !== "well_formed" || parsed.keyKind !== "secret") return NO_SECRET_KEY
  const row = await log.store.one<{ readonly id: string }>("SELECT id FROM keys WHERE hash = $1", [hashKey(text)])
  if (row === null) return NO_SECRET_KEY
  const revocation = await revokeKey(log, row.id, "leak")
  // The key may have gone with its account meanwhile.
  return revocation.kind === "revoked" ? { kind: "revoked", isNew: revocation.isNew } : NO_SECRET_KEY
}

const NO_SECRET_KEY = { kind: "no_secret_key" } as const
