import { constants, Database } from "bun:sqlite"
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { diskSpaceAt } from "../../../base/disk-space.ts"
import type { Store } from "../core/store.ts"
import { StoreError } from "../core/store-error.ts"
import { createMigrationsTable, readSchemaVersion } from "../migrations/migrate.ts"
import { SCHEMA_VERSION } from "../migrations/migrations.ts"
import { createPrivateFile, errnoOf, isNoRoom, type PrivateFile, sqliteStoreError } from "../sqlite/database-file.ts"
import { restrictSchema } from "../sqlite/own-schema.ts"
import { countRows, integrityErrors, type SqliteReader, withSqliteReader } from "../sqlite/sqlite-reader.ts"

/** What a copy of the database contains. */
export type BackupInfo = {
  readonly path: string
  readonly bytes: number
  readonly accountsCount: number
  readonly keysCount: number
  /** The number of its latest migration. */
  readonly schemaVersion: number
}

/** A partial copy that a killed process has left. Its name contains the process id, and a random part that nobody can guess. */
const PARTIAL_FILE = /\.(\d+)(?:\.[0-9a-f-]+)?\.half(?:-journal)?$/

type BackupOptions = {
  /** Whether an existing file is kept and the backup not made. */
  readonly mustNotExist: boolean
  /** The schema version that the copy must have; absent: any. */
  readonly schemaVersion?: number
}

/**
 * Writes a consistent copy of the database at `from` to `to`, also while other processes write. The copy gets its name after every
 * page was read back and is on the disk, so `to` is either the complete copy or what it was before. Only its owner may read it, also
 * in a directory that others may write: no link and no file that is already there is written to. Blocks this process. Returns null when
 * the file exists, or when the copy has another schema version. Throws a `StoreError` and removes what it has written.
 */
export function backUpDatabase(
  from: string,
  to: string,
  { mustNotExist, schemaVersion }: BackupOptions,
): BackupInfo | null {
  if (mustNotExist && existsSync(to)) return null
  removePartialFiles(dirname(to), `${basename(to)}.`)
  const partial = createPrivateFile(`${to}.${process.pid}.${Bun.randomUUIDv7()}.half`)
  try {
    vacuumInto(from, partial.path, true)
    removeJobs(partial.path)
    const info = verifyBackup(partial.path)
    if (schemaVersion !== undefined && info.schemaVersion !== schemaVersion) return null
    partial.sync()
    requireUnchanged(partial)
    if (!moveIntoPlace(partial.path, to, mustNotExist)) return null
    syncToDisk(dirname(to))
    return { ...info, path: to }
  } catch (error) {
    throw copyError(error, to)
  } finally {
    partial.close()
    for (const suffix of ["", "-journal"]) rmSync(partial.path + suffix, { force: true })
  }
}

/** The `StoreError` for an error of SQLite, or of a disk that has no room. Returns any other error as it is. */
export function copyError(error: unknown, path: string): unknown {
  const code = errnoOf(error)
  return isNoRoom(code) ? new StoreError("full", path, code, error) : sqliteStoreError(error, path)
}

/**
 * Removes the jobs of a copy: their files are in no backup, and neither are the keys of these. The bytes are overwritten, and no
 * journal receives them.
 */
function removeJobs(path: string): void {
  const database = new Database(path, { readwrite: true, create: false })
  try {
    restrictSchema(database)
    const tables = ["callbacks", "jobs"].filter(
      name => database.query("SELECT 1 FROM sqlite_master WHERE name = ?").get(name) !== null,
    )
    if (tables.length === 0) return
    for (const sql of ["PRAGMA journal_mode = MEMORY", "PRAGMA secure_delete = ON"]) database.run(sql)
    for (const name of tables) database.run(`DELETE FROM ${name}`)
  } finally {
    database.close()
  }
}

/** Others who may write the directory could have put another file in the place of the copy, which SQLite opens by its name. */
function requireUnchanged({ path, isUnchanged }: PrivateFile): void {
  if (!isUnchanged()) throw new StoreError("unwritable", path, "another user has replaced the file or changed its mode")
}

/** What a database file contains, after every page of it was read. Throws a `StoreError` when the file is damaged or missing. */
export function verifyBackup(path: string): BackupInfo {
  requireWhole(path)
  const info = withSqliteReader(path, reader => readBackupInfo(reader, path))
  if (info === null) throw new StoreError("unwritable", path, "there is no such file")
  return info
}

/**
 * Throws a `damaged` error when the file is shorter than its header says, as a copy that broke off. The header of SQLite's files has the
 * size of a page in bytes 16 and 17, where 1 stands for 65 536, and the number of pages in bytes 28 to 31.
 */
