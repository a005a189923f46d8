import { constants, Database } from "bun:sqlite"
import { copyFileSync, existsSync, linkSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"
import { StoreError } from "../core/store-error.ts"
import { ensureFile, sqliteStoreError } from "../sqlite/database-file.ts"
import { acquireExclusiveLock, acquireSharedLock, type ReleaseLock } from "../sqlite/database-lock.ts"
import { SCHEMA_VERSION } from "../sqlite/sqlite-reader.ts"
import { type BackupInfo, syncToDisk, vacuumInto, verifyBackup } from "./backup.ts"

/** What a restore has done. */
export type RestoreResult = BackupInfo & {
  /** Where the database is that was there before; null: there was none. A log that could not be folded lies beside it. */
  readonly previousPath: string | null
  /** What was taken over of it; null: there was none, or it cannot be read. */
  readonly merged: RestoreMerge | null
}

/** The steps of a restore, in their order; before `decided` nothing has happened, and from then on it is finished by whoever opens the database. */
export type RestoreStep = "copied" | "kept" | "decided" | "log_removed" | "replaced"

/**
 * Puts the backup at `from` in place of the database at `path`, which is kept beside it under the name that `stamp` ends. A
 * backup that is damaged, or of a newer version, changes nothing. Throws a `StoreError`: `busy` where anybody has the
 * database open. Killed at any moment, or without power, it has happened whole or not at all. `reached` is told of each step.
 */
export function restoreDatabase(
  from: string,
  path: string,
  stamp: string,
  reached: (step: RestoreStep) => void = () => undefined,
): RestoreResult {
  const letGo = acquireExclusiveLock(path)
  try {
    finishRestore(path)
    return replaceDatabase(from, path, stamp, reached)
  } catch (fault) {
    throw sqliteStoreError(fault, path)
  } finally {
    removeStaging(path)
    letGo()
  }
}

/** A copy that is being made, and one that only has to be put in its place. */
const stagingPath = (path: string): string => `${path}.restoring`
const committedPath = (path: string): string => `${path}.restored`

/** With its journal, which would be played back into the next one of this name. */
function removeStaging(path: string): void {
  for (const ending of ["", "-journal"]) rmSync(stagingPath(path) + ending, { force: true })
}

/**
 * Holds the database together with others, after a restore that was cut short has been finished. Throws a `StoreError` as
 * `acquireSharedLock` does.
 */
export function acquireRecoveredLock(path: string): ReleaseLock {
  for (;;) {
    const letGo = acquireSharedLock(path)
    // Whoever restores holds the database alone: what lies here now was left.
    removeStaging(path)
    if (!existsSync(committedPath(path))) return letGo
    letGo()
    finishExclusively(path)
  }
}

function finishExclusively(path: string): void {
  const letGo = acquireExclusiveLock(path, FINISH_WAIT_MS)
  try {
    finishRestore(path)
  } finally {
    letGo()
  }
}

/** Several who open the database at once find the same restore to finish. */
const FINISH_WAIT_MS = 5000

function replaceDatabase(
  from: string,
  path: string,
  stamp: string,
  reached: (step: RestoreStep) => void,
): RestoreResult {
  const { schemaVersion } = verifyBackup(from)
  if (schemaVersion > SCHEMA_VERSION)
    throw new StoreError("newer", from, `its tables are at ${schemaVersion}, this version knows ${SCHEMA_VERSION}`)
  const hasOld = existsSync(path)
  if (hasOld) foldWal(path)
  removeStaging(path)
  const half = ensureFile(stagingPath(path))
  vacuumInto(from, half, false)
  const merged = mergeFromPrevious(half, hasOld ? path : null)
  const copied = verifyBackup(half)
  syncToDisk(half)
  reached("copied")
  const previousPath = hasOld ? keepPrevious(path, stamp) : null
  reached("kept")
  renameSync(half, committedPath(path))
  syncToDisk(dirname(path))
  reached("decided")
  finishRestore(path, reached)
  return { ...copied, path, previousPath, merged }
}

/**
 * Folds the log into the database, so that it is one file: SQLite does it for whoever is the only one. A database that is
 * too damaged for that keeps its log beside it. Throws `busy` where another program has it open.
 */
function foldWal(path: string): void {
  let database: Database | undefined
  try {
    database = new Database(path, constants.SQLITE_OPEN_READWRITE)
    database.run("PRAGMA journal_mode = DELETE")
  } catch (fault) {
    const known = sqliteStoreError(fault, path)
    if (!(known instanceof StoreError) || known.code === "busy") throw known
  } finally {
    database?.close()
  }
}

const LOG_SUFFIXES = ["-wal", "-shm", "-journal"] as const

/** Gives the database a second name, under which it stays; what is there already under that name is not touched. */
function keepPrevious(path: string, stamp: string): string {
  const kept = `${path}.replaced-${stamp}`
  for (const ending of ["", "-wal", "-journal"]) if (existsSync(path + ending)) linkOrCopy(path + ending, kept + ending)
  syncToDisk(dirname(path))
  return kept
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === "EEXIST") throw fault
    copyFileSync(from, to)
    syncToDisk(to)
  }
}

