import type { SQL } from "bun"
import type { SqlValue } from "../core/store.ts"
import { StoreError } from "../core/store-error.ts"
import { createClient, POOL_BOUNDS } from "./clients.ts"
import { convertRows } from "./convert-rows.ts"
import { LISTENING } from "./notification-listener.ts"
import { connectError, isConnectFailure, postgresStoreError, silentPoolerError } from "./postgres-errors.ts"
import { isPlainUrl, redactedUrl, validatePostgresUrl } from "./postgres-url.ts"
import { requireOwnDatabase, type SessionKind } from "./prepare-database.ts"

type SqlClient = Pick<SQL, "unsafe">

/** How long each statement may take. */
const STATUS_TIMEOUT_MS = 10_000

/** How long the first answer may take. */
const CONNECT_TIMEOUT_MS = 3000

/** The status of a PostgreSQL database, read without writing. */
export type PostgresStatus = {
  readonly location: string
  readonly version: string
  /** Whether an acknowledged commit is on the disk. */
  readonly isDurable: boolean
  /** Whether a pooler lends the connections of this address. */
  readonly isPooled: boolean
  /** Whether the URL names another host and asks for no encryption. */
  readonly isPlain: boolean
  /** False for a standby, and where transactions are read-only by its settings. */
  readonly isWritable: boolean
  readonly connectionsCount: number
  readonly connectionsMax: number
  readonly bytes: number
  /** The number of its latest migration; null when it does not have our tables. */
  readonly schemaVersion: number | null
  readonly accountsCount: number
  readonly keysCount: number
  /** How many nodes serve, or did until a moment ago. */
  readonly nodesCount: number
  /** They, as far as they tell their settings. */
  readonly nodes: readonly NodeRow[]
  readonly waitingMails: { readonly count: number; readonly sinceMs: number | null }
  readonly lastWrittenAtMs: number
  /** What its clock said. */
  readonly clockAtMs: number
  /** The mark of the folder with the files of jobs; null: no server has used one yet. */
  readonly jobsFolderMark: string | null
}

/** A node: its base address, and the digests of its settings. Null: it tells none. */
type NodeRow = { readonly id: string; readonly url: string | null; readonly settings: string | null }

/** How long a notification may take from one connection to another. */
const NOTIFICATION_TIMEOUT_MS = 2000

/**
 * Whether a notification that is sent over `url` arrives at `listenUrl`, as it does when both lead to one database. Rejects with a `StoreError`
 * when one of them cannot be reached.
 */
export async function receivesNotifications(url: string, listenUrl: string, channel: string): Promise<boolean> {
  validatePostgresUrl(listenUrl)
  const listening = createClient(listenUrl, LISTENING, POOL_BOUNDS, 1)
  const sending = createClient(url, { kind: "pooled" }, POOL_BOUNDS, 1)
  const received = Promise.withResolvers<true>()
  try {
    const heard = listening.listen(channel, () => received.resolve(true))
    await requireAnswer(heard, listenUrl)
    await requireAnswer(sending.unsafe("SELECT pg_notify($1, '')", [channel]), url)
    return await Promise.race([received.promise, Bun.sleep(NOTIFICATION_TIMEOUT_MS).then(() => false)])
  } catch (error) {
    throw (await connectError(error, listenUrl)) ?? postgresStoreError(error, redactedUrl(listenUrl))
  } finally {
    await Promise.all([listening, sending].map(client => client.close({ timeout: 0 })))
  }
}

/** Reads the status of the database at `url`. Rejects with a `StoreError` when it cannot be reached, or when a start would fail. */
export async function readPostgresStatus(url: string): Promise<PostgresStatus> {
  validatePostgresUrl(url)
  try {
    return await readStatusOver(url, "direct")
  } catch (error) {
    if (!(error instanceof StoreError && error.code === "pooled")) throw error
  }
  return await readStatusOver(url, "pooled")
}

async function readStatusOver(url: string, session: SessionKind): Promise<PostgresStatus> {
  const client = new Bun.SQL(url, {
    adapter: "postgres",
    max: 1,
    connectionTimeout: CONNECT_TIMEOUT_MS / 1000,
    ...(session === "pooled" && { prepare: false }),
    connection: {
      application_name: "mailkind doctor",
      ...(session === "direct" && { statement_timeout: STATUS_TIMEOUT_MS }),
    },
  })
  const location = redactedUrl(url)
  try {
    await requireAnswer(client.unsafe("SELECT 1"), url)
    return await client.begin("READ ONLY", async inner => {
      const store = {
        all: <Row>(sql: string, params?: readonly SqlValue[]) => readRows<Row>(inner, sql, params),
        one: async <Row>(sql: string, params?: readonly SqlValue[]) =>
          (await readRows<Row>(inner, sql, params))[0] ?? null,
      }
      if (session === "pooled") await inner.unsafe(`SET LOCAL statement_timeout = ${STATUS_TIMEOUT_MS}`)
      await requireOwnDatabase(store, location, session)
      const isPooled = session === "pooled"
      const isPlain = isPlainUrl(url)
      return { location, isPooled, isPlain, ...(await readServerStatus(inner)), ...(await readTableStatus(inner)) }
    })
  } catch (error) {
    const storeError = (await connectError(error, url)) ?? postgresStoreError(error, location)
    throw storeError instanceof StoreError || !isConnectFailure(error)
      ? storeError
      : new StoreError("away", location, "no answer", error)
  } finally {
    await client.close({ timeout: 1 })
  }
}