function requireWhole(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found !== undefined && !found.isFile()) throw new StoreError("not_a_database", path, "it is no file")
  const bytes = found?.size ?? 0
  if (found !== undefined && bytes < HEADER_BYTES)
    throw new StoreError("damaged", path, `it is cut: it has ${bytes} bytes`)
  const header = bytes < HEADER_BYTES ? null : readHeader(path)
  if (header === null || header.toString("latin1", 0, MAGIC.length) !== MAGIC) return
  const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  const wholeBytes = pageBytes * header.readUInt32BE(28)
  if (bytes < wholeBytes) throw new StoreError("damaged", path, `it is cut: it has ${bytes} of ${wholeBytes} bytes`)
}

const HEADER_BYTES = 100
const MAGIC = "SQLite format 3\0"

function readHeader(path: string): Buffer {
  const file = openSync(path, "r")
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    readSync(file, header, 0, HEADER_BYTES, 0)
    return header
  } finally {
    closeSync(file)
  }
}

function readBackupInfo(reader: SqliteReader, path: string): BackupInfo {
  const [integrityError] = integrityErrors(reader)
  if (integrityError !== undefined) throw new StoreError("damaged", path, integrityError)
  const { schemaVersion, bytes } = reader
  return {
    path,
    bytes,
    schemaVersion,
    accountsCount: countRows(reader, "accounts"),
    keysCount: countRows(reader, "keys"),
  }
}

/** Flushes a file, or the names in a directory, to the disk. */
export function syncToDisk(path: string): void {
  const file = openSync(path, "r")
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Writes the database at `from` to the empty file `to`. `isInUse`: other processes may have it open; otherwise it is only read, and
 * may be on a read-only medium. Throws a `full` error that tells the bytes, before it writes any if the disk has not as many: a copy
 * that fills the disk of the database would keep servers from writing meanwhile.
 */
export function vacuumInto(from: string, to: string, isInUse: boolean): void {
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_READWRITE, SQLITE_OPEN_URI } = constants
  const url = pathToFileURL(from)
  url.search = isInUse ? "?mode=rw" : existsSync(`${from}-wal`) ? "?mode=ro" : "?mode=ro&immutable=1"
  const database = new Database(url.href, (isInUse ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_URI)
  try {
    restrictSchema(database)
    // Another connection may be checkpointing the log.
    database.run("PRAGMA busy_timeout = 5000")
    // A quota may allow less.
    const { freeBytes: free } = diskSpaceAt(dirname(to))
    const needed = contentBytes(database)
    const full = new StoreError("full", dirname(to), `the copy needs up to ${needed} bytes, and ${free} were free`)
    if (needed > free) throw full
    try {
      database.query("VACUUM INTO ?").run(to)
    } catch (error) {
      const storeError = sqliteStoreError(error, to)
      throw storeError instanceof StoreError && storeError.code === "full" ? full : error
    }
  } finally {
    database.close()
  }
}

/** The size of the pages that have contents, with those that are in the write-ahead log alone. */
function contentBytes(database: Database): number {
  const sql = `SELECT (page_count - freelist_count) * page_size
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size`
  return Number(database.query(sql).values()[0]?.[0])
}

/** False: the name is taken and `mustNotExist`. Without hard links the existence check and the rename are two steps. */
function moveIntoPlace(from: string, to: string, mustNotExist: boolean): boolean {
  if (!mustNotExist) {
    renameSync(from, to)
    return true
  }
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    const code = errnoOf(error)
    if (code === "EEXIST" || existsSync(to)) return false
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "ENOSYS") throw error
    renameSync(from, to)
    return true
  }
}

/** Removes partial copies that dead processes have left and whose names begin with a prefix: each may be as large as the database. */
export function removePartialFiles(directory: string, prefix: string): void {
  if (!existsSync(directory)) return
  for (const name of readdirSync(directory)) {
    const pid = name.startsWith(prefix) ? PARTIAL_FILE.exec(name)?.[1] : undefined
    if (pid === undefined || (Number(pid) !== process.pid && isProcessRunning(Number(pid)))) continue
    const path = join(directory, name)
    if (isOwnFile(path)) rmSync(path, { force: true })
  }
}

/** False for a file of another user, which is not ours to remove, and for what is no file. */
function isOwnFile(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true && found.uid === process.geteuid?.()
}

function isProcessRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errnoOf(error) === "EPERM"
  }
}

/** How many backups from before migrations are kept. */
export const PRE_MIGRATION_BACKUPS_MAX = 2

/**
 * Copies the database at `path`, which `store` has open, when it has migrations to come and has accounts. The copy lies beside it and
 * is named after the next migration. If another process writes it first, that copy is as good. Rejects with a `StoreError`; the caller
 * then does not migrate.
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
  const prefix = `${basename(path)}.before-`
  const numbers = readdirSync(directory)
    .filter(name => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map(name => Number(name.slice(prefix.length)))
    .sort((a, b) => b - a)
  for (const number of numbers.slice(PRE_MIGRATION_BACKUPS_MAX))
    rmSync(join(directory, `${prefix}${number}`), { force: true })
}
