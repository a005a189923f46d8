import { constants, Database } from "bun:sqlite"
import { copyFileSync, existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"
import { secureRandom } from "../../../base/outside-world.ts"
import { DAY_MS } from "../../../base/time.ts"
import type { ActorKind, ActSource } from "../change-log/actor.ts"
import { newId } from "../core/id.ts"
import { StoreError } from "../core/store-error.ts"
import { SCHEMA_VERSION } from "../migrations/migrations.ts"
import { createPrivateFile, errnoOf, sqliteStoreError } from "../sqlite/database-file.ts"
import { acquireExclusiveLock, acquireSharedLock, type ReleaseLock, SHARED_WAIT_MS } from "../sqlite/database-lock.ts"
import { restrictSchema } from "../sqlite/own-schema.ts"
import { withSqliteReader } from "../sqlite/sqlite-reader.ts"
import { type BackupInfo, copyError, syncToDisk, vacuumInto, verifyBackup } from "./backup.ts"
import { type DeletedAccount, deleteAccountsAgain } from "./deleted-accounts.ts"

/** The result of a restore. */
export type RestoreResult = BackupInfo & {
  /** Where the previous database lies now; null: there was none. A write-ahead log that could not be folded lies beside it. */
  readonly previousPath: string | null
  /** What was merged from it; null: there was none, or it cannot be read. */
  readonly merged: RestoreMerge | null
  /** Accounts of the backup that were deleted since, and were deleted again. */
  readonly deletedAgainCount: number
}

/** What a restore is told besides. */
export type RestoreOptions = {
  /** Accounts that must not come back. */
  readonly deleted?: readonly DeletedAccount[]
  /** The operator's act, which is recorded in the audit trail of the restored database. */
  readonly act?: { readonly kind: string; readonly operatorId: string; readonly atMs: number }
  /** Called after each step. */
  readonly onStep?: (step: RestoreStep) => void
}

/** The steps of a restore in their order. Before `committed` nothing has changed; from then on the next process that opens the database finishes it. */
export type RestoreStep = "staged" | "previous_saved" | "committed" | "log_removed" | "replaced"

/**
 * Replaces the database at `path` by the backup at `from`, and keeps the previous one beside it as `path.replaced-stamp`. It is atomic:
 * after a crash or a power failure at any moment it has happened completely or not at all. Throws a
 * `StoreError`, and changes nothing, when the backup is damaged, of a newer version or not exactly of our tables, or (`busy`) when a
 * process has the database open. No SQL that the backup contains runs. Accounts that the previous database knows to be deleted do not come
 * back either.
 */
export function restoreDatabase(
  from: string,
  path: string,
  stamp: string,
  options: RestoreOptions = {},
): RestoreResult {
  const releaseLock = lockForRestore(from, path)
  try {
    finishRestore(path)
    return replaceDatabase(from, path, stamp, options)
  } catch (error) {
    throw copyError(error, path)
  } finally {
    removeStaging(path)
    releaseLock()
  }
}

/** A disk on which not even the lock has room is told with what the copy needs. */
function lockForRestore(from: string, path: string): ReleaseLock {
  try {
    return acquireExclusiveLock(path)
  } catch (error) {
    if (!(error instanceof StoreError && error.code === "full")) throw error
    throw new StoreError("full", dirname(path), `the copy needs up to ${statSync(from).size} bytes`, error)
  }
}

/** A copy that is being written. */
const stagingPath = (path: string): string => `${path}.restoring`
/** A complete copy that only has to be renamed. */
const committedPath = (path: string): string => `${path}.restored`

/** Removes the copy with its journal, which SQLite would otherwise apply to the next file of this name. */
function removeStaging(path: string): void {
  for (const suffix of ["", "-journal"]) rmSync(stagingPath(path) + suffix, { force: true })
}

/**
 * Locks the database in shared mode, after finishing a restore that was interrupted. Throws a `StoreError` as `acquireSharedLock`
 * does. `waitMs`: how long it waits for a restore, or for other processes that finish the same one.
 */
export function acquireRecoveredLock(path: string, waitMs = SHARED_WAIT_MS): ReleaseLock {
  for (;;) {
    const releaseLock = acquireSharedLock(path, waitMs)
    // A restore holds the exclusive lock, so a staged copy that is here now was abandoned.
    removeStaging(path)
    if (!existsSync(committedPath(path))) return releaseLock
    releaseLock()
    finishExclusively(path, waitMs)
  }
}

function finishExclusively(path: string, waitMs: number): void {
  const releaseLock = acquireExclusiveLock(path, waitMs)
  try {
    finishRestore(path)
  } finally {
    releaseLock()
  }
}

function replaceDatabase(
  from: string,
  path: string,
  stamp: string,
  { deleted = [], act, onStep = () => undefined }: RestoreOptions,
): RestoreResult {
  checkBackup(from)
  const hasPrevious = existsSync(path)
  if (hasPrevious) foldWal(path)
  removeStaging(path)
  const stagedFile = stagingPath(path)
  createPrivateFile(stagedFile).close()
  vacuumInto(from, stagedFile, false)
  // Again: the backup may have been replaced since it was checked.
  requireRestorable(stagedFile)
  const merged = mergeFromPrevious(stagedFile, hasPrevious ? path : null)
  const deletedAgainCount = deleteAccountsAgain(stagedFile, [...deleted, ...recordedDeletions(stagedFile)])
  if (act !== undefined) recordRestore(stagedFile, act, statSync(from).mtimeMs)
  const info = verifyBackup(stagedFile)
  syncToDisk(stagedFile)
  onStep("staged")
  // Again: a program without our lock, such as Litestream, may have opened it since.
  if (hasPrevious) foldWal(path)
  const previousPath = hasPrevious ? keepPrevious(path, stamp) : null
  onStep("previous_saved")
  renameSync(stagedFile, committedPath(path))
  syncToDisk(dirname(path))
  onStep("committed")
  finishRestore(path, onStep)
  return { ...info, path, previousPath, merged, deletedAgainCount }
}

/** What a backup contains, after every page of it was read. Throws a `StoreError` when it cannot be restored. */
export function checkBackup(path: string): BackupInfo {
  const info = verifyBackup(path)
  requireRestorable(path)
  return info
}

/** Throws a `StoreError` when the backup is of a newer version, or has tables, indexes, triggers or views other than ours. */
function requireRestorable(path: string): void {
  withSqliteReader(path, ({ schemaVersion, schemaDifference }) => {
    if (schemaVersion > SCHEMA_VERSION)
      throw new StoreError(
        "newer",
        path,
        `its tables have version ${schemaVersion}, and this program knows ${SCHEMA_VERSION}`,
      )
    if (schemaDifference !== null) throw new StoreError("altered", path, schemaDifference)
  })
}

/**
 * Folds the write-ahead log into the database, so that it is one file; SQLite does so for the only connection. A database that is too
 * damaged for that keeps its log. Throws a `busy` error when another program has it open.
 */
function foldWal(path: string): void {
  let database: Database | undefined
  try {
    database = new Database(path, constants.SQLITE_OPEN_READWRITE)
    database.run("PRAGMA journal_mode = DELETE")
  } catch (error) {
    const storeError = sqliteStoreError(error, path)
    if (!(storeError instanceof StoreError) || storeError.code === "busy") throw storeError
  } finally {
    database?.close()
  }
}

const LOG_SUFFIXES = ["-wal", "-shm", "-journal"] as const

/** Gives the database a second name and returns it. Existing files of that name are not overwritten. */
function keepPrevious(path: string, stamp: string): string {
  const previousPath = `${path}.replaced-${stamp}`
  for (const suffix of ["", "-wal", "-journal"])
    if (existsSync(path + suffix)) linkOrCopy(path + suffix, previousPath + suffix)
  syncToDisk(dirname(path))
  return previousPath
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (errnoOf(error) === "EEXIST") throw error
    copyFileSync(from, to)
    syncToDisk(to)
  }
}

