import { constants, Database } from "bun:sqlite"
import { closeSync, existsSync, fsyncSync, linkSync, openSync, readdirSync, renameSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Store } from "../core/store.ts"
import { StoreError } from "../core/store-error.ts"
import { createMigrationsTable, readSchemaVersion } from "../migrations/migrate.ts"
import { ensureFile, sqliteStoreError } from "../sqlite/database-file.ts"
import {
  countRows,
  integrityErrors,
  SCHEMA_VERSION,
  type SqliteReader,
  withSqliteReader,
} from "../sqlite/sqlite-reader.ts"

/** What a copy holds. */
export type BackupInfo = {
  readonly path: string
  readonly bytes: number
  readonly accountsCount: number
  readonly keysCount: number
  /** The number of its latest migration. */
  readonly schemaVersion: number
}

/** Copies that were left half-written by a process that was killed are named after it. */
const PARTIAL_FILE = /\.(\d+)\.half(?:-journal)?$/

/** Which copy is wanted. */
type BackupOptions = {
  /** A file that is there is not replaced. */
  readonly mustNotExist: boolean
  /** The number of its latest migration; absent: any. */
  readonly schemaVersion?: number
}

/**
 * Writes a copy of the database at `from`, as it is at one moment between two commits, whoever else writes, and gives it
 * its name when every page of it has been read back and the disk has it: `to` is the whole copy or what it was before.
 * Null: there is a file, or another migration has been run. It is for its owner alone. Throws a `StoreError`, and leaves
 * nothing behind then. It keeps this process while it writes.
 */
export function backUpDatabase(
  from: string,
  to: string,
  { mustNotExist, schemaVersion }: BackupOptions,
): BackupInfo | null {
  if (mustNotExist && existsSync(to)) return null
  removePartialFiles(to)
  const half = ensureFile(`${to}.${process.pid}.half`)
  try {
    vacuumInto(from, half, true)
    const copied = verifyBackup(half)
    if (schemaVersion !== undefined && copied.schemaVersion !== schemaVersion) return null
    syncToDisk(half)
    if (!moveIntoPlace(half, to, mustNotExist)) return null
    syncToDisk(dirname(to))
    return { ...copied, path: to }
  } catch (fault) {
    throw sqliteStoreError(fault, to)
  } finally {
    for (const path of [half, `${half}-journal`]) rmSync(path, { force: true })
  }
}

/** What a database file of ours holds, after every page of it has been read. Throws a `StoreError` where one is damaged, or there is none. */
export function verifyBackup(path: string): BackupInfo {
  const copied = withSqliteReader(path, look => readBackupInfo(look, path))
  if (copied === null) throw new StoreError("unwritable", path, "there is no such file")
  return copied
}

function readBackupInfo(look: SqliteReader, path: string): BackupInfo {
  const [fault] = integrityErrors(look)
  if (fault !== undefined) throw new StoreError("damaged", path, fault)
  const { schemaVersion, bytes } = look
  return { path, bytes, schemaVersion, accountsCount: countRows(look, "accounts"), keysCount: countRows(look, "keys") }
}

/** Puts what the system holds of a file, or of the names in a directory, on the disk. */
export function syncToDisk(path: string): void {
  const file = openSync(path, "r")
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Writes the database at `from` to the empty file `to`. `isInUse`: others may have it open, or open it just now; else it is
 * only read, from whatever it lies on.
 */
export function vacuumInto(from: string, to: string, isInUse: boolean): void {
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_READWRITE, SQLITE_OPEN_URI } = constants
  const url = pathToFileURL(from)
  url.search = isInUse ? "?mode=rw" : existsSync(`${from}-wal`) ? "?mode=ro" : "?mode=ro&immutable=1"
  const database = new Database(url.href, (isInUse ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_URI)
  try {
    // Another connection may fold the log into the file just now.
    database.run("PRAGMA busy_timeout = 5000")
    database.query("VACUUM INTO ?").run(to)
  } finally {
    database.close()
  }
}

/** False: the name is taken, and shall not be. A file system without links has to be asked first. */
function moveIntoPlace(from: string, to: string, isNew: boolean): boolean {
  if (!isNew) {
    renameSync(from, to)
    return true
  }
  try {
    linkSync(from, to)
    return true
  } catch (fault) {
    const code = fault instanceof Error && "code" in fault ? fault.code : ""
    if (code === "EEXIST" || existsSync(to)) return false
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "ENOSYS") throw fault
    renameSync(from, to)
    return true
  }
}

/** Removes what processes that are gone have left of copies of this name: each is as large as the database. */
function removePartialFiles(to: string): void {
  if (!existsSync(dirname(to))) return
  for (const name of readdirSync(dirname(to))) {
    const pid = name.startsWith(`${basename(to)}.`) ? PARTIAL_FILE.exec(name)?.[1] : undefined
    if (pid !== undefined && (Number(pid) === process.pid || !isProcessRunning(Number(pid))))
      rmSync(join(dirname(to), name), { force: true })
  }
}

function isProcessRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (fault) {
    return fault instanceof Error && "code" in fault && fault.code === "EPERM"
  }
}

/** How many copies are kept: those before the latest migrations. */
export const PRE_MIGRATION_BACKUPS_MAX = 2

/**
 * Keeps a copy of the database at `path`, which `store` has open, when it is behind and has anything to lose: beside it, named
 * after the migration that comes next. Where another process is faster, its copy is as good. Rejects with a `StoreError`,
 * and then nothing has been migrated.
 */
export async function backUpBeforeMigration(store: Store, path: string): Promise<void> {
  await createMigrationsTable(store)
  const schemaVersion = await readSchemaVersion(store)
  if (schemaVersion === 0 || schemaVersion >= SCHEMA_VERSION) return
  if ((await store.one("SELECT 1 AS one FROM sqlite_master WHERE name = 'accounts'")) === null) return
  if ((await store.one("SELECT 1 AS one FROM accounts LIMIT 1")) === null) return
  backUpDatabase(path, `${path}.before-${schemaVersion + 1}`, { mustNotExist: false, schemaVersion })
  removeOldBackups(path)
}

function removeOldBackups(path: string): void {
  const directory = dirname(path)
  const start = `${basename(path)}.before-`
  const numbers = readdirSync(directory)
    .filter(name => name.startsWith(start) && /^\d+$/.test(name.slice(start.length)))
    .map(name => Number(name.slice(start.length)))
    .sort((a, b) => b - a)
  for (const number of numbers.slice(PRE_MIGRATION_BACKUPS_MAX))
    rmSync(join(directory, `${start}${number}`), { force: true })
}
