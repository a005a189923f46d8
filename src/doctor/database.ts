import type { StoredTime } from "../base/trusted-clock.ts"
import { listenRemedy, STORE_ERRORS, StoreError } from "../customers/store/core/store-error.ts"
import { SCHEMA_VERSION } from "../customers/store/migrations/migrations.ts"
import { processConnectionsMax } from "../customers/store/postgres/clients.ts"
import type { PostgresStatus } from "../customers/store/postgres/postgres-status.ts"
import {
  countRows,
  integrityErrors,
  type SqliteReader,
  withSqliteReader,
  writeFailure,
} from "../customers/store/sqlite/sqlite-reader.ts"
import { type DiagnosticResult, failed, ok, skipped, warning } from "./diagnostics.ts"
import type { StoredFolder } from "./jobs.ts"

/** SQLite checkpoints its write-ahead log at about 4 MB, and beside Litestream at 41 MB. A much longer one means that some reader never ends. */
const WAL_BYTES_MAX = 64 * 1024 * 1024

/** How long a mail may wait without a warning. Greylisting delays mails by a few minutes. */
export const MAIL_WAIT_MS_MAX = 3_600_000

/** What the host shows of an error with these codes at a path; null: nothing. */
type HostState = (codes: string, path: string) => string | null

/**
 * Reads every page of the database, which takes about one second per 500 MB and blocks the process, and tries whether it can be written while
 * a server has it open.
 */
export function diagnoseSqlite(path: string, hostState: HostState = () => null): DiagnosticResult {
  return withSqlite(
    path,
    database =>
      schemaFailure(database) ??
      integrityFailure(database) ??
      writingFailure(path, hostState) ??
      schemaAndSize(database),
  )
}

function writingFailure(path: string, hostState: HostState): DiagnosticResult | null {
  const failure = writeFailure(path)
  if (failure === null) return null
  const seen = hostState(failure.code, path)
  return failed(`${failure.message}${seen === null ? "" : `; ${seen}`}.`, failure.remedy)
}

/** A doctor beside the server cannot see those for sign-ins: they are in its memory. */
const NO_MAIL_WAITS = "No mail waits in the outbox. It holds none for sign-ins: see the row `smtp`."

/** Checks how long mails wait in the outbox. */
export function diagnoseSqliteOutbox(path: string, nowMs: number, hasServer: boolean): DiagnosticResult {
  return withSqlite(path, database => {
    if (!database.hasTable("outbox")) return skipped("The database has no outbox yet.")
    const [waiting] = database.all<{ count: number; since: number | null }>(
      "SELECT COUNT(*) AS count, MIN(written_at_ms) AS since FROM outbox WHERE ended_at_ms IS NULL",
    )
    if (waiting === undefined || waiting.since === null) return ok(NO_MAIL_WAITS)
    const minutes = Math.max(0, Math.floor((nowMs - waiting.since) / 60_000))
    const seen = `${waiting.count} ${waiting.count === 1 ? "mail waits" : "mails wait"}, the oldest for ${minutes} minutes.`
    if (!hasServer) return warning(seen, "Set MAILKIND_SMTP_URL. Without it, no mail is sent.")
    if (nowMs - waiting.since <= MAIL_WAIT_MS_MAX) return ok(seen)
    return warning(seen, "See the row `smtp` here, and the server's log lines about mails.")
  })
}

/** When the database was last written according to its rows; `null` if they do not tell or cannot be read. */
export const sqliteLastWrittenAtMs = (path: string): number | null =>
  readOrNull(path, database => {
    const times = [...database.all<{ at: number | null }>("SELECT MAX(ran_at_ms) AS at FROM migrations")]
    if (database.hasTable("changes"))
      times.push(...database.all<{ at: number | null }>("SELECT MAX(at_ms) AS at FROM changes"))
    return Math.max(...times.map(({ at }) => at ?? 0))
  })

/** The time that servers on the database trust; `null`: none is stored, or it cannot be read. */
export const sqliteTrustedTime = (path: string): StoredTime | null =>
  readOrNull(path, database => {
    if (!database.hasTable("confirmed_time")) return null
    const [row] = database.all<StoredTime>(
      `SELECT confirmed_at_ms AS "confirmedAtMs", held_ms AS "heldMs" FROM confirmed_time`,
    )
    return row ?? null
  })

