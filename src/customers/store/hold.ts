import { Database } from "bun:sqlite"
import { createFile, faultOf } from "./sqlite-file.ts"
import { StoreFault } from "./store-fault.ts"

/** How long whoever opens the database waits for one who puts another in its place. */
const WAIT_MS = 5000

/** Lets go of the database. Twice is once. */
export type LetGo = () => void

/**
 * Holds the database at `path` together with everybody else who has it open, until `LetGo` or the end of this process,
 * whatever ends it: SQLite locks an empty file beside the database, and the system unlocks it. Throws a `StoreFault`: `busy`
 * where somebody holds it alone for longer than `WAIT_MS`.
 */
export function holdTogether(path: string): LetGo {
  return hold(path, WAIT_MS, database => {
    // A transaction that has read keeps its lock until it ends (sqlite.org/lockingv3.html).
    database.run("BEGIN")
    database.query("SELECT COUNT(*) FROM sqlite_master").all()
  })
}

/** Holds the database at `path` alone. Throws a `StoreFault`: `busy` where anybody has it open for longer than `waitMs`. */
export function holdAlone(path: string, waitMs = 0): LetGo {
  return hold(path, waitMs, database => database.run("BEGIN EXCLUSIVE"))
}

/** The file that is locked in place of the database, which may be damaged, or be replaced. It stays, empty. */
export const lockPath = (path: string): string => `${path}.lock`

/** What nobody refers to is collected, and a connection that is collected is closed. */
const held = new Set<Database>()

function hold(path: string, waitMs: number, lock: (database: Database) => void): LetGo {
  const full = createFile(lockPath(path))
  let database: Database | undefined
  try {
    database = new Database(full, { readwrite: true, create: false })
    database.run(`PRAGMA busy_timeout = ${waitMs}`)
    lock(database)
  } catch (fault) {
    database?.close()
    const known = faultOf(fault, full)
    if (known instanceof StoreFault && known.code === "not_a_database")
      throw new StoreFault("unwritable", full, "it should be empty: remove it", fault)
    throw known
  }
  const own = database
  held.add(own)
  return () => {
    held.delete(own)
    own.close()
  }
}
