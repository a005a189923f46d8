import { SQL } from "bun"
import { StoreError } from "../core/store-error.ts"
import { convertRows } from "./convert-rows.ts"
import { isConnectFailure, postgresStoreError } from "./postgres-errors.ts"
import { redactedUrl, validatePostgresUrl } from "./postgres-url.ts"
import { requireOwnDatabase, requireSupportedServer } from "./prepare-database.ts"

/** How long a look may take to connect, and each of its statements. */
const STATUS_TIMEOUT_MS = 10_000

/** What is seen of a PostgreSQL database without writing anything. What belongs to no table of ours is null. */
export type PostgresStatus = {
  readonly place: string
  readonly version: string
  /** Whether a commit that is acknowledged is on a disk. */
  readonly isDurable: boolean
  /** Whether it takes writes. */
  readonly isWritable: boolean
  readonly connectionsCount: number
  readonly connectionsMax: number
  readonly bytes: number
  /** The number of its latest migration; null: it has no tables of ours. */
  readonly head: number | null
  readonly accountsCount: number
  readonly keysCount: number
  /** How many nodes beat, or did until a moment ago. */
  readonly nodesCount: number
  readonly waitingMails: { readonly count: number; readonly sinceMs: number | null }
  readonly lastWrittenAtMs: number
}

/** Looks into the database at `url`. Rejects with a `StoreError` when it cannot be reached, or a start would be refused. */
export async function readPostgresStatus(url: string): Promise<PostgresStatus> {
  validatePostgresUrl(url)
  const client = new SQL(url, {
    adapter: "postgres",
    max: 1,
    connectionTimeout: STATUS_TIMEOUT_MS / 1000,
    connection: {
      application_name: "mailkind doctor",
      statement_timeout: STATUS_TIMEOUT_MS,
      default_transaction_read_only: "on",
    },
  })
  const place = redactedUrl(url)
  try {
    const asked = {
      all: <Row>(sql: string) => readRows<Row>(client, sql),
      one: async <Row>(sql: string) => (await readRows<Row>(client, sql))[0] ?? null,
    }
    await requireSupportedServer(asked, place)
    const look = { place, ...(await readServerStatus(client)), ...(await readTableStatus(client)) }
    if (look.head === null) await requireOwnDatabase(asked, place)
    return look
  } catch (fault) {
    const known = postgresStoreError(fault, place)
    throw known instanceof StoreError || !isConnectFailure(fault)
      ? known
      : new StoreError("away", place, "no answer", fault)
  } finally {
    await client.close({ timeout: 1 })
  }
}

async function readServerStatus(client: SQL) {
  const [row] = await readRows<{
    version: string
    durable: number
    writable: number
    connections: number
    most: number
    bytes: number
  }>(
    client,
    `SELECT current_setting('server_version') AS version,
       current_setting('fsync') = 'on' AND current_setting('synchronous_commit') <> 'off' AS durable,
       NOT pg_is_in_recovery() AS writable, (SELECT COUNT(*) FROM pg_stat_activity) AS connections,
       current_setting('max_connections')::bigint AS most, pg_database_size(current_database()) AS bytes`,
  )
  return {
    version: row?.version ?? "unknown",
    isDurable: row?.durable === 1,
    isWritable: row?.writable === 1,
    connectionsCount: row?.connections ?? 0,
    connectionsMax: row?.most ?? 0,
    bytes: row?.bytes ?? 0,
  }
}

async function readTableStatus(client: SQL) {
  const [there] = await readRows<{ name: string | null }>(client, "SELECT to_regclass('migrations')::text AS name")
  const nothing = { count: 0, sinceMs: null }
  if (there?.name === null)
    return { head: null, accountsCount: 0, keysCount: 0, nodesCount: 0, waitingMails: nothing, lastWrittenAtMs: 0 }
  const [head] = await readRows<{ head: number; at: number }>(
    client,
    "SELECT COALESCE(MAX(number), 0) AS head, COALESCE(MAX(ran_at_ms), 0) AS at FROM migrations",
  )
  // What a table of a later migration holds is not asked for where there is none.
  const count = async (table: string): Promise<number> =>
    (await readNumber(client, table, `SELECT COUNT(*) AS number FROM ${table}`)) ?? 0
  const since = await readNumber(
    client,
    "outbox",
    "SELECT MIN(written_at_ms) AS number FROM outbox WHERE ended_at_ms IS NULL",
  )
  const waiting = await readNumber(client, "outbox", "SELECT COUNT(*) AS number FROM outbox WHERE ended_at_ms IS NULL")
  const changed = await readNumber(client, "changes", "SELECT MAX(at_ms) AS number FROM changes")
  return {
    head: head?.head ?? 0,
    accountsCount: await count("accounts"),
    keysCount: await count("keys"),
    nodesCount: await count("nodes"),
    waitingMails: { count: waiting ?? 0, sinceMs: since },
    lastWrittenAtMs: Math.max(head?.at ?? 0, changed ?? 0),
  }
}

/** The number that a statement gives; null: there is no such table, or no number. */
async function readNumber(client: SQL, table: string, sql: string): Promise<number | null> {
  const [there] = await readRows<{ name: string | null }>(client, `SELECT to_regclass('${table}')::text AS name`)
  if (there?.name === null) return null
  return (await readRows<{ number: number | null }>(client, sql))[0]?.number ?? null
}

async function readRows<Row>(client: SQL, sql: string): Promise<readonly Row[]> {
  const rows: readonly Record<string, unknown>[] = convertRows(await client.unsafe<unknown[]>(sql))
  return rows as readonly Row[] // a statement stands beside the row type it is asked with
}