/** What the database knows of the folder with the lists of jobs; `null` if there is no database, or it cannot be read. */
export const sqliteJobsFolder = (path: string): StoredFolder | null =>
  readOrNull(path, database => {
    const [row] = database.hasTable("jobs_folder") ? database.all<{ mark: string }>("SELECT mark FROM jobs_folder") : []
    return { mark: row?.mark ?? null, isShared: false }
  })

/** `null` if there is no database, or it cannot be read, which the diagnostic of the database reports. */
function readOrNull<T>(path: string, work: (database: SqliteReader) => T | null): T | null {
  try {
    return withSqliteReader(path, work)
  } catch (fault) {
    if (fault instanceof StoreError) return null
    throw fault
  }
}

function withSqlite(path: string, work: (database: SqliteReader) => DiagnosticResult): DiagnosticResult {
  try {
    return withSqliteReader(path, work) ?? skipped("There is no database yet. The first start creates it.")
  } catch (fault) {
    const { message, remedy } = storeErrorOf(fault)
    return failed(message, remedy)
  }
}

/** The error of the database; what else was thrown is thrown on. */
function storeErrorOf(fault: unknown): StoreError {
  if (fault instanceof StoreError) return fault
  throw fault
}

/** Comes first, since an integrity check runs expressions of the file. */
function schemaFailure({ schemaDifference }: SqliteReader): DiagnosticResult | null {
  if (schemaDifference === null) return null
  return failed(`${STORE_ERRORS.altered.description} In the file: ${schemaDifference}.`, STORE_ERRORS.altered.remedy)
}

function integrityFailure(database: SqliteReader): DiagnosticResult | null {
  const faults = integrityErrors(database)
  if (faults.length > 0)
    return failed(`${faults.length} or more pages or indexes are damaged: ${faults[0]}.`, STORE_ERRORS.damaged.remedy)
  const [broken] = database.all<{ name: string }>('SELECT "table" AS name FROM pragma_foreign_key_check LIMIT 1')
  if (broken === undefined) return null
  return failed(`A row of ${broken.name} refers to a missing row.`, STORE_ERRORS.damaged.remedy)
}

function schemaAndSize(database: SqliteReader): DiagnosticResult {
  const megabytes = (database.bytes / (1024 * 1024)).toFixed(1)
  const seen = `Undamaged: ${countRows(database, "accounts")} accounts, ${countRows(database, "keys")} keys, ${megabytes} MiB, tables at ${database.schemaVersion}.`
  if (database.schemaVersion > SCHEMA_VERSION)
    return failed(`${seen} This version knows ${SCHEMA_VERSION}.`, STORE_ERRORS.newer.remedy)
  if (database.schemaVersion < SCHEMA_VERSION)
    return warning(
      `${seen} This version has ${SCHEMA_VERSION}.`,
      "You have nothing to do. The next start makes a copy and updates the tables.",
    )
  if (database.walBytes > WAL_BYTES_MAX)
    return warning(
      `${seen} Its log has ${Math.floor(database.walBytes / (1024 * 1024))} MiB.`,
      "Find the program that keeps the database open, and stop it.",
    )
  return ok(seen)
}

/** The share of the server's connections that may be in use without a warning. */
const CONNECTIONS_USED_RATIO_MAX = 0.8

/** Whether notifications have an address of their own, and whether they arrive there, or else at the address of the database. */
export type NotificationsTrial = { readonly hasListenUrl: boolean; readonly arrive: () => Promise<boolean> }

/** Checks the state of the PostgreSQL database, or reports why it could not be read. */
export async function diagnosePostgres(
  looking: Promise<PostgresStatus>,
  processes = 1,
  notifications: NotificationsTrial | null = null,
): Promise<DiagnosticResult> {
  return await withPostgres(looking, async database => {
    const { location, version, schemaVersion, accountsCount, keysCount, nodesCount, bytes } = database
    const megabytes = (bytes / (1024 * 1024)).toFixed(1)
    const seen = `PostgreSQL ${version} at ${location}: ${accountsCount} accounts, ${keysCount} keys, ${nodesCount} nodes, ${megabytes} MiB, tables at ${schemaVersion ?? 0}.`
    if (!database.isWritable) return failed(`${seen} It accepts no writes.`, STORE_ERRORS.standby.remedy)
    if (schemaVersion === null) return skipped(`${seen} It has no tables yet. The first start creates them.`)
    if (schemaVersion > SCHEMA_VERSION)
      return failed(`${seen} This version knows ${SCHEMA_VERSION}.`, STORE_ERRORS.newer.remedy)
    const hasListenUrl = notifications?.hasListenUrl === true
    const isNotified =
      database.isPooled && !hasListenUrl ? undefined : await notifications?.arrive().catch(storeErrorOf)
    const told = `${seen} ${connectionsText(database, processes, hasListenUrl)}${notificationsText(database, isNotified)}`
    return postgresWarning(database, told) ?? reachWarning(database, isNotified, hasListenUrl, told) ?? ok(told)
  })
}

