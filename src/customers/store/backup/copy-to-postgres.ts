import { constants, Database } from "bun:sqlite"
import { pathToFileURL } from "node:url"
import { type ReservedSQL, SQL } from "bun"
import type { SqlValue } from "../core/store.ts"
import { postgresStoreError } from "../postgres/postgres-errors.ts"
import { redactedUrl, SESSION_PARAMETERS, validatePostgresUrl } from "../postgres/postgres-url.ts"
import { realPath, sqliteStoreError } from "../sqlite/database-file.ts"
import { acquireExclusiveLock } from "../sqlite/database-lock.ts"
import { SCHEMA_VERSION, withSqliteReader } from "../sqlite/sqlite-reader.ts"

/** What was moved of one table, and the SHA-256 of its rows in their order, the same on both sides. */
type CopiedTable = { readonly name: string; readonly rowsCount: number; readonly sha256: string }

/** What came of a move, or why there was none. */
export type StoreCopyResult =
  | { readonly kind: "moved"; readonly location: string; readonly tables: readonly CopiedTable[] }
  | { readonly kind: "no_database" }
  /** The file is of another version than this program; the first start of this one brings it up to date. */
  | { readonly kind: "other_version"; readonly head: number }
  /** Nothing is written into a database that holds anything. */
  | { readonly kind: "not_empty"; readonly table: string }
  /** What was read back is not what was written; nothing of it is kept. */
  | { readonly kind: "differs"; readonly table: string }

/** Is told how many of how many rows have been written or read back. */
type StoreCopyProgress = (done: number, total: number) => void

/** Tables whose rows are about the database that they stand in: which migrations ran, and which servers share it. */
const SKIPPED_TABLES: readonly string[] = ["migrations", "nodes"]
/** Tables that have a row before anything else has: counters that begin at zero. */
const COUNTER_TABLES: readonly string[] = ["change_head", "host_sightings_head"]

/** However long it takes, it waits no longer than this for a lock, and the server no longer for its next statement, in milliseconds. */
const COPY_SESSION_PARAMETERS = {
  statement_timeout: 0,
  lock_timeout: 60_000,
  idle_in_transaction_session_timeout: 60_000,
}

/** How much text is sent at once. */
const CHUNK_LENGTH = 256 * 1024

/** A table of the file: its columns, and by which its rows are in order. */
type TableLayout = { readonly name: string; readonly columns: readonly string[]; readonly key: readonly string[] }

/**
 * Copies all rows of the SQLite file at `path` into the PostgreSQL database at `url`, whose tables are up to date and empty, in one
 * transaction: all of it or nothing. Every row is read back, and compared by count and checksum, before that is made to last. The file
 * stays as it is; nobody may have it open meanwhile. Takes a bounded amount of memory however much there is. Rejects with a
 * `StoreError`.
 */
export async function copyToPostgres(
  path: string,
  url: string,
  told: StoreCopyProgress = () => undefined,
): Promise<StoreCopyResult> {
  const head = withSqliteReader(path, look => look.schemaVersion)
  if (head === null) return { kind: "no_database" }
  if (head !== SCHEMA_VERSION) return { kind: "other_version", head }
  const full = realPath(path)
  const letGo = acquireExclusiveLock(full)
  try {
    const from = openSource(full)
    try {
      return await connectAndCopy(from, url, told)
    } finally {
      from.close()
    }
  } catch (fault) {
    throw sqliteStoreError(postgresStoreError(fault, redactedUrl(url)), full)
  } finally {
    letGo()
  }
}

