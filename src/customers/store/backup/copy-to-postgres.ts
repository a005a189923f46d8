import { constants, Database } from "bun:sqlite"
import { pathToFileURL } from "node:url"
import type { ReservedSQL } from "bun"
import { type SqlValue, storableText } from "../core/store.ts"
import { SCHEMA_VERSION } from "../migrations/migrations.ts"
import { postgresStoreError } from "../postgres/postgres-errors.ts"
import { redactedUrl, SESSION_PARAMETERS, validatePostgresUrl } from "../postgres/postgres-url.ts"
import { realPath, sqliteStoreError } from "../sqlite/database-file.ts"
import { acquireExclusiveLock } from "../sqlite/database-lock.ts"
import { isAddedTable, requireOwnSchema, withNewDatabase } from "../sqlite/own-schema.ts"
import { withSqliteReader } from "../sqlite/sqlite-reader.ts"

/** The rows that were copied of one table, and their SHA-256 in the order of the primary key, equal on both sides. */
type CopiedTable = {
  readonly name: string
  readonly rowsCount: number
  /** How many values were changed to ones that PostgreSQL takes: a fraction was rounded, or NUL became U+FFFD in a text. */
  readonly repairedCount: number
  readonly sha256: string
}

/** The result of a copy, or why nothing was copied. */
export type StoreCopyResult =
  | { readonly kind: "moved"; readonly location: string; readonly tables: readonly CopiedTable[] }
  | { readonly kind: "no_database" }
  /** The file has another schema version; the first start of this version migrates it. */
  | { readonly kind: "other_version"; readonly schemaVersion: number }
  /** The target already contains rows. */
  | { readonly kind: "not_empty"; readonly table: string }
  /** A value has no form in its PostgreSQL column. `row` is its rowid in the file; the copy was rolled back. */
  | {
      readonly kind: "unfit_value"
      readonly table: string
      readonly column: string
      readonly row: number
      readonly found: string
    }
  /** PostgreSQL refuses rows, for example because two have the same key; the copy was rolled back. */
  | { readonly kind: "refused_rows"; readonly table: string; readonly reason: string }
  /** The rows that were read back differ from those written; the copy was rolled back. */
  | { readonly kind: "differs"; readonly table: string }

/** Ends a copy inside its transaction. */
class CopyEnd extends Error {
  override readonly name = "CopyEnd"
  readonly result: Exclude<StoreCopyResult, { readonly kind: "moved" }>

  constructor(result: CopyEnd["result"]) {
    super(result.kind)
    this.result = result
  }
}

/** Called with how many of all rows have been written or read back. */
type StoreCopyProgress = (done: number, total: number) => void

/** Tables whose rows are about their own database: which migrations ran, and which servers share it. */
const SKIPPED_TABLES: readonly string[] = ["migrations", "nodes"]
/** Tables with one row from the start: counters at zero, the mark of a folder, and a time. */
const COUNTER_TABLES: readonly string[] = ["change_head", "host_sightings_head", "jobs_folder", "confirmed_time"]

/** A statement may take any time, a lock or a pause between statements may not. In milliseconds. */
const COPY_SESSION_PARAMETERS = {
  statement_timeout: 0,
  lock_timeout: 60_000,
  idle_in_transaction_session_timeout: 60_000,
}

/** How many characters are sent at once. */
const CHUNK_LENGTH = 256 * 1024

/** The types of our columns. */
export type ColumnType = "BIGINT" | "TEXT"

/** A table of ours: its columns and their types, and its primary key, which orders the rows. */
type TableLayout = {
  readonly name: string
  readonly columns: readonly string[]
  readonly types: readonly ColumnType[]
  readonly key: readonly string[]
}

/**
 * Copies all rows of the SQLite file at `path` to the PostgreSQL database at `url`, whose tables must be migrated and empty, in one
 * transaction. Before the commit every row is read back and compared by count and checksum. The file is locked exclusively and stays
 * unchanged. Memory is bounded, whatever the size. No SQL and no name of the file reaches PostgreSQL. Rejects with a `StoreError`,
 * also when the file has tables, indexes, triggers or views other than ours.
 */
