import { Database, SQLiteError, type Statement } from "bun:sqlite"
import { LRUCache } from "lru-cache"
import { yieldThread } from "../../base/concurrency.ts"
import { assert } from "../../base/errors.ts"
import { Mutex } from "../../base/mutex.ts"
import type { Clock } from "../../base/outside-world.ts"
import { backUpBeforeMigration } from "./backup/backup.ts"
import { acquireRecoveredLock } from "./backup/restore.ts"
import { replaceParameters } from "./core/sql-text.ts"
import { type CommitMode, type OpenStore, type SqlValue, storableParams } from "./core/store.ts"
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
import { BUSY_TIMEOUT_MS, LockWait } from "./sqlite/lock-wait.ts"
import { requireOwnSchema } from "./sqlite/own-schema.ts"

/** How often the switch to WAL is tried; one or two attempts suffice, even with eight processes. */
const WAL_ATTEMPTS_MAX = 100

type SqliteConnection = EngineConnection & {
  readonly database: Database
  readonly statements: StatementCache
  readonly path: string
}

/**
 * One mutex for each open file, shared by all connections of this process to it. SQLite's own wait blocks the process, so a
 * connection that waited for a transaction of another connection here would wait for itself.
 */
const mutexesByFile = new Map<string, { readonly mutex: Mutex; openCount: number }>()

/**
 * Opens the SQLite file, creates it (mode 0600, its directories 0700) if it is missing, and migrates it. Several processes may open
 * one file at once. Rejects with a `StoreError` when the file is not a database, belongs to another program or a newer mailkind, has
 * tables, indexes, triggers or views other than ours, cannot be read and written, or is locked for long. `sleep` passes the time between
 * two attempts to lock it.
 */
export async function openSqlite(
  path: string,
  clock: Clock,
  sleep: (ms: number) => Promise<unknown> = Bun.sleep,
): Promise<OpenStore> {
  const lockWait = new LockWait(sleep)
  // The lock is taken by the real path, which is the same through any link.
  const releaseLock = await lockWait.write(() => acquireRecoveredLock(realPath(path), BUSY_TIMEOUT_MS))
  try {
    return await openLocked(path, clock, releaseLock, lockWait)
  } catch (error) {
    releaseLock()
    throw error
  }
}

async function openLocked(
  path: string,
  clock: Clock,
  releaseLock: ReleaseLock,
  lockWait: LockWait,
): Promise<OpenStore> {
  const realFile = ensureFile(path)
  const connection = await lockWait.write(() => openDatabase(realFile, lockWait))
  const file = mutexesByFile.get(realFile) ?? { mutex: new Mutex(), openCount: 0 }
  file.openCount++
  mutexesByFile.set(realFile, file)
  const scope = createRootScope(file.mutex, file.mutex)
  const store: OpenStore = {
    ...createScopedStore(scope, connection),
    clockSql: "NULL",
    unwritableSql: "NULL",
    isUnavailable: () => false,
    isPooled: false,
    connectionsInUse: () => 0,
    onChange: () => undefined,
    close: () => closeConnection(scope, connection).finally(releaseLock),
  }
  try {
    await backUpBeforeMigration(store, realFile)
    await migrate(store, clock, realFile)
  } catch (error) {
    await store.close()
    throw error
  }
  return store
}

function openDatabase(path: string, lockWait: LockWait): SqliteConnection {
  let database: Database | undefined
  try {
    database = new Database(path, { readwrite: true, create: false })
    configure(database, path)
    return createSqliteConnection(database, path, lockWait)
  } catch (error) {
    database?.close()
    throw sqliteStoreError(error, path)
  }
}

function createSqliteConnection(database: Database, path: string, lockWait: LockWait): SqliteConnection {
  const statements = new StatementCache(database)
  const commits = new Commits(database, lockWait)
  return {
    database,
    statements,
    path,
    // A statement outside of all transactions commits by itself, also one that gives rows (`RETURNING`).
    all: <Row>(sql: string, params: readonly SqlValue[]) => {
      if (database.inTransaction) return statements.all<Row>(sql, params)
      commits.waitFor("synced")
      return lockWait.read(() => statements.all<Row>(sql, params))
    },
    run: (sql, params) =>
      database.inTransaction ? statements.run(sql, params) : commits.write("synced", () => statements.run(sql, params)),
    execute: sql => database.run(sql),
    // Takes the write lock at the start, where SQLite waits for it; a reader that becomes a writer may fail at once.
    begin: mode => commits.write(mode, () => database.run("BEGIN IMMEDIATE")),
    // After an error such as a full disk SQLite rolls back by itself.
    isInTransaction: () => database.inTransaction,
    toStoreError: error => sqliteStoreError(error, path),
  }
}

