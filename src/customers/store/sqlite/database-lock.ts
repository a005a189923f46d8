import { Database } from "bun:sqlite"
import { StoreError } from "../core/store-error.ts"
import { ensureFile, sqliteStoreError } from "./database-file.ts"

/** How long a command waits for a restore that holds the database exclusively. */
export const SHARED_WAIT_MS = 5000

/** Releases the lock. Idempotent. */
export type ReleaseLock = () => void

/**
 * Locks the database at `path` in shared mode until it is released or this process ends. SQLite locks an empty file beside the
 * database, so the system releases the lock even if the process is killed. Throws a `StoreError`: `busy` when another process holds
 * it exclusively for longer than `waitMs`.
 */
export function acquireSharedLock(path: string, waitMs = SHARED_WAIT_MS): ReleaseLock {
  return acquireLock(path, waitMs, database => {
    // A transaction that has read keeps its shared lock until it ends (sqlite.org/lockingv3.html).
    database.run("BEGIN")
    database.query("SELECT COUNT(*) FROM sqlite_master").all()
  })
}

/** Locks the database at `path` exclusively. Throws a `StoreError`: `busy` when another process has it open for longer than `waitMs`. */
export function acquireExclusiveLock(path: string, waitMs = 0): ReleaseLock {
  return acquireLock(path, waitMs, database => database.run("BEGIN EXCLUSIVE"))
}

/** The file that is locked in place of the database, which may be damaged or replaced. It stays, and is empty. */
export const lockPath = (path: string): string => `${path}.lock`

/** References that keep the connections from being collected, which would close them and release their locks. */
const openLocks = new Set<Database>()

function acquireLock(path: string, waitMs: number, lock: (database: Database) => void): ReleaseLock {
  const lockFile = ensureFile(lockPath(path))
  let database: Database | undefined
  try {
    database = new Database(lockFile, { readwrite: true, create: false })
    database.run(`PRAGMA busy_timeout = ${waitMs}`)
    lock(database)
  } catch (error) {
    database?.close()
    const storeError = sqliteStoreError(error, lockFile)
    if (storeError instanceof StoreError && storeError.code === "not_a_database")
      throw new StoreError("unwritable", lockFile, "it should be empty: remove it", error)
    throw storeError
  }
  const openDatabase = database
  openLocks.add(openDatabase)
  return () => {
    openLocks.delete(openDatabase)
    openDatabase.close()
  }
}