export async function copyToPostgres(
  path: string,
  url: string,
  onProgress: StoreCopyProgress = () => undefined,
): Promise<StoreCopyResult> {
  const schemaVersion = withSqliteReader(path, reader => reader.schemaVersion)
  if (schemaVersion === null) return { kind: "no_database" }
  if (schemaVersion !== SCHEMA_VERSION) return { kind: "other_version", schemaVersion }
  const file = realPath(path)
  const releaseLock = acquireExclusiveLock(file)
  try {
    const source = openSource(file)
    try {
      requireOwnSchema(source, file)
      return await connectAndCopy(source, url, onProgress)
    } finally {
      source.close()
    }
  } catch (error) {
    throw sqliteStoreError(postgresStoreError(error, redactedUrl(url)), file)
  } finally {
    releaseLock()
  }
}

function openSource(path: string): Database {
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants
  const url = pathToFileURL(path)
  url.search = "?mode=ro"
  return new Database(url.href, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
}

async function connectAndCopy(from: Database, url: string, onProgress: StoreCopyProgress): Promise<StoreCopyResult> {
  validatePostgresUrl(url)
  const client = new Bun.SQL(url, {
    adapter: "postgres",
    max: 1,
    connection: { application_name: "mailkind store copy", ...COPY_SESSION_PARAMETERS, ...SESSION_PARAMETERS },
  })
  try {
    const to = await client.reserve()
    try {
      return await copyInTransaction(from, to, redactedUrl(url), onProgress)
    } finally {
      // The client's close waits for a connection that is not released, and that wait does not keep the process alive.
      await to.release()
    }
  } finally {
    await client.close({ timeout: 1 })
  }
}

async function copyInTransaction(
  from: Database,
  to: ReservedSQL,
  location: string,
  onProgress: StoreCopyProgress,
): Promise<StoreCopyResult> {
  await to.unsafe("BEGIN")
  const result = await copyTables(from, to, location, onProgress).catch(async (error: unknown) => {
    if (error instanceof CopyEnd) return error.result
    await to.unsafe("ROLLBACK").catch(() => undefined)
    throw error
  })
  await to.unsafe(result.kind === "moved" ? "COMMIT" : "ROLLBACK")
  return result
}

async function copyTables(
  from: Database,
  to: ReservedSQL,
  location: string,
  onProgress: StoreCopyProgress,
): Promise<StoreCopyResult> {
  const tables = withNewDatabase(SCHEMA_VERSION, readTableLayouts)
  // Servers on this database wait until everything is there.
  await to.unsafe(`LOCK TABLE ${tables.map(({ name }) => quote(name)).join(", ")} IN ACCESS EXCLUSIVE MODE`)
  for (const { name } of tables) {
    if (COUNTER_TABLES.includes(name)) await to.unsafe(`DELETE FROM ${quote(name)}`)
    else if ((await to.unsafe<unknown[]>(`SELECT 1 FROM ${quote(name)} LIMIT 1`)).length > 0)
      return { kind: "not_empty", table: name }
  }
  const counts = tables.map(({ name }) => Number(from.query(`SELECT COUNT(*) FROM ${quote(name)}`).values()[0]?.[0]))
  const total = 2 * counts.reduce((sum, count) => sum + count, 0)
  let done = 0
  const addDone = (rows: number): void => {
    done += rows
    onProgress(done, total)
  }
  const copied: CopiedTable[] = []
  for (const table of tables) copied.push(await copyTable(from, to, table, addDone))
  for (const [index, table] of tables.entries()) {
    const sha256 = await readChecksum(to, table)
    if (copied[index]?.sha256 !== sha256) return { kind: "differs", table: table.name }
    addDone(copied[index].rowsCount)
  }
  return { kind: "moved", location, tables: copied }
}

/** The tables that our migrations created, in the order of their creation, so that none refers to a later one. */
export function readTableLayouts(from: Database): TableLayout[] {
  const names = from
    .query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
    .values()
    .flat()
    .map(String)
  return names
    .filter(name => !SKIPPED_TABLES.includes(name) && !isAddedTable(name))
    .map(name => {
      const rows = from.query("SELECT name, pk, type FROM pragma_table_info(?) ORDER BY cid").values(name)
      const keyColumns = rows.filter(([, pk]) => Number(pk) > 0).toSorted(([, a], [, b]) => Number(a) - Number(b))
      return {
        name,
        columns: rows.map(([column]) => String(column)),
        types: rows.map(([, , type]) => type as ColumnType), // a test walks them
        key: keyColumns.map(([column]) => String(column)),
      }
    })
}

const selectStatement = ({ name, columns, key }: TableLayout, rowid = ""): string =>
  `SELECT ${rowid}${quoteAll(columns)} FROM ${quote(name)} ORDER BY ${quoteAll(key)}`

/** A name of a table or a column, as both engines quote it. */
const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`

const quoteAll = (names: readonly string[]): string => names.map(quote).join(", ")

/** Writes the rows in the order of their key, and hashes them as they were sent. */
async function copyTable(
  from: Database,
  to: ReservedSQL,
  table: TableLayout,
  addDone: (rows: number) => void,
): Promise<CopiedTable> {
  const hash = new Bun.CryptoHasher("sha256")
  const writer = to
    .unsafe(`COPY ${quote(table.name)} (${quoteAll(table.columns)}) FROM STDIN`)
    .writable()
    .getWriter()
  let [rowsCount, repairedCount] = [0, 0]
  try {
    for (const { text, count, repaired } of readChunks(from, table)) {
      hash.update(text)
      await writer.write(text)
      rowsCount += count
      repairedCount += repaired
      addDone(count)
    }
    await writer.close()
  } catch (error) {
    // The connection takes no other statement until the stream has ended.
    await writer.abort(error).catch(() => undefined)
    throw isRefusedRow(error)
      ? new CopyEnd({ kind: "refused_rows", table: table.name, reason: String(postgresStoreError(error, "")) })
      : error
  }
  return { name: table.name, rowsCount, repairedCount, sha256: hash.digest("hex") }
}

/** Whether PostgreSQL refuses a value (SQLSTATE class 22) or a row (class 23). */
const isRefusedRow = (error: unknown): boolean =>
  error instanceof Bun.SQL.PostgresError && /^2[23]/.test(error.errno ?? "")

type CopyChunk = { readonly text: string; readonly count: number; readonly repaired: number }

/** The rows of a table in the order of their key, as chunks of lines. */
function* readChunks(from: Database, table: TableLayout): Generator<CopyChunk> {
  let [text, count, repaired] = ["", 0, 0]
  for (const row of from.query(selectStatement(table, "rowid, ")).iterate()) {
    const [rowid, ...found] = Object.values(row as Record<string, StoredValue>)
    const copied = found.map((value, index) => {
      const fit = copiedValue(value, table.types[index] ?? "TEXT")
      if (fit !== undefined) return fit
      const [column = "", type] = [table.columns[index], typeof value === "object" ? "bytes" : typeof value]
      throw new CopyEnd({ kind: "unfit_value", table: table.name, column, row: Number(rowid), found: type })
    })
    text += formatCopyLine(copied)
    repaired += copied.filter((value, index) => value !== found[index]).length
    count++
    if (text.length < CHUNK_LENGTH) continue
    yield { text, count, repaired }
    ;[text, count, repaired] = ["", 0, 0]
  }
  yield { text, count, repaired }
}

/** What a column of the file can hold, whatever its type. */
type StoredValue = SqlValue | Uint8Array

/**
 * The value as a PostgreSQL column of the type takes it; undefined: there is none. SQLite stores any value in any column. Of whole
 * numbers only safe integers are ours, and of fractions only those that round to one.
 */
export function copiedValue(value: StoredValue, type: ColumnType): SqlValue | undefined {
  if (value === null) return null
  if (type === "TEXT") return typeof value === "string" ? storableText(value) : undefined
  const rounded = typeof value === "number" ? Math.round(value) : Number.NaN
  return Number.isSafeInteger(rounded) ? rounded : undefined
}

/** The SHA-256 of the rows as PostgreSQL returns them, in the same order. */
async function readChecksum(to: ReservedSQL, table: TableLayout): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256")
  for await (const part of to.unsafe(`COPY (${selectStatement(table)}) TO STDOUT`).readable()) hash.update(part)
  return hash.digest("hex")
}

/** The escapes of COPY's text format for characters that would end a value or a row (PostgreSQL manual, COPY, "Text Format"). */
const ESCAPES: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  "\\": "\\\\",
}

const ESCAPED_CHARACTERS = /[\b\t\n\v\f\r\\]/g

/** A row as one line of COPY's text format, exactly as PostgreSQL writes it. */
export const formatCopyLine = (row: readonly SqlValue[]): string => `${row.map(formatCopyValue).join("\t")}\n`

function formatCopyValue(value: SqlValue): string {
  if (value === null) return "\\N"
  return String(value).replace(ESCAPED_CHARACTERS, character => ESCAPES[character] ?? character)
}