/**
 * Puts the committed copy in place. The previous log is removed first, since SQLite would apply it to the new database. Throws a `busy`
 * error while another program has the previous one open, which would write to the log of the new one.
 */
function finishRestore(path: string, onStep: (step: RestoreStep) => void = () => undefined): void {
  if (!existsSync(committedPath(path))) return
  foldWal(path)
  for (const suffix of LOG_SUFFIXES) rmSync(path + suffix, { force: true })
  syncToDisk(dirname(path))
  onStep("log_removed")
  renameSync(committedPath(path), path)
  syncToDisk(dirname(path))
  onStep("replaced")
}

/** What was merged from the previous database, so that a restore does not undo promises made since the backup (DECISIONS 40). */
type RestoreMerge = {
  /** Keys that were revoked since the backup and stay revoked. */
  readonly revokedCount: number
  /** Quota days of accounts and keys whose leased units were raised to the later count. */
  readonly unitsCount: number
  /** Mails that were sent or given up since the backup and are not sent again. */
  readonly mailsCount: number
  /** Accounts that were created since the backup and are lost. */
  readonly lostAccountsCount: number
  /** Accounts that the previous database does not have. They exist again, unless it is known that they were deleted. */
  readonly returnedAccountsCount: number
}

/** The deletions in the audit trail of a restored copy, which has the entries of the previous database. */
function recordedDeletions(copy: string): readonly DeletedAccount[] {
  const deletions = withSqliteReader(copy, reader =>
    reader.hasTable("admin_acts") ? reader.all<{ id: string; atMs: number }>(DELETED_ACCOUNTS) : [],
  )
  return deletions ?? []
}