/**
 * When a connection writes, and what its commits wait for. A turn of the event loop has one write, so that all that has arrived is handled before the
 * next: once a second a server writes six buffers.
 */
class Commits {
  readonly #database: Database
  readonly #lockWait: LockWait
  #mode: CommitMode = "synced"
  /** Resolves when the turn of the last write is over; null: it is. */
  #turn: Promise<void> | null = null

  constructor(database: Database, lockWait: LockWait) {
    this.#database = database
    this.#lockWait = lockWait
  }

  /** Begins to write in a turn without another write. */
  write<T>(mode: CommitMode, begin: () => T): T | Promise<T> {
    return this.#turn === null ? this.#begin(mode, begin) : this.#turn.then(() => this.#begin(mode, begin))
  }

  /** Sets what the next commit waits for, if the one before waited for something else. */
  waitFor(mode: CommitMode): void {
    if (mode !== this.#mode) this.#database.run(`PRAGMA synchronous = ${SYNCHRONOUS[mode]}`)
    this.#mode = mode
  }

  #begin<T>(mode: CommitMode, begin: () => T): T | Promise<T> {
    this.#turn = yieldThread().then(() => {
      this.#turn = null
    })
    this.waitFor(mode)
    return this.#lockWait.write(begin)
  }
}

/**
 * FULL: an acknowledged commit is on the disk even if the power fails, which a revocation and a lease of units promise. It costs one fsync a commit
 * (0.4 ms here and 4 ms beside neighbours, 0.03 ms with NORMAL), for which the whole process waits.
 */
const SYNCHRONOUS: { readonly [M in CommitMode]: string } = { synced: "FULL", unsynced: "NORMAL" }

/**
 * The write-ahead log grows while a backup or an export reads the database, and is used again from its start afterwards. What is above this is
 * then given back to the disk. It is four times what it has otherwise.
 */
const LOG_BYTES_KEPT_MAX = 16_777_216

function configure(database: Database, path: string): void {
  database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  // Before anything is written, so that a file of another program stays as it is, and before any SQL of the file could run.
  requireOwnSchema(database, path)
  switchToWal(database)
  database.run(`PRAGMA synchronous = ${SYNCHRONOUS.synced}`)
  database.run(`PRAGMA journal_size_limit = ${LOG_BYTES_KEPT_MAX}`)
  database.run("PRAGMA foreign_keys = ON")
  // Overwrites deleted rows in their pages, such as the key of a deleted job. It needs no further write.
  database.run("PRAGMA secure_delete = FAST")
}

/**
 * Two processes that switch a new file at the same moment get SQLITE_BUSY at once, whatever the busy time-out (13 of 30 new files
 * opened by four processes). Beginning a write transaction does wait for the other process.
 */
function switchToWal(database: Database): void {
  for (let attempt = 1; ; attempt++) {
    try {
      return void database.run("PRAGMA journal_mode = WAL")
    } catch (error) {
      if (!(error instanceof SQLiteError) || error.code !== "SQLITE_BUSY" || attempt === WAL_ATTEMPTS_MAX) throw error
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

/** How many prepared statements are cached. The code has fewer, so each is prepared once. */
const PREPARED_MAX = 256

/** The prepared statements of one connection, bounded. */
class StatementCache {
  readonly #prepared: LRUCache<string, Statement>
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
    this.#prepared = new LRUCache({ max: PREPARED_MAX, dispose: statement => statement.finalize() })
  }

  /** All rows of the result. */
  all<Row>(sql: string, params: readonly SqlValue[]): readonly Row[] {
    // The caller states the row type beside its statement.
    return this.#prepare(sql).all(...storableParams(params)) as Row[]
  }

  /** The count of rows that the statement changed. */
  run(sql: string, params: readonly SqlValue[]): number {
    return this.#prepare(sql).run(...storableParams(params)).changes
  }

  /** Finalizes all prepared statements, so that the connection can be closed. */
  finalize(): void {
    this.#prepared.clear()
  }

  #prepare(sql: string): Statement {
    const cached = this.#prepared.get(sql)
    if (cached !== undefined) return cached
    const statement = this.#database.prepare(toSqliteParameters(sql))
    this.#prepared.set(sql, statement)
    return statement
  }
}

/**
 * SQLite takes `$2` as a name and numbers names in the order of appearance, so `$2, $1` would swap the values. `?2` means what
 * `$2` means in PostgreSQL. Fails on a second statement in the text, which SQLite would silently ignore.
 */
const toSqliteParameters = (sql: string): string => replaceParameters(sql, number => `?${number}`)
