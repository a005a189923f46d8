import { Database, SQLiteError, type Statement } from "bun:sqlite"
import { LRUCache } from "lru-cache"
import { assert } from "../../base/errors.ts"
import { Mutex } from "../../base/mutex.ts"
import type { Clock } from "../../base/outside-world.ts"
import { backUpBeforeMigration } from "./backup/backup.ts"
import { acquireRecoveredLock } from "./backup/restore.ts"
import { replaceParameters } from "./core/sql-text.ts"
import type { OpenStore, SqlValue } from "./core/store.ts"
import { StoreError } from "./core/store-error.ts"
import {
  createRootScope,
  createScopedStore,
  type EngineConnection,
  isInsideTransaction,
  type TransactionScope,
} from "./core/transactions.ts"
import { migrate } from "./migrations/migrate.ts"
import { ensureFile, realPath, sqliteStoreError } from "./sqlite/database-file.ts"
import type { ReleaseLock } from "./sqlite/database-lock.ts"

/**
 * How long a statement waits for another process's write. Writers hold the file for a fsync or two (0.4 ms each here), so
 * only a stuck one is ever waited for this long; the wait stops this process too, which is why it is no longer.
 */
const BUSY_TIMEOUT_MS = 5000

/** How often the switch to WAL is tried; one or two are enough, even with eight processes. */
const WAL_ATTEMPTS_MAX = 100

type SqliteConnection = EngineConnection & {
  readonly database: Database
  readonly statements: StatementCache
  readonly path: string
}

/**
 * The turns of each open file: connections of this process to one file share them. SQLite's own wait stops the process,
 * so a connection that waited for a transaction beside it would wait for itself.
 */
const mutexesByFile = new Map<string, { readonly mutex: Mutex; openCount: number }>()

/**
 * Opens the one SQLite file, creates it (0600, its directories 0700) where it is missing, and brings its tables up to
 * date. Rejects with a `StoreError` when the file is no database, of another program, of a newer mailkind, unreadable,
 * or unwritable. Several processes may open one file at once.
 */
export async function openSqlite(path: string, clock: Clock): Promise<OpenStore> {
  // By its one true path, which a link to its directory is not.
  const letGo = acquireRecoveredLock(realPath(path))
  try {
    return await openLocked(path, clock, letGo)
  } catch (fault) {
    letGo()
    throw fault
  }
}

async function openLocked(path: string, clock: Clock, letGo: ReleaseLock): Promise<OpenStore> {
  const full = ensureFile(path)
  const connection = openDatabase(full)
  const file = mutexesByFile.get(full) ?? { mutex: new Mutex(), openCount: 0 }
  file.openCount++
  mutexesByFile.set(full, file)
  const scope = createRootScope(file.mutex, file.mutex)
  const store: OpenStore = {
    ...createScopedStore(scope, connection),
    onChange: () => undefined,
    close: () => closeConnection(scope, connection).finally(letGo),
  }
  try {
    await backUpBeforeMigration(store, full)
    await migrate(store, clock, full)
  } catch (fault) {
    await store.close()
    throw fault
  }
  return store
}

function openDatabase(path: string): SqliteConnection {
  let database: Database | undefined
  try {
    database = new Database(path, { readwrite: true, create: false })
    configure(database, path)
    return createSqliteConnection(database, path)
  } catch (fault) {
    database?.close()
    throw sqliteStoreError(fault, path)
  }
}

function createSqliteConnection(database: Database, path: string): SqliteConnection {
  const statements = new StatementCache(database)
  return {
    database,
    statements,
    path,
    all: <Row>(sql: string, params: readonly SqlValue[]) => statements.all<Row>(sql, params),
    run: (sql, params) => statements.run(sql, params),
    execute: sql => database.run(sql),
    // The right to write is asked for at the start, where waiting helps; a reader that becomes a writer may only fail.
    begin: () => database.run("BEGIN IMMEDIATE"),
    // A fault such as a full disk makes SQLite roll back by itself.
    isInTransaction: () => database.inTransaction,
    toStoreError: fault => sqliteStoreError(fault, path),
  }
}

function configure(database: Database, path: string): void {
  database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  // Before anything is written: a file of somebody else's is left as it was found.
  const tables = database.query("SELECT name FROM sqlite_master WHERE type = 'table'").values().flat()
  if (tables.length > 0 && !tables.includes("migrations"))
    throw new StoreError("foreign_database", path, `it has ${tables.length} tables and no table of migrations`)
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

async function closeConnection(
  scope: TransactionScope,
  { database, statements, path }: SqliteConnection,
): Promise<void> {
  assert(!isInsideTransaction(scope.lockDomain, scope), "a transaction cannot close the store it runs in")
  await scope.mutex.runExclusive(() => {
    if (scope.isOver) return
    scope.isOver = true
    statements.finalize()
    database.close()
    const file = mutexesByFile.get(path)
    if (file !== undefined && --file.openCount === 0) mutexesByFile.delete(path)
  })
}

/** How many prepared statements are kept; the code has fewer, so none is prepared twice unless SQL is built at run time. */
const PREPARED_MAX = 256

/** The prepared statements of one connection, bounded. */
class StatementCache {
  readonly #prepared: LRUCache<string, Statement>
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
    this.#prepared = new LRUCache({ max: PREPARED_MAX, dispose: statement => statement.finalize() })
  }

  /** All rows of the statement's answer. */
  all<Row>(sql: string, params: readonly SqlValue[]): readonly Row[] {
    // The one boundary where rows get their type: a statement stands beside the row type it is asked with.
    return this.#prepare(sql).all(...params) as Row[]
  }

  /** The count of rows that the statement changed. */
  run(sql: string, params: readonly SqlValue[]): number {
    return this.#prepare(sql).run(...params).changes
  }

  /** Lets go of all prepared statements; the connection can be closed then. */
  finalize(): void {
    this.#prepared.clear()
  }

  #prepare(sql: string): Statement {
    const held = this.#prepared.get(sql)
    if (held !== undefined) return held
    const statement = this.#database.prepare(toSqliteParameters(sql))
    this.#prepared.set(sql, statement)
    return statement
  }
}

/**
 * SQLite takes `$2` for a name and numbers names in the order they appear, so `$2, $1` would get the values crossed;
 * `?2` is what PostgreSQL means by `$2`. And of two statements in one text, only the first would be prepared.
 */
const toSqliteParameters = (sql: string): string => replaceParameters(sql, number => `?${number}`)