const DELETED_ACCOUNTS = `SELECT account_id AS id, MAX(at_ms) AS "atMs" FROM admin_acts
  WHERE act = 'account_deleted' AND account_id IS NOT NULL GROUP BY account_id`

/** The columns of an act, since the trail has all of them. */
const ACT_COLUMNS = "id admin_id account_id act details at_ms actor_kind source key_id".split(" ")

/** Records a restore in the copy, unless that is of a version before the audit trail. */
function recordRestore(
  copy: string,
  { kind, operatorId, atMs }: NonNullable<RestoreOptions["act"]>,
  writtenAtMs: number,
): void {
  const database = new Database(copy, constants.SQLITE_OPEN_READWRITE)
  try {
    restrictSchema(database)
    database.run("PRAGMA journal_mode = MEMORY")
    if (!hasColumns(database, "main", "admin_acts", ACT_COLUMNS)) return
    const details = `the backup of ${new Date(writtenAtMs).toISOString()}`
    database.run(`INSERT INTO admin_acts (${ACT_COLUMNS.join(", ")}) VALUES (?, ?, NULL, ?, ?, ?, ?, ?, NULL)`, [
      newId("act", secureRandom),
      ...[operatorId, kind, details, atMs, "operator" satisfies ActorKind, "command" satisfies ActSource],
    ])
  } finally {
    database.close()
  }
}

type TableNames = ReadonlySet<string>

/**
 * Prepares a restored copy to replace the database at `previous` (null: there is none): it takes over revocations, restrictions, leased
 * units and the ends of mails, removes all sessions, since one may have been ended since, and all jobs, since their files are elsewhere, and moves the change log past that of both. Returns null
 * when there is no previous database or it cannot be read.
 */
export function mergeFromPrevious(copy: string, previous: string | null): RestoreMerge | null {
  const { SQLITE_OPEN_READWRITE, SQLITE_OPEN_URI } = constants
  const database = new Database(copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI)
  try {
    restrictSchema(database)
    const merged = previous === null ? null : mergeTables(database, previous)
    const tables = tableNames(database, "main")
    for (const table of ["sessions", "sign_ins", "invitations", "callbacks", "jobs"])
      if (tables.has(table)) database.run(`DELETE FROM ${table}`)
    if (tables.has("change_head")) database.run("UPDATE change_head SET id = id + 1")
    return merged
  } finally {
    database.close()
  }
}

/**
 * Merges all or, when the previous database is damaged, nothing, and returns null. Throws a `StoreError`: `full` when the copy has no
 * room, `busy` when another program locks the previous database.
 */
function mergeTables(database: Database, previous: string): RestoreMerge | null {
  const url = pathToFileURL(previous)
  url.search = "?mode=ro"
  try {
    database.query("ATTACH ? AS old").run(url.href)
    const tables = tableNames(database, "main").intersection(tableNames(database, "old"))
    return database.transaction(() => mergeRows(database, tables))()
  } catch (error) {
    const storeError = sqliteStoreError(error, previous)
    // A full disk must not make revoked keys valid again.
    if (storeError instanceof StoreError && (storeError.code === "full" || storeError.code === "busy")) throw storeError
    if (error instanceof Error && "errno" in error) return null
    throw error
  }
}

function mergeRows(database: Database, tables: TableNames): RestoreMerge {
  const update = (table: string, sql: string): number => (tables.has(table) ? database.run(sql).changes : 0)
  const count = (sql: string): number => (tables.has("accounts") ? Number(database.query(sql).values()[0]?.[0]) : 0)
  if (tables.has("change_head"))
    database.run("UPDATE change_head SET id = MAX(id, (SELECT COALESCE(MAX(id), 0) FROM old.change_head))")
  // The backup is old, and the clock is not ahead for that.
  if (tables.has("confirmed_time"))
    database.run(
      "UPDATE confirmed_time SET (confirmed_at_ms, held_ms) = (SELECT confirmed_at_ms, held_ms FROM old.confirmed_time)",
    )
  // The folder with the files of jobs belongs to the server, whatever backup it restores.
  if (tables.has("jobs_folder")) database.run(KEEP_JOBS_FOLDER)
  for (const { table, columns, sql } of MERGED_CHOICES)
    if (["main", "old"].every(schema => hasColumns(database, schema, table, columns)))
      for (const one of sql) database.run(one)
  if (["main", "old"].every(schema => hasColumns(database, schema, "admin_acts", ACT_COLUMNS))) {
    const columns = ACT_COLUMNS.join(", ")
    database.run(`INSERT OR IGNORE INTO main.admin_acts (${columns}) SELECT ${columns} FROM old.admin_acts`)
  }
  return {
    revokedCount:
      update("keys", MERGE_REVOCATIONS) + (tables.has("confirmed_time") ? update("keys", REVOKE_FORGOTTEN) : 0),
    unitsCount: update("units", MERGE_UNITS),
    mailsCount: update("outbox", MERGE_MAIL_ENDINGS),
    lostAccountsCount: count("SELECT COUNT(*) FROM old.accounts WHERE id NOT IN (SELECT id FROM main.accounts)"),
    returnedAccountsCount: count("SELECT COUNT(*) FROM main.accounts WHERE id NOT IN (SELECT id FROM old.accounts)"),
  }
}

