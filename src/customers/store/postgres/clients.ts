import type { SQL } from "bun"
import { POOLED_PARAMETERS, SESSION_PARAMETERS } from "./postgres-url.ts"

/**
 * Who is at the other end: the server, whose connections keep what we set, or a pooler that lends a connection for one transaction. Through
 * a pooler nothing of a session is used: no named prepared statements, no parameters and no notifications (DECISIONS 171).
 */
export type DatabaseSession =
  | {
      readonly kind: "direct"
      /** The schemas of names in statements; null: those that the server has set for the user. */
      readonly searchPath: string | null
    }
  | { readonly kind: "pooled" }

/** The bounds of one process's use of a PostgreSQL database. */
export type PoolBounds = {
  readonly connectionsMax: number
  /** How many operations may wait for a connection; further ones are rejected at once. */
  readonly waitingMax: number
  /**
   * How long an operation waits for a connection, and a statement, within its own time, for a row's lock. It is longer than a statement with
   * its grace, so that whoever waits is refused for the database that is away, and not as if others kept it busy.
   */
  readonly waitTimeoutMs: number
  readonly connectTimeoutMs: number
  /** How long a statement may run before the server cancels it. */
  readonly statementTimeoutMs: number
  /** How much longer than that a response may take before the connections count as lost. */
  readonly responseGraceMs: number
  /** The wait before the first probe of an outage. It doubles with each further one, up to a maximum. */
  readonly reconnectDelayMs: number
  readonly reconnectDelayMaxMs: number
}

/**
 * The bounds in production. Nobody waits longer than three seconds for a database that has fallen silent: that is what a statement and its
 * grace take. The statements of a server take milliseconds, as they must on SQLite, where all requests wait for each.
 */
export const POOL_BOUNDS: PoolBounds = {
  connectionsMax: 4,
  waitingMax: 10_000,
  waitTimeoutMs: 2600,
  connectTimeoutMs: 2000,
  statementTimeoutMs: 2000,
  responseGraceMs: 500,
  reconnectDelayMs: 50,
  reconnectDelayMaxMs: 500,
}

/** How many connections a process opens at most: those of its pool, and one for notifications, which a pooler cannot bring. */
export const processConnectionsMax = (hasNotifications: boolean): number =>
  POOL_BOUNDS.connectionsMax + (hasNotifications ? 1 : 0)

/** The server's bounds of a statement and of a transaction, in milliseconds. */
export const transactionBounds = ({ statementTimeoutMs, waitTimeoutMs }: PoolBounds) => ({
  statement_timeout: statementTimeoutMs,
  lock_timeout: Math.min(waitTimeoutMs, statementTimeoutMs),
  idle_in_transaction_session_timeout: statementTimeoutMs,
})

/** Called with the error when a connection is lost. */
export type OnClose = (error?: unknown) => void

/** A client with at most `max` connections, which it opens when they are needed. */
export function createClient(
  url: string,
  session: DatabaseSession,
  bounds: PoolBounds,
  max: number,
  onclose?: OnClose,
): SQL {
  return new Bun.SQL(url, {
    adapter: "postgres",
    max,
    ...(onclose !== undefined && { onclose }),
    connectionTimeout: bounds.connectTimeoutMs / 1000,
    ...(session.kind === "pooled" && { prepare: false }),
    connection: session.kind === "pooled" ? POOLED_PARAMETERS : directParameters(session.searchPath, bounds),
  })
}

const directParameters = (searchPath: string | null, bounds: PoolBounds) => ({
  ...SESSION_PARAMETERS,
  ...(searchPath !== null && { search_path: searchPath }),
  application_name: "mailkind",
  default_transaction_isolation: "read committed",
  ...transactionBounds(bounds),
})
