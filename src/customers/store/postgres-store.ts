import type { ReservedSQL } from "bun"
import { type BackoffBounds, backoffMs } from "../../base/backoff.ts"
import { assert } from "../../base/errors.ts"
import { Mutex } from "../../base/mutex.ts"
import type { Clock, Random, SetTimer } from "../../base/outside-world.ts"
import type { OpenStore, SqlValue, Store } from "./core/store.ts"
import { StoreError, type StoreErrorCode } from "./core/store-error.ts"
import {
  assertNotInside,
  createRootScope,
  type EngineConnection,
  isInsideTransaction,
  runTransaction,
} from "./core/transactions.ts"
import { type DatabaseSession, POOL_BOUNDS, type PoolBounds } from "./postgres/clients.ts"
import { PostgresPool } from "./postgres/connection-pool.ts"
import type { AvailabilityListener } from "./postgres/database-breaker.ts"
import type { Notifications } from "./postgres/notification-listener.ts"
import { redactedUrl, validatePostgresUrl } from "./postgres/postgres-url.ts"
import { prepareDatabase, requirePrepared } from "./postgres/prepare-database.ts"

/** What opening needs, and the bounds of the use of the database. */
type PostgresOptions = {
  readonly clock: Clock
  readonly setTimer: SetTimer
  readonly random?: Random | undefined
  readonly onAvailabilityChange?: AvailabilityListener
  /** The URL of the server itself, for notifications alone, where that of the database is a pooler's; absent or null: none is known. */
  readonly listenUrl?: string | null | undefined
  readonly onNotificationsChange?: Notifications["onChange"] | undefined
  readonly bounds?: PoolBounds
  /** Whether a database that accepts no writes is opened too, for what only reads. */
  readonly mayBeReadOnly?: boolean | undefined
}

/** The bounds of the connection that migrates: how long it waits for another process that migrates, and for one of its statements. */
const PREPARE_BOUNDS = { connectionsMax: 1, waitTimeoutMs: 60_000, statementTimeoutMs: 30 * 60_000 } as const

/**
 * Opens the PostgreSQL database at `url` and migrates it. Statements outside of transactions run on several connections at once and
 * may overtake each other (DECISIONS 39); each transaction has a connection of its own. Rejects with a `StoreError` when the database
 * is unreachable, refuses us, or belongs to another program or a newer mailkind. When it becomes unreachable later, operations fail
 * until it answers again; it reconnects by itself. A pooler in front of it is found out by what becomes of our parameters.
 */
export async function openPostgres(url: string, options: PostgresOptions): Promise<OpenStore> {
  const { clock, setTimer, random, bounds = POOL_BOUNDS } = options
  const { onAvailabilityChange = () => undefined, listenUrl = null, onNotificationsChange = () => undefined } = options
  if (listenUrl !== null) validatePostgresUrl(listenUrl)
  const notifications = { url: listenUrl, onChange: onNotificationsChange }
  const open = (poolBounds: PoolBounds, listener: AvailabilityListener, session: DatabaseSession) =>
    createPooledStore(
      new PostgresPool(url, setTimer, poolBounds, listener, session, notifications),
      createConflictRetry(setTimer, random),
      session,
    )
  // What goes wrong here is thrown.
  const prepare = async (session: DatabaseSession): Promise<string> => {
    const preparing = open({ ...bounds, ...PREPARE_BOUNDS }, () => undefined, session)
    const location = redactedUrl(url)
    const read = (error: unknown): Promise<string> => {
      if (options.mayBeReadOnly !== true || !(error instanceof StoreError && error.code === "standby")) throw error
      return requirePrepared(preparing, location, session.kind)
    }
    return await prepareDatabase(preparing, clock, location, session.kind).catch(read).finally(preparing.close)
  }
  try {
    const searchPath = await prepare({ kind: "direct", searchPath: null })
    return open(bounds, onAvailabilityChange, { kind: "direct", searchPath })
  } catch (error) {
    if (!(error instanceof StoreError && error.code === "pooled")) throw error
  }
  await prepare({ kind: "pooled" })
  return open(bounds, onAvailabilityChange, { kind: "pooled" })
}