/** Sets columns of the rows that are in both databases to what they were last. */
const asLastSet = (table: string, columns: readonly string[]): string =>
  `UPDATE main.${table} SET ${columns.map(column => `${column} = latest.${column}`).join(", ")}
   FROM old.${table} AS latest WHERE latest.id = main.${table}.id`

type MergedChoice = { readonly table: string; readonly columns: readonly string[]; readonly sql: readonly string[] }

const mergedColumns = (table: string, ...columns: readonly string[]): MergedChoice => ({
  table,
  columns,
  sql: [asLastSet(table, columns)],
})

/** What owners and the operator restricted. Each is merged when both databases have its columns, since they are of any version. */
const MERGED_CHOICES: readonly MergedChoice[] = [
  mergedColumns("keys", "expires_at_ms", "reminded_for_ms", "units_per_day", "requests_per_second", "networks"),
  mergedColumns("accounts", "request_log_from_ms"),
  mergedColumns("accounts", "suspended_at_ms", "suspension_reason"),
  {
    table: "key_origins",
    columns: ["origin", "key_id"],
    sql: [
      asLastSet("keys", ["origins"]),
      "DELETE FROM main.key_origins WHERE key_id IN (SELECT id FROM old.keys)",
      `INSERT INTO main.key_origins (origin, key_id) SELECT origin, key_id FROM old.key_origins
       WHERE key_id IN (SELECT id FROM main.keys)`,
    ],
  },
]

const MERGE_REVOCATIONS = `UPDATE main.keys SET revoked_at_ms = gone.revoked_at_ms, revoked_by = gone.revoked_by
  FROM old.keys AS gone
  WHERE gone.id = main.keys.id AND gone.revoked_at_ms IS NOT NULL AND main.keys.revoked_at_ms IS NULL`

/** How many days after its end a key is deleted. */
export const FORGOTTEN_KEY_DAYS = 400

/** The last confirmed time may be of some minutes before the last keys were deleted. */
const REVOKED_FROM_DAYS = FORGOTTEN_KEY_DAYS - 1

/** Keys that the previous database had deleted after their end: of accounts that it has, and so old that it would have them otherwise. */
const REVOKE_FORGOTTEN = `UPDATE main.keys SET revoked_at_ms = latest.confirmed_at_ms, revoked_by = 'owner' FROM old.confirmed_time AS latest
  WHERE main.keys.revoked_at_ms IS NULL AND main.keys.created_at_ms < latest.confirmed_at_ms - ${REVOKED_FROM_DAYS * DAY_MS}
    AND main.keys.account_id IN (SELECT id FROM old.accounts) AND main.keys.id NOT IN (SELECT id FROM old.keys)`

const KEEP_JOBS_FOLDER = `INSERT INTO main.jobs_folder (singleton, mark) SELECT singleton, mark FROM old.jobs_folder WHERE true
  ON CONFLICT (singleton) DO UPDATE SET mark = excluded.mark`

const MERGE_UNITS = `INSERT INTO main.units (subject, day, leased) SELECT subject, day, leased FROM old.units WHERE true
  ON CONFLICT (subject, day) DO UPDATE SET leased = excluded.leased WHERE excluded.leased > units.leased`

const MERGE_MAIL_ENDINGS = `UPDATE main.outbox SET ending = gone.ending, ended_at_ms = gone.ended_at_ms, claim = NULL
  FROM old.outbox AS gone
  WHERE gone.account_id = main.outbox.account_id AND gone.notice = main.outbox.notice
    AND gone.subject = main.outbox.subject AND gone.ended_at_ms IS NOT NULL AND main.outbox.ended_at_ms IS NULL`

function hasColumns(database: Database, schema: string, table: string, columns: readonly string[]): boolean {
  const names = database.query("SELECT name FROM pragma_table_info(?, ?)").values(table, schema).flat()
  return columns.every(column => names.includes(column))
}

function tableNames(database: Database, schema: "main" | "old"): Set<string> {
  const names = database.query(`SELECT name FROM ${schema}.sqlite_master WHERE type = 'table'`).values()
  return new Set(names.flat().map(String))
}