/** The log goes first: one of another database would be read as this one's. */
function finishRestore(path: string, reached: (step: RestoreStep) => void = () => undefined): void {
  if (!existsSync(committedPath(path))) return
  for (const ending of LOG_SUFFIXES) rmSync(path + ending, { force: true })
  syncToDisk(dirname(path))
  reached("log_removed")
  renameSync(committedPath(path), path)
  syncToDisk(dirname(path))
  reached("replaced")
}

/** What a restored database has of the one that it replaces, so that nothing that was promised since is taken back. */
type RestoreMerge = {
  /** Keys that were revoked since the backup, and stay so. */
  readonly revokedCount: number
  /** Days of accounts and keys of which more units had been leased: their quotas go on from there. */
  readonly unitsCount: number
  /** Mails that were sent, or given up, since the backup, and are not sent again. */
  readonly mailsCount: number
  /** Accounts that were made since the backup, and are gone. */
  readonly lostAccountsCount: number
  /** Accounts that were deleted since the backup, and are back. */
  readonly returnedAccountsCount: number
}

type TableNames = ReadonlySet<string>

/**
 * Makes a restored copy fit to follow the database at `old`; null: there is none. Of it is taken over what must not go back:
 * revocations, units that were leased, and what became of mails. Whether it can be read or not, nobody is signed in any more,
 * for a session may have been ended since, and the change log goes on behind both. Null: the old one cannot be read.
 */
export function mergeFromPrevious(copy: string, old: string | null): RestoreMerge | null {
  const { SQLITE_OPEN_READWRITE, SQLITE_OPEN_URI } = constants
  const database = new Database(copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI)
  try {
    const carried = old === null ? null : mergeTables(database, old)
    const own = tableNames(database, "main")
    for (const table of ["sessions", "sign_ins"]) if (own.has(table)) database.run(`DELETE FROM ${table}`)
    if (own.has("change_head")) database.run("UPDATE change_head SET id = id + 1")
    return carried
  } finally {
    database.close()
  }
}

/**
 * All of it, or, where the old database is damaged, nothing. Throws a `StoreError`: `full` where the copy has no room for it,
 * and `busy` where another program keeps the old one.
 */
function mergeTables(database: Database, old: string): RestoreMerge | null {
  const url = pathToFileURL(old)
  url.search = "?mode=ro"
  try {
    database.query("ATTACH ? AS old").run(url.href)
    const tables = tableNames(database, "main").intersection(tableNames(database, "old"))
    return database.transaction(() => mergeRows(database, tables))()
  } catch (fault) {
    const known = sqliteStoreError(fault, old)
    // What was revoked must not be good again for want of room.
    if (known instanceof StoreError && (known.code === "full" || known.code === "busy")) throw known
    if (fault instanceof Error && "errno" in fault) return null
    throw fault
  }
}

function mergeRows(database: Database, tables: TableNames): RestoreMerge {
  const changed = (table: string, sql: string): number => (tables.has(table) ? database.run(sql).changes : 0)
  const counted = (sql: string): number => (tables.has("accounts") ? Number(database.query(sql).values()[0]?.[0]) : 0)
  if (tables.has("change_head"))
    database.run("UPDATE change_head SET id = MAX(id, (SELECT COALESCE(MAX(id), 0) FROM old.change_head))")
  return {
    revokedCount: changed("keys", MERGE_REVOCATIONS),
    unitsCount: changed("units", MERGE_UNITS),
    mailsCount: changed("outbox", MERGE_MAIL_ENDINGS),
    lostAccountsCount: counted("SELECT COUNT(*) FROM old.accounts WHERE id NOT IN (SELECT id FROM main.accounts)"),
    returnedAccountsCount: counted("SELECT COUNT(*) FROM main.accounts WHERE id NOT IN (SELECT id FROM old.accounts)"),
  }
}

const MERGE_REVOCATIONS = `UPDATE main.keys SET revoked_at_ms = gone.revoked_at_ms, revoked_by = gone.revoked_by
  FROM old.keys AS gone
  WHERE gone.id = main.keys.id AND gone.revoked_at_ms IS NOT NULL AND main.keys.revoked_at_ms IS NULL`

const MERGE_UNITS = `INSERT INTO main.units (subject, day, leased) SELECT subject, day, leased FROM old.units WHERE true
  ON CONFLICT (subject, day) DO UPDATE SET leased = excluded.leased WHERE excluded.leased > units.leased`

const MERGE_MAIL_ENDINGS = `UPDATE main.outbox SET ending = gone.ending, ended_at_ms = gone.ended_at_ms, claim = NULL
  FROM old.outbox AS gone
  WHERE gone.account_id = main.outbox.account_id AND gone.notice = main.outbox.notice
    AND gone.subject = main.outbox.subject AND gone.ended_at_ms IS NOT NULL AND main.outbox.ended_at_ms IS NULL`

function tableNames(database: Database, schema: "main" | "old"): Set<string> {
  const names = database.query(`SELECT name FROM ${schema}.sqlite_master WHERE type = 'table'`).values()
  return new Set(names.flat().map(String))
}
