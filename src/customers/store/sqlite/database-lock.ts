import { Database } from "bun:sqlite"
import { StoreError } from "../core/store-error.ts"
import { ensureFile, sqliteStoreError } from "./database-file.ts"

/** How long whoever opens the database waits for one who puts another in its place. */
const SHARED_WAIT_MS = 5000

/** Lets go of the database. Twice is once. */
export type ReleaseLock = () => void

/**
 * Holds the database at `path` together with everybody else who has it open, until `ReleaseLock` or the end of this process,
 * whatever ends it: SQLite locks an empty file beside the database, and the system unlocks it. Throws a `StoreError`: `busy`
 * where somebody holds it alone for longer than `WAIT_MS`.
 */
export function acquireSharedLock(path: string): ReleaseLock {
  return acquireLock(path, SHARED_WAIT_MS, database => {
    // A transaction that has read keeps its lock until it ends (sqlite.org/lockingv3.html).
    database.run("BEGIN")
    database.query("SELECT COUNT(*) FROM sqlite_master").all()
  })
}

/** Holds the database at `path` alone. Throws a `StoreError`: `busy` where anybody has it open for longer than `waitMs`. */
export function acquireExclusiveLock(path: string, waitMs = 0): ReleaseLock {
  return acquireLock(path, waitMs, database => database.run("BEGIN EXCLUSIVE"))
}

/** The file that is locked in place of the database, which may be damaged, or be replaced. It stays, empty. */
export const lockPath = (path: string): string => `${path}.lock`

/** What nobody refers to is collected, and a connection that is collected is closed. */
const openLocks = new Set<Database>()

function acquireLock(path: string, waitMs: number, lock: (database: Database) => void): ReleaseLock {
  const full = ensureFile(lockPath(path))
  let database: Database | undefined
  try {
    database = new Database(full, { readwrite: true, create: false })
    database.run(`PRAGMA busy_timeout = ${waitMs}`)
    lock(database)
  } catch (fault) {
    database?.close()
    const known = sqliteStoreError(fault, full)
    if (known instanceof StoreError && known.code === "not_a_database")
      throw new StoreError("unwritable", full, "it should be empty: remove it", fault)
    throw known
  }
  const own = database
  openLocks.add(own)
  return () => {
    openLocks.delete(own)
    own.close()
  }
}