/** How many connections there are, and how many a server with so many processes opens at most. */
function connectionsText(
  { connectionsCount, connectionsMax, isPooled }: PostgresStatus,
  processes: number,
  hasListenUrl: boolean,
): string {
  const own = processConnectionsMax(!isPooled || hasListenUrl)
  const way = isPooled ? ", through a pooler" : ""
  return `${connectionsCount} of ${connectionsMax} connections are in use. This server opens up to ${processes * own}${way}.`
}

/** Whether notifications arrive, or why the address for them fails. `undefined`: nobody has looked, since a pooler keeps them away. */
type Notified = boolean | StoreError | undefined

function notificationsText({ isPooled }: PostgresStatus, isNotified: Notified): string {
  if (isNotified === undefined)
    return isPooled ? " No notification arrives through it: set MAILKIND_DATABASE_LISTEN_URL for them." : ""
  if (isNotified instanceof StoreError)
    return ` No notification arrives from ${isNotified.location}: ${isNotified.reason}.`
  return isNotified ? " Notifications arrive." : " A notification of this database does not arrive."
}

/** What is wrong with the ways to the database. */
function reachWarning(
  { isPlain }: PostgresStatus,
  isNotified: Notified,
  hasListenUrl: boolean,
  seen: string,
): DiagnosticResult | null {
  if (isNotified instanceof StoreError)
    return warning(seen, hasListenUrl ? listenRemedy(isNotified) : isNotified.remedy)
  if (isNotified === false) return warning(seen, STORE_ERRORS.elsewhere.remedy)
  if (!isPlain) return null
  return warning(
    `${seen} The connection to another host is not encrypted.`,
    "Add ?sslmode=verify-full to MAILKIND_DATABASE_URL, or ?sslmode=require if no authority signed the certificate. If the network encrypts, do nothing.",
  )
}

function postgresWarning(database: PostgresStatus, seen: string): DiagnosticResult | null {
  if (database.schemaVersion !== null && database.schemaVersion < SCHEMA_VERSION)
    return warning(
      `${seen} This version has ${SCHEMA_VERSION}.`,
      "Make a backup with pg_dump. The next start updates the tables.",
    )
  if (!database.isDurable)
    return warning(
      `${seen} It confirms writes before they are on a disk.`,
      "Set fsync and synchronous_commit to on. A confirmed revocation must not be lost.",
    )
  if (database.connectionsCount <= database.connectionsMax * CONNECTIONS_USED_RATIO_MAX) return null
  return warning(seen, STORE_ERRORS.crowded.remedy)
}

/** Checks how long mails wait in the outbox of the PostgreSQL database. */
export async function diagnosePostgresOutbox(
  looking: Promise<PostgresStatus>,
  hasServer: boolean,
): Promise<DiagnosticResult> {
  return await withPostgres(looking, ({ waitingMails: { count, sinceMs }, clockAtMs: nowMs }) => {
    if (sinceMs === null) return ok(NO_MAIL_WAITS)
    const seen = `${count} ${count === 1 ? "mail waits" : "mails wait"}, the oldest for ${Math.max(0, Math.floor((nowMs - sinceMs) / 60_000))} minutes.`
    if (!hasServer) return warning(seen, "Set MAILKIND_SMTP_URL. Without it, no mail is sent.")
    if (nowMs - sinceMs <= MAIL_WAIT_MS_MAX) return ok(seen)
    return warning(seen, "See the row `smtp` here, and the server's log lines about mails.")
  })
}

async function withPostgres(
  looking: Promise<PostgresStatus>,
  work: (database: PostgresStatus) => DiagnosticResult | Promise<DiagnosticResult>,
): Promise<DiagnosticResult> {
  try {
    return await work(await looking)
  } catch (fault) {
    const { message, remedy } = storeErrorOf(fault)
    return failed(message, remedy)
  }
}
