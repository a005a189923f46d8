import { constants, Database } from "bun:sqlite"
import { statSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { StoreError } from "../core/store-error.ts"
import { MIGRATIONS } from "../migrations/migrations.ts"
import { sqliteStoreError } from "./database-file.ts"

/** How long a look waits for a process that recovers the database, or checkpoints it. */
const BUSY_TIMEOUT_MS = 5000

/** The number of the latest migration that this version knows. */
export const SCHEMA_VERSION: number = MIGRATIONS.at(-1)?.number ?? 0

/** A database that is only read. What it holds may be of an older or a newer version: tables may be missing. */
export type SqliteReader = {
  /** All rows of the answer, as `Row`. Throws a `StoreError`. */
  readonly all: <Row>(sql: string) => readonly Row[]
  readonly hasTable: (name: string) => boolean
  /** The number of its latest migration. */
  readonly schemaVersion: number
  /** Octets of the file, and of the log beside it. */
  readonly bytes: number
  readonly walBytes: number
}

/**
 * Opens a database file of ours for reading alone, has `work` look into it, and closes it. Nothing is written, but for the
 * index of a log that a process left behind. Null: there is no file. Throws a `StoreError`: it is none of ours, damaged,
 * or cannot be read.
 */
export function withSqliteReader<T>(path: string, work: (look: SqliteReader) => T): T | null {
  try {
    const bytes = fileBytes(path)
    if (bytes === null) return null
    const walBytes = fileBytes(`${path}-wal`)
    const found = readOnce(path, bytes, walBytes, work)
    // A server that has started meanwhile may have written what was taken for still.
    const walBytesNow = walBytes === null ? fileBytes(`${path}-wal`) : null
    return walBytesNow === null ? found() : readOnce(path, bytes, walBytesNow, work)()
  } catch (fault) {
    throw sqliteStoreError(fault, path)
  }
}

/** What came of a look, as a function that gives it or throws what it threw. */
function readOnce<T>(path: string, bytes: number, walBytes: number | null, work: (look: SqliteReader) => T): () => T {
  try {
    const database = openReadOnly(path, walBytes !== null)
    try {
      const found = work(createReader(database, path, bytes, walBytes ?? 0))
      return () => found
    } finally {
      database.close()
    }
  } catch (fault) {
    return () => {
      throw fault
    }
  }
}

/** Where no log is, nobody has the database open: then it can be read on a medium that takes no index of a log. */
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
      return statement.all() as Row[] // a statement stands beside the row type it is asked with
    } finally {
      statement.finalize()
    }
  }
  const tables = new Set(
    all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => name),
  )
  if (!tables.has("migrations"))
    throw new StoreError("foreign_database", path, `it has ${tables.size} tables and no table of migrations`)
  const [row] = all<{ head: number }>("SELECT COALESCE(MAX(number), 0) AS head FROM migrations")
  return { all, hasTable: name => tables.has(name), schemaVersion: row?.head ?? 0, bytes, walBytes }
}

/** Null: there is no such file. */
function fileBytes(path: string): number | null {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? null
  } catch (fault) {
    const code = fault instanceof Error && "code" in fault ? String(fault.code) : "unknown"
    throw new StoreError("unwritable", path, code, fault)
  }
}

/** How many faults one look at the whole tells of. */
const INTEGRITY_ERRORS_MAX = 10

/** What is wrong with the pages of a database, in SQLite's words, which name tables and no contents; empty: nothing. */
export function integrityErrors({ all }: SqliteReader): readonly string[] {
  const found = all<{ integrity_check: string }>(`PRAGMA integrity_check(${INTEGRITY_ERRORS_MAX})`)
  const lines = found.flatMap(({ integrity_check: says }) => says.split("\n"))
  // Of several faults of one database, the first line only says which database that is.
  return lines.filter(line => line !== "ok" && !line.startsWith("***"))
}

/** How many rows a table has; 0 where there is no such table. */
export const countRows = (look: SqliteReader, table: "accounts" | "keys"): number =>
  look.hasTable(table) ? (look.all<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`)[0]?.count ?? 0) : 0
