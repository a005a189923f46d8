import { Database, SQLiteError } from "bun:sqlite"
import { assert } from "../../base/assert.ts"
import type { Clock } from "../../base/clock.ts"
import type { LetGo } from "./hold.ts"
import { keepBefore } from "./keep-before.ts"
import { migrate } from "./migrate.ts"
import { holdWhole } from "./restore.ts"
import { createFile, faultOf, truePath } from "./sqlite-file.ts"
import { Statements } from "./statements.ts"
import type { Cell, OpenStore } from "./store.ts"
import { StoreFault } from "./store-fault.ts"
import { type Connection, isInside, outermost, type Scope, storeIn } from "./transactions.ts"
import { Turns } from "./turns.ts"

/**
 * How long a statement waits for another process's write. Writers hold the file for a fsync or two (0.4 ms each here), so
 * only a stuck one is ever waited for this long; the wait stops this process too, which is why it is no longer.
 */
const BUSY_TIMEOUT_MS = 5000

/** How often the switch to WAL is tried; one or two are enough, even with eight processes. */
const WAL_ATTEMPTS_MAX = 100

type Open = Connection & { readonly database: Database; readonly statements: Statements; readonly path: string }

/**
 * The turns of each open file: connections of this process to one file share them. SQLite's own wait stops the process,
 * so a connection that waited for a transaction beside it would wait for itself.
 */
const turnsByFile = new Map<string, { readonly turns: Turns; openCount: number }>()

/**
 * Opens the one SQLite file, creates it (0600, its directories 0700) where it is missing, and brings its tables up to
 * date. Rejects with a `StoreFault` when the file is no database, of another program, of a newer mailkind, unreadable,
 * or unwritable. Several processes may open one file at once.
 */
export async function openSqlite(path: string, clock: Clock): Promise<OpenStore> {
  // By its one true path, which a link to its directory is not.
  const letGo = holdWhole(truePath(path))
  try {
    return await openHeld(path, clock, letGo)
  } catch (fault) {
    letGo()
    throw fault
  }
}

async function openHeld(path: string, clock: Clock, letGo: LetGo): Promise<OpenStore> {
  const full = createFile(path)
  const connection = connect(full)
  const file = turnsByFile.get(full) ?? { turns: new Turns(), openCount: 0 }
  file.openCount++
  turnsByFile.set(full, file)
  const scope = outermost(file.turns, file.turns)
  const store: OpenStore = {
    ...storeIn(scope, connection),
    onChange: () => undefined,
    close: () => close(scope, connection).finally(letGo),
  }
  try {
    await keepBefore(store, full)
    await migrate(store, clock, full)
  } catch (fault) {
    await store.close()
    throw fault
  }
  return store
}

function connect(path: string): Open {
  let database: Database | undefined
  try {
    database = new Database(path, { readwrite: true, create: false })
    configure(database, path)
    return opened(database, path)
  } catch (fault) {
    database?.close()
    throw faultOf(fault, path)
  }
}

function opened(database: Database, path: string): Open {
  const statements = new Statements(database)
  return {
    database,
    statements,
    path,
    all: <Row>(sql: string, params: readonly Cell[]) => statements.all<Row>(sql, params),
    run: (sql, params) => statements.run(sql, params),
    command: sql => database.run(sql),
    // The right to write is asked for at the start, where waiting helps; a reader that becomes a writer may only fail.
    begin: () => database.run("BEGIN IMMEDIATE"),
    // A fault such as a full disk makes SQLite roll back by itself.
    isInTransaction: () => database.inTransaction,
    faultOf: fault => faultOf(fault, path),
  }
}

function configure(database: Database, path: string): void {
  database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  // Before anything is written: a file of somebody else's is left as it was found.
  const tables = database.query("SELECT name FROM sqlite_master WHERE type = 'table'").values().flat()
  if (tables.length > 0 && !tables.includes("migrations"))
    throw new StoreFault("foreign_database", path, `it has ${tables.length} tables and no table of migrations`)
  switchToWal(database)
  // FULL: a commit is on the disk when it is acknowledged, even if the power fails, which a revocation has promised.
  // It costs one fsync a commit (0.4 ms here, 0.03 ms with NORMAL); the request path commits nothing.
  database.run("PRAGMA synchronous = FULL")
  database.run("PRAGMA foreign_keys = ON")
}

/**
 * Two processes that switch a new file at the same moment refuse each other at once (SQLITE_BUSY, whatever the busy
 * time-out: 13 of 30 new files opened by four processes). To ask for the right to write does wait for the other one.
 */
function switchToWal(database: Database): void {
  for (let attempt = 1; ; attempt++) {
    try {
      return void database.run("PRAGMA journal_mode = WAL")
    } catch (fault) {
      if (!(fault instanceof SQLiteError) || fault.code !== "SQLITE_BUSY" || attempt === WAL_ATTEMPTS_MAX) throw fault
    }
    database.run("BEGIN IMMEDIATE")
    database.run("COMMIT")
  }
}

async function close(scope: Scope, { database, statements, path }: Open): Promise<void> {
  assert(!isInside(scope.home, scope), "a transaction cannot close the store it runs in")
  await scope.turns.take(() => {
    if (scope.isOver) return
    scope.isOver = true
    statements.finalize()
    database.close()
    const file = turnsByFile.get(path)
    if (file !== undefined && --file.openCount === 0) turnsByFile.delete(path)
  })
}
