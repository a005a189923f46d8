import { constants, Database } from "bun:sqlite"
import { statSync } from "node:fs"
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"
import { StoreError } from "../core/store-error.ts"
import { errnoOf, growthErrorAt, sqliteStoreError } from "./database-file.ts"
import { readOwnSchemaVersion, readSchemaObjects, restrictSchema, schemaDifference } from "./own-schema.ts"

/** How long a reader waits for a process that recovers or checkpoints the database. */
const BUSY_TIMEOUT_MS = 5000

/** A database that is opened for reading only. It may be of an older or a newer version, so tables may be missing. */
export type SqliteReader = {
  /** All rows of the result. Throws a `StoreError`. */
  readonly all: <Row>(sql: string) => readonly Row[]
  readonly hasTable: (name: string) => boolean
  /** The number of its latest migration. */
  readonly schemaVersion: number
  /**
   * What differs from the tables, indexes, triggers and views that our migrations create; null when nothing does, or for a newer version.
   * If something does, a statement may run SQL of the file.
   */
  readonly schemaDifference: string | null
  /** The size of the database file. */
  readonly bytes: number
  /** The size of the write-ahead log beside it; 0 when there is none. */
  readonly walBytes: number
}

/**
 * Opens a database of ours for reading only, calls `work` with it, and closes it. It writes nothing but the index of a write-ahead
 * log that another process left behind. Returns null when there is no file. Throws a `StoreError` when the file is not a database
 * of ours, is damaged, or cannot be read.
 */
export function withSqliteReader<T>(path: string, work: (reader: SqliteReader) => T): T | null {
  try {
    const bytes = fileBytes(path)
    if (bytes === null) return null
    const walBytes = fileBytes(`${path}-wal`)
    const result = readOnce(path, bytes, walBytes, work)
    // A server that started meanwhile may have written to the database while it was read as immutable.
    const walBytesNow = walBytes === null ? fileBytes(`${path}-wal`) : null
    return walBytesNow === null ? result() : readOnce(path, bytes, walBytesNow, work)()
  } catch (error) {
    throw sqliteStoreError(error, path)
  }
}

/** Runs the work once. Returns a function that returns its result or throws its error, so that the caller can discard either. */
function readOnce<T>(path: string, bytes: number, walBytes: number | null, work: (reader: SqliteReader) => T): () => T {
  try {
    const database = openReadOnly(path, walBytes !== null)
    try {
      const result = work(createReader(database, path, bytes, walBytes ?? 0))
      return () => result
    } finally {
      database.close()
    }
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/** Without a write-ahead log no process has the database open. It is then read as immutable, also from a read-only medium. */
function openReadOnly(path: string, hasLog: boolean): Database {
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants
  const url = pathToFileURL(path)
  url.search = hasLog ? "?mode=ro" : "?mode=ro&immutable=1"
  const database = new Database(url.href, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
  database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  return database
}

function createReader(database: Database, path: string, bytes: number, walBytes: number): SqliteReader {
  const all = <Row>(sql: string) => {
    const statement = database.prepare(sql)
    try {
      return statement.all() as Row[] // the caller states the row type beside its statement
    } finally {
      statement.finalize()
    }
  }
  restrictSchema(database)
  const objects = readSchemaObjects(database)
  const schemaVersion = readOwnSchemaVersion(database, objects, path)
  const tables = new Set(objects.filter(({ type }) => type === "table").map(({ name }) => name))
  return {
    ...{ all, schemaVersion, bytes, walBytes },
    schemaDifference: schemaDifference(objects, schemaVersion),
    hasTable: name => tables.has(name),
  }
}

/** How long a trial waits for who writes. A server, a command and a backup write for less. */
const TRIAL_TIMEOUT_MS = 2000

/**
 * Why nothing can be written to a database that some process has open: another one has it locked, or its disk is full. Null: it can, no process
 * has it open, or this user may not try. It writes nothing to the database while a reader of this process has it open, so that it is not the last.
 */
export function writeFailure(path: string): StoreError | null {
  if (fileBytes(`${path}-wal`) === null) return null
  const noRoom = growthErrorAt(dirname(path))
  if (noRoom !== null) return new StoreError("full", path, noRoom)
  let database: Database | undefined
  try {
    database = new Database(path, { readwrite: true, create: false })
    database.run(`PRAGMA busy_timeout = ${TRIAL_TIMEOUT_MS}`)
    database.run("BEGIN IMMEDIATE")
    database.run("ROLLBACK")
    return null
  } catch (error) {
    const failure = sqliteStoreError(error, path)
    return failure instanceof StoreError && failure.code === "busy" ? failure : null
  } finally {
    database?.close()
  }
}

/** Null when the file does not exist. */
function fileBytes(path: string): number | null {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? null
  } catch (error) {
    throw new StoreError("unwritable", path, errnoOf(error), error)
  }
}

/** How many errors one integrity check reports. */
const INTEGRITY_ERRORS_MAX = 10

/** The errors of an integrity check in SQLite's words, which name tables but no contents. Empty when there are none. */
export function integrityErrors({ all }: SqliteReader): readonly string[] {
  const rows = all<{ integrity_check: string }>(`PRAGMA integrity_check(${INTEGRITY_ERRORS_MAX})`)
  const lines = rows.flatMap(({ integrity_check: report }) => report.split("\n"))
  // Before several errors of one database, a line names only the database.
  return lines.filter(line => line !== "ok" && !line.startsWith("***"))
}

/** The count of rows of a table; 0 when the table does not exist. */
export const countRows = (reader: SqliteReader, table: "accounts" | "keys"): number =>
  reader.hasTable(table) ? (reader.all<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`)[0]?.count ?? 0) : 0