function openSource(path: string): Database {
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants
  const url = pathToFileURL(path)
  url.search = "?mode=ro"
  return new Database(url.href, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
}

async function connectAndCopy(from: Database, url: string, told: StoreCopyProgress): Promise<StoreCopyResult> {
  validatePostgresUrl(url)
  const client = new SQL(url, {
    adapter: "postgres",
    max: 1,
    connection: { application_name: "mailkind store copy", ...COPY_SESSION_PARAMETERS, ...SESSION_PARAMETERS },
  })
  try {
    const to = await client.reserve()
    try {
      return await copyInTransaction(from, to, redactedUrl(url), told)
    } finally {
      // The client waits for a connection that is not given back, and its wait alone keeps no process running.
      await to.release()
    }
  } finally {
    await client.close({ timeout: 1 })
  }
}

async function copyInTransaction(
  from: Database,
  to: ReservedSQL,
  place: string,
  told: StoreCopyProgress,
): Promise<StoreCopyResult> {
  await to.unsafe("BEGIN")
  const move = await copyTables(from, to, place, told).catch(async (fault: unknown) => {
    await to.unsafe("ROLLBACK").catch(() => undefined)
    throw fault
  })
  await to.unsafe(move.kind === "moved" ? "COMMIT" : "ROLLBACK")
  return move
}

async function copyTables(
  from: Database,
  to: ReservedSQL,
  location: string,
  told: StoreCopyProgress,
): Promise<StoreCopyResult> {
  const tables = readTableLayouts(from)
  // Whoever serves on this database waits until all of it is there.
  await to.unsafe(`LOCK TABLE ${tables.map(({ name }) => name).join(", ")} IN ACCESS EXCLUSIVE MODE`)
  for (const { name } of tables) {
    if (COUNTER_TABLES.includes(name)) await to.unsafe(`DELETE FROM ${name}`)
    else if ((await to.unsafe<unknown[]>(`SELECT 1 FROM ${name} LIMIT 1`)).length > 0)
      return { kind: "not_empty", table: name }
  }
  const counts = tables.map(({ name }) => Number(from.query(`SELECT COUNT(*) FROM ${name}`).values()[0]?.[0]))
  const total = 2 * counts.reduce((sum, count) => sum + count, 0)
  let done = 0
  const step = (rows: number): void => {
    done += rows
    told(done, total)
  }
  const written: CopiedTable[] = []
  for (const table of tables) written.push(await copyTable(from, to, table, step))
  for (const [at, table] of tables.entries()) {
    const sha256 = await readChecksum(to, table)
    if (written[at]?.sha256 !== sha256) return { kind: "differs", table: table.name }
    step(written[at].rowsCount)
  }
  return { kind: "moved", location, tables: written }
}

/** All tables whose rows move, in the order in which they were made: none refers to a later one. */
function readTableLayouts(from: Database): TableLayout[] {
  const names = from
    .query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
    .values()
    .flat()
    .map(String)
  return names
    .filter(name => !SKIPPED_TABLES.includes(name) && !name.startsWith("sqlite_"))
    .map(name => {
      const rows = from.query("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid").values(name)
      const keyed = rows.filter(([, pk]) => Number(pk) > 0).toSorted(([, a], [, b]) => Number(a) - Number(b))
      return { name, columns: rows.map(([column]) => String(column)), key: keyed.map(([column]) => String(column)) }
    })
}

const selectStatement = ({ name, columns, key }: TableLayout): string =>
  `SELECT ${columns.join(", ")} FROM ${name} ORDER BY ${key.join(", ")}`

/** Writes the rows in their order, and sums them up as they were sent. */
async function copyTable(
  from: Database,
  to: ReservedSQL,
  table: TableLayout,
  step: (rows: number) => void,
): Promise<CopiedTable> {
  const hash = new Bun.CryptoHasher("sha256")
  const writer = to
    .unsafe(`COPY ${table.name} (${table.columns.join(", ")}) FROM STDIN`)
    .writable()
    .getWriter()
  let rowsCount = 0
  try {
    for (const { text, count } of readChunks(from, table)) {
      hash.update(text)
      await writer.write(text)
      rowsCount += count
      step(count)
    }
    await writer.close()
  } catch (fault) {
    // Until the stream has ended the connection does nothing else.
    await writer.abort(fault).catch(() => undefined)
    throw fault
  }
  return { name: table.name, rowsCount, sha256: hash.digest("hex") }
}

type CopyChunk = { readonly text: string; readonly count: number }

/** The rows of a table in their order, as lines, so many at a time. */
function* readChunks(from: Database, table: TableLayout): Generator<CopyChunk> {
  let [text, count] = ["", 0]
  for (const row of from.query(selectStatement(table)).iterate()) {
    // The columns hold what `Cell` says: they are those that migrations have made.
    text += formatCopyLine(Object.values(row as Record<string, SqlValue>))
    count++
    if (text.length < CHUNK_LENGTH) continue
    yield { text, count }
    ;[text, count] = ["", 0]
  }
  yield { text, count }
}

/** The sum of the rows as they stand there, in the same order. */
async function readChecksum(to: ReservedSQL, table: TableLayout): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256")
  for await (const part of to.unsafe(`COPY (${selectStatement(table)}) TO STDOUT`).readable()) hash.update(part)
  return hash.digest("hex")
}

/** What PostgreSQL's text format of COPY writes for characters that would end a cell or a row (its manual, COPY, "Text Format"). */
const ESCAPES: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  "\\": "\\\\",
  // Text holds none there.
  "\0": "\uFFFD",
}

const ESCAPED_CHARACTERS = /[\b\t\n\v\f\r\\\0]/g

/** A row as one line of that format, in the one way in which PostgreSQL itself writes it. */
export const formatCopyLine = (row: readonly SqlValue[]): string => `${row.map(formatCopyValue).join("\t")}\n`

function formatCopyValue(cell: SqlValue): string {
  if (cell === null) return "\\N"
  if (typeof cell === "number") return String(cell)
  return typeof cell === "string"
    ? cell.replace(ESCAPED_CHARACTERS, found => ESCAPES[found] ?? found)
    : `\\\\x${Buffer.from(cell).toString("hex")}`
}