function createPooledStore(pool: PostgresPool, retryConflicts: RetryConflicts, session: DatabaseSession): OpenStore {
  const running = new Set<Promise<unknown>>()
  const state: { closing: Promise<void> | null } = { closing: null }
  const runOperation = async <T>(work: () => Promise<T>): Promise<T> => {
    assertNotInside(pool, null)
    assert(state.closing === null, "the store or transaction is over")
    // A retry runs the whole work again, and releases its connection in between.
    const operation = retryConflicts(() => pool.withConnection(work))
    running.add(operation)
    try {
      return await operation
    } finally {
      running.delete(operation)
    }
  }
  const rows = async (sql: string, params: readonly SqlValue[]) => (await pool.query(sql, params)).rows
  const noParams: readonly SqlValue[] = []
  return {
    all: <Row>(sql: string, params = noParams) => runOperation(async () => castRows<Row>(await rows(sql, params))),
    one: <Row>(sql: string, params = noParams) =>
      runOperation(async () => castRows<Row>(await rows(sql, params))[0] ?? null),
    run: (sql, params = noParams) => runOperation(async () => (await pool.query(sql, params)).count),
    transaction: work => runOperation(() => runPooledTransaction(pool, work)),
    clockSql: CLOCK_SQL,
    unwritableSql: UNWRITABLE_SQL,
    isUnavailable: () => pool.isUnavailable,
    isPooled: session.kind === "pooled",
    connectionsInUse: () => pool.inUseCount,
    onChange: listener => pool.listen(listener),
    close: () => {
      assert(!isInsideTransaction(pool, null), "a transaction cannot close the store it runs in")
      state.closing ??= Promise.allSettled(running).then(() => pool.close())
      return state.closing
    },
  }
}

/** `now()` would be the start of a transaction. */
const CLOCK_SQL = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"

const UNWRITABLE_SQL = `CASE WHEN pg_is_in_recovery() THEN 'it is a standby'
  WHEN current_setting('transaction_read_only') = 'on' THEN 'default_transaction_read_only is on' END`

/** The caller states the row type beside its statement. */
const castRows = <Row>(rows: readonly Record<string, SqlValue>[]): readonly Row[] => rows as readonly Row[]

async function runPooledTransaction<T>(pool: PostgresPool, work: (store: Store) => Promise<T>): Promise<T> {
  const { connection, release } = createTransactionConnection(pool)
  try {
    return await runTransaction(createRootScope(pool, new Mutex()), connection, work)
  } finally {
    await release()
  }
}

/** After these errors a connection takes no statement any more, not even ROLLBACK. */
const LOST_CONNECTION_CODES: readonly StoreErrorCode[] = ["away", "pool_silent", "standby", "unsure"]

/** A connection that is reserved when its transaction begins. */
function createTransactionConnection(pool: PostgresPool): {
  readonly connection: EngineConnection
  readonly release: () => Promise<void>
} {
  const state: { client: ReservedSQL | null; isLost: boolean } = { client: null, isLost: false }
  const query = async (sql: string, params: readonly SqlValue[]) => {
    assert(state.client !== null, "a transaction has begun")
    try {
      return await pool.queryOn(state.client, sql, params)
    } catch (error) {
      state.isLost ||= error instanceof StoreError && LOST_CONNECTION_CODES.includes(error.code)
      throw error
    }
  }
  const connection: EngineConnection = {
    all: async <Row>(sql: string, params: readonly SqlValue[]) => castRows<Row>((await query(sql, params)).rows),
    run: async (sql, params) => (await query(sql, params)).count,
    begin: async () => {
      state.client = await pool.beginTransaction()
    },
    execute: async sql => {
      const { command } = await query(sql, [])
      // COMMIT rolls back a transaction that has failed, without an error.
      if (sql === "COMMIT") assert(command === "COMMIT", "a transaction that failed is not committed")
    },
    isInTransaction: () => !state.isLost,
    toStoreError: error => pool.toStoreError(error),
  }
  return { connection, release: async () => await state.client?.release() }
}

/** How often a transaction is tried that the engine aborts for conflicts. */
export const TRANSACTION_ATTEMPTS_MAX = 8

/** The longest waits before the retries, a second in all. */
const CONFLICT_BACKOFF: BackoffBounds = { firstMs: 8, maxMs: 512 }

const BYTE_VALUES = 256

/** Runs work, and runs it again from its start when it failed with a conflict. Failed work must have no effects. */
type RetryConflicts = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Creates a retry for transactions that the engine aborts: one of two that wait for each other's rows (deadlock, SQLSTATE 40P01), or
 * one that it cannot serialize with others (40001). An aborted transaction has changed nothing. The wait before a retry is random, so
 * that the same two do not collide again; without `random` each wait is the longest.
 */
function createConflictRetry(setTimer: SetTimer, random: Random | undefined): RetryConflicts {
  const wait = (failureCount: number): Promise<void> => {
    const part = (random?.(1)[0] ?? BYTE_VALUES) / BYTE_VALUES
    return new Promise(resolve => void setTimer(backoffMs(failureCount, CONFLICT_BACKOFF) * part, resolve))
  }
  return async work => {
    for (let attempt = 1; attempt < TRANSACTION_ATTEMPTS_MAX; attempt++)
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof StoreError) || error.code !== "conflict") throw error
        await wait(attempt)
      }
    return await work()
  }
}