/** Waits for the first answer. A pooler accepts the login, and has the first statement wait for a database that is away. */
async function requireAnswer(answer: PromiseLike<unknown>, url: string): Promise<void> {
  const isSilent = Bun.sleep(CONNECT_TIMEOUT_MS).then(() => true)
  if (await Promise.race([answer.then(() => false), isSilent]))
    throw (await silentPoolerError(url)) ?? new StoreError("away", redactedUrl(url), "no answer")
}

async function readServerStatus(client: SqlClient) {
  const [row] = await readRows<{
    version: string
    durable: number
    writable: number
    connections: number
    most: number
    bytes: number
    clock: number
  }>(
    client,
    `SELECT current_setting('server_version') AS version,
       current_setting('fsync') = 'on' AND current_setting('synchronous_commit') <> 'off' AS durable,
       NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off' AS writable, (SELECT COUNT(*) FROM pg_stat_activity) AS connections,
       current_setting('max_connections')::bigint AS most, pg_database_size(current_database()) AS bytes,
       CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS clock`,
  )
  return {
    version: row?.version ?? "unknown",
    isDurable: row?.durable === 1,
    isWritable: row?.writable === 1,
    connectionsCount: row?.connections ?? 0,
    connectionsMax: row?.most ?? 0,
    bytes: row?.bytes ?? 0,
    clockAtMs: row?.clock ?? 0,
  }
}

async function readTableStatus(client: SqlClient) {
  const [migrations] = await readRows<{ name: string | null }>(client, "SELECT to_regclass('migrations')::text AS name")
  if (migrations?.name === null) return NO_TABLES
  const [latest] = await readRows<{ head: number; at: number }>(
    client,
    "SELECT COALESCE(MAX(number), 0) AS head, COALESCE(MAX(ran_at_ms), 0) AS at FROM migrations",
  )
  // An older database does not have every table.
  const count = async (table: string, condition = ""): Promise<number> =>
    (await readNumber(client, table, `SELECT COUNT(*) AS value FROM ${table}${condition}`)) ?? 0
  const isWaiting = " WHERE ended_at_ms IS NULL"
  const sinceMs = await readNumber(client, "outbox", `SELECT MIN(written_at_ms) AS value FROM outbox${isWaiting}`)
  const changedAtMs = await readNumber(client, "changes", "SELECT MAX(at_ms) AS value FROM changes")
  return {
    schemaVersion: latest?.head ?? 0,
    accountsCount: await count("accounts"),
    keysCount: await count("keys"),
    nodesCount: await count("nodes"),
    nodes: await readNodes(client, latest?.head ?? 0),
    waitingMails: { count: await count("outbox", isWaiting), sinceMs },
    lastWrittenAtMs: Math.max(latest?.at ?? 0, changedAtMs ?? 0),
    jobsFolderMark: await readValue<string>(client, "jobs_folder", "SELECT mark AS value FROM jobs_folder"),
  }
}

const NO_TABLES = {
  schemaVersion: null,
  accountsCount: 0,
  keysCount: 0,
  nodesCount: 0,
  nodes: [],
  waitingMails: { count: 0, sinceMs: null },
  lastWrittenAtMs: 0,
  jobsFolderMark: null,
}

/** The migration since which nodes tell their settings. */
const NODE_SETTINGS_MIGRATION = 42

const readNodes = async (client: SqlClient, schemaVersion: number): Promise<readonly NodeRow[]> =>
  schemaVersion < NODE_SETTINGS_MIGRATION
    ? []
    : await readRows<NodeRow>(client, "SELECT id, url, settings FROM nodes ORDER BY id")

const readNumber = (client: SqlClient, table: string, sql: string): Promise<number | null> =>
  readValue<number>(client, table, sql)

/** The value that a statement selects; null when the table does not exist or there is no value. */
async function readValue<V>(client: SqlClient, table: string, sql: string): Promise<V | null> {
  const [existing] = await readRows<{ name: string | null }>(client, `SELECT to_regclass('${table}')::text AS name`)
  if (existing?.name === null) return null
  return (await readRows<{ value: V | null }>(client, sql))[0]?.value ?? null
}

async function readRows<Row>(
  client: SqlClient,
  sql: string,
  params: readonly SqlValue[] = [],
): Promise<readonly Row[]> {
  const rows: readonly Record<string, unknown>[] = convertRows(await client.unsafe<unknown[]>(sql, [...params]))
  return rows as readonly Row[] // the caller states the row type beside its statement
}
