import { constants, Database } from "bun:sqlite"
import { pathToFileURL } from "node:url"
import { type ReservedSQL, SQL } from "bun"
import { copyLine } from "./copy-text.ts"
import { holdAlone } from "./hold.ts"
import { KNOWN_HEAD, lookInto } from "./look.ts"
import { postgresFault } from "./postgres-fault.ts"
import { BEGUN_WITH, placeOf, refuseUnusable } from "./postgres-url.ts"
import { faultOf, truePath } from "./sqlite-file.ts"
import type { Cell } from "./store.ts"

/** What was moved of one table, and the SHA-256 of its rows in their order, the same on both sides. */
export type MovedTable = { readonly name: string; readonly rowsCount: number; readonly sha256: string }

/** What came of a move, or why there was none. */
export type Move =
  | { readonly kind: "moved"; readonly place: string; readonly tables: readonly MovedTable[] }
  | { readonly kind: "no_database" }
  /** The file is of another version than this program; the first start of this one brings it up to date. */
  | { readonly kind: "other_version"; readonly head: number }
  /** Nothing is written into a database that holds anything. */
  | { readonly kind: "not_empty"; readonly table: string }
  /** What was read back is not what was written; nothing of it is kept. */
  | { readonly kind: "differs"; readonly table: string }

/** Is told how many of how many rows have been written or read back. */
export type MoveTold = (done: number, total: number) => void

/** Tables whose rows are about the database that they stand in: which migrations ran, and which servers share it. */
const OWN: readonly string[] = ["migrations", "nodes"]
/** Tables that have a row before anything else has: counters that begin at zero. */
const BEGUN: readonly string[] = ["change_head", "host_sightings_head"]

/** However long it takes, it waits no longer than this for a lock, and the server no longer for its next statement, in milliseconds. */
const SESSION = { statement_timeout: 0, lock_timeout: 60_000, idle_in_transaction_session_timeout: 60_000 }

/** How much text is sent at once. */
const CHUNK_LENGTH = 256 * 1024

/** A table of the file: its columns, and by which its rows are in order. */
type Table = { readonly name: string; readonly columns: readonly string[]; readonly key: readonly string[] }

/**
 * Copies all rows of the SQLite file at `path` into the PostgreSQL database at `url`, whose tables are up to date and empty, in one
 * transaction: all of it or nothing. Every row is read back, and compared by count and checksum, before that is made to last. The file
 * stays as it is; nobody may have it open meanwhile. Takes a bounded amount of memory however much there is. Rejects with a
 * `StoreFault`.
 */
export async function moveToPostgres(path: string, url: string, told: MoveTold = () => undefined): Promise<Move> {
  const head = lookInto(path, look => look.head)
  if (head === null) return { kind: "no_database" }
  if (head !== KNOWN_HEAD) return { kind: "other_version", head }
  const full = truePath(path)
  const letGo = holdAlone(full)
  try {
    const from = openToRead(full)
    try {
      return await moved(from, url, told)
    } finally {
      from.close()
    }
  } catch (fault) {
    throw faultOf(postgresFault(fault, placeOf(url)), full)
  } finally {
    letGo()
  }
}

function openToRead(path: string): Database {
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants
  const url = pathToFileURL(path)
  url.search = "?mode=ro"
  return new Database(url.href, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
}

async function moved(from: Database, url: string, told: MoveTold): Promise<Move> {
  refuseUnusable(url)
  const client = new SQL(url, {
    adapter: "postgres",
    max: 1,
    connection: { application_name: "mailkind store copy", ...SESSION, ...BEGUN_WITH },
  })
  try {
    const to = await client.reserve()
    try {
      return await movedWhole(from, to, placeOf(url), told)
    } finally {
      // The client waits for a connection that is not given back, and its wait alone keeps no process running.
      await to.release()
    }
  } finally {
    await client.close({ timeout: 1 })
  }
}

async function movedWhole(from: Database, to: ReservedSQL, place: string, told: MoveTold): Promise<Move> {
  await to.unsafe("BEGIN")
  const move = await movedIn(from, to, place, told).catch(async (fault: unknown) => {
    await to.unsafe("ROLLBACK").catch(() => undefined)
    throw fault
  })
  await to.unsafe(move.kind === "moved" ? "COMMIT" : "ROLLBACK")
  return move
}

async function movedIn(from: Database, to: ReservedSQL, place: string, told: MoveTold): Promise<Move> {
  const tables = tablesIn(from)
  // Whoever serves on this database waits until all of it is there.
  await to.unsafe(`LOCK TABLE ${tables.map(({ name }) => name).join(", ")} IN ACCESS EXCLUSIVE MODE`)
  for (const { name } of tables) {
    if (BEGUN.includes(name)) await to.unsafe(`DELETE FROM ${name}`)
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
  const written: MovedTable[] = []
  for (const table of tables) written.push(await writeTable(from, to, table, step))
  for (const [at, table] of tables.entries()) {
    const sha256 = await readBack(to, table)
    if (written[at]?.sha256 !== sha256) return { kind: "differs", table: table.name }
    step(written[at].rowsCount)
  }
  return { kind: "moved", place, tables: written }
}

/** All tables whose rows move, in the order in which they were made: none refers to a later one. */
function tablesIn(from: Database): Table[] {
  const names = from
    .query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
    .values()
    .flat()
    .map(String)
  return names
    .filter(name => !OWN.includes(name) && !name.startsWith("sqlite_"))
    .map(name => {
      const rows = from.query("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid").values(name)
      const keyed = rows.filter(([, pk]) => Number(pk) > 0).toSorted(([, a], [, b]) => Number(a) - Number(b))
      return { name, columns: rows.map(([column]) => String(column)), key: keyed.map(([column]) => String(column)) }
    })
}

const selection = ({ name, columns, key }: Table): string =>
  `SELECT ${columns.join(", ")} FROM ${name} ORDER BY ${key.join(", ")}`

/** Writes the rows in their order, and sums them up as they were sent. */
async function writeTable(
  from: Database,
  to: ReservedSQL,
  table: Table,
  step: (rows: number) => void,
): Promise<MovedTable> {
  const hash = new Bun.CryptoHasher("sha256")
  const writer = to
    .unsafe(`COPY ${table.name} (${table.columns.join(", ")}) FROM STDIN`)
    .writable()
    .getWriter()
  let rowsCount = 0
  try {
    for (const { text, count } of chunksOf(from, table)) {
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

type Chunk = { readonly text: string; readonly count: number }

/** The rows of a table in their order, as lines, so many at a time. */
function* chunksOf(from: Database, table: Table): Generator<Chunk> {
  let [text, count] = ["", 0]
  for (const row of from.query(selection(table)).iterate()) {
    // The columns hold what `Cell` says: they are those that migrations have made.
    text += copyLine(Object.values(row as Record<string, Cell>))
    count++
    if (text.length < CHUNK_LENGTH) continue
    yield { text, count }
    ;[text, count] = ["", 0]
  }
  yield { text, count }
}

/** The sum of the rows as they stand there, in the same order. */
async function readBack(to: ReservedSQL, table: Table): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256")
  for await (const part of to.unsafe(`COPY (${selection(table)}) TO STDOUT`).readable()) hash.update(part)
  return hash.digest("hex")
}
