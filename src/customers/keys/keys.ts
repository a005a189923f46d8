import { assert } from "../../base/assert.ts"
import type { Random } from "../../base/clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import { postNotice } from "../notices/outbox.ts"
import { type ChangeLog, recordingChanges } from "../store/changes.ts"
import { newId } from "../store/id.ts"
import type { Store } from "../store/store.ts"
import { type KeyKind, keyHash, newKey, withoutKeys } from "./key-form.ts"
import { keyName } from "./key-name.ts"
import { ORIGINS_PER_KEY_MAX, originsToStore, parseOrigin, storedOrigins } from "./origin.ts"

/** Who revoked a key: its owner, an admin, or the detection of leaks. */
export type Revoker = "owner" | "admin" | "leak"

/** A key as its owner sees it; the key's own text is not among it, and not stored. */
export type Key = {
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
export type NewKey = {
  readonly accountId: string
  readonly kind: KeyKind
  /** Null: a default. */
  readonly name: string | null
  /** Where a publishable key may be used from, at least one; none for a secret key. */
  readonly origins: readonly string[]
}

/** Why a key could not be made. */
export type KeyRefusal =
  | { readonly kind: "unknown_account" }
  | { readonly kind: "too_many_keys" }
  | { readonly kind: "bad_name" }
  | { readonly kind: "bad_origin"; readonly sent: string }
  | { readonly kind: "origins_missing" }
  | { readonly kind: "too_many_origins" }
  | { readonly kind: "origins_on_secret" }

/** A new key and, this once, its text; or why there is none. */
export type KeyCreation = { readonly kind: "created"; readonly key: Key; readonly text: string } | KeyRefusal

/**
 * Creates a key, unless its account has `LIMITS.keysPerAccountMax` active ones, however many are created at once, and has
 * its owner written to.
 */
export async function createKey(log: ChangeLog, random: Random, wanted: NewKey): Promise<KeyCreation> {
  return await log.store.transaction(store => insertKey(store, random, log.clock(), wanted))
}

/** The same as `createKey`, as part of a transaction: that of `store`. No key has the id. */
export async function insertKey(
  store: Store,
  random: Random,
  nowMs: number,
  wanted: NewKey,
  id: string = newId("key", random),
): Promise<KeyCreation> {
  const name = keyName(wanted.name, wanted.kind)
  if (name === null) return { kind: "bad_name" }
  const parsed = parseOrigins(wanted)
  if (parsed.kind !== "parsed") return parsed
  // Who counts next, in any engine, waits for this key to be there.
  if (!(await holdAccount(store, wanted.accountId))) return { kind: "unknown_account" }
  if ((await countActiveKeys(store, wanted.accountId)) >= LIMITS.keysPerAccountMax) return { kind: "too_many_keys" }
  const text = newKey(wanted.kind, random)
  const row = await store.one<KeyRow>(
    `INSERT INTO keys (id, account_id, kind, hash, last4, name, origins, created_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${KEY_COLUMNS}`,
    [id, wanted.accountId, wanted.kind, keyHash(text), text.slice(-4), name, originsToStore(parsed.origins), nowMs],
  )
  assert(row !== null, "an insertion returns its row")
  for (const origin of parsed.origins)
    await store.run("INSERT INTO key_origins (origin, key_id) VALUES ($1, $2)", [origin, row.id])
  await tellOwner(store, "key_created", row, nowMs)
  return { kind: "created", key: keyOf(row), text }
}

/** Takes the account's row by a write that changes nothing, until the transaction of `store` ends; false: there is none. */
export async function holdAccount(store: Store, accountId: string): Promise<boolean> {
  return (await store.run("UPDATE accounts SET tier = tier WHERE id = $1", [accountId])) > 0
}

/** The key with this id, or null. */
export async function findKey(store: Store, id: string): Promise<Key | null> {
  const row = await store.one<KeyRow>(`SELECT ${KEY_COLUMNS} FROM keys WHERE id = $1`, [id])
  return row && keyOf(row)
}

/** The account's keys, active ones first, then the newest first, at most `countMax` of them. */
export async function listKeys(store: Store, accountId: string, countMax: number): Promise<Key[]> {
  const rows = await store.all<KeyRow>(
    `SELECT ${KEY_COLUMNS} FROM keys WHERE account_id = $1
     ORDER BY (revoked_at_ms IS NOT NULL), created_at_ms DESC, id LIMIT $2`,
    [accountId, countMax],
  )
  return rows.map(keyOf)
}

/** How many keys of all accounts are active. */
export async function countKeys(store: Store): Promise<number> {
  const row = await store.one<{ active: number }>("SELECT COUNT(*) AS active FROM keys WHERE revoked_at_ms IS NULL")
  return row?.active ?? 0
}

/** The revoked key; `isNew` is false when it had been revoked before, and then who and when are as they were. */
export type Revocation =
  | { readonly kind: "revoked"; readonly key: Key; readonly isNew: boolean }
  | { readonly kind: "unknown_key" }

/**
 * Revokes a key for good, and has its owner written to. When it resolves, that is on the disk, and no request of this
 * process is let in by the key.
 */
export async function revokeKey(log: ChangeLog, id: string, by: Revoker): Promise<Revocation> {
  const nowMs = log.clock()
  const revocation = await recordingChanges(log, async (store, note): Promise<Revocation> => {
    const row = await store.one<KeyRow>(
      `UPDATE keys SET revoked_at_ms = $2, revoked_by = $3 WHERE id = $1 AND revoked_at_ms IS NULL
       RETURNING ${KEY_COLUMNS}`,
      [id, nowMs, by],
    )
    if (row !== null) {
      await tellOwner(store, REVOCATION_NOTICES[by], row, nowMs)
      // The log's head comes last, as everywhere: who has it waits for nobody who wants it.
      await note("key_revoked", id)
      return { kind: "revoked", key: keyOf(row), isNew: true }
    }
    const key = await findKey(store, id)
    return key === null ? { kind: "unknown_key" } : { kind: "revoked", key, isNew: false }
  })
  // Another process may have revoked it, and this one not have read of it yet.
  if (revocation.kind === "revoked" && !revocation.isNew) log.hear([{ kind: "key_revoked", subject: id }])
  return revocation
}

/** The key under its new name, or why it keeps the old one. */
export type Renaming =
  | { readonly kind: "renamed"; readonly key: Key }
  | { readonly kind: "bad_name" }
  | { readonly kind: "unknown_key" }

/** Gives a key, active or revoked, another name; a blank one is the kind's default. */
export async function renameKey(log: ChangeLog, id: string, name: string): Promise<Renaming> {
  return await recordingChanges(log, async (store, note): Promise<Renaming> => {
    const key = await findKey(store, id)
    if (key === null) return { kind: "unknown_key" }
    const written = keyName(name, key.kind)
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

async function tellOwner(store: Store, kind: KeyNotice, row: KeyRow, nowMs: number): Promise<void> {
  const notice = { kind: row.kind, name: withoutKeys(row.name), last4: row.last4, atMs: nowMs }
  await postNotice(store, nowMs, { accountId: row.account_id, subject: row.id, kind, particulars: notice })
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

function keyOf(row: KeyRow): Key {
  return {
    id: row.id,
    accountId: row.account_id,
    kind: row.kind,
    name: row.name,
    last4: row.last4,
    origins: storedOrigins(row.origins),
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms,
    revokedAtMs: row.revoked_at_ms,
    revokedBy: row.revoked_by,
  }
}

async function countActiveKeys(store: Store, accountId: string): Promise<number> {
  const row = await store.one<{ active: number }>(
    "SELECT COUNT(*) AS active FROM keys WHERE account_id = $1 AND revoked_at_ms IS NULL",
    [accountId],
  )
  return row?.active ?? 0
}

type ParsedOrigins = { readonly kind: "parsed"; readonly origins: readonly string[] } | KeyRefusal

function parseOrigins({ kind, origins }: NewKey): ParsedOrigins {
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
