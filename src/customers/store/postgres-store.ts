import type { ReservedSQL } from "bun"
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
import type { AvailabilityListener } from "./postgres/connection-backoff.ts"
import { POOL_BOUNDS, type PoolBounds, PostgresPool } from "./postgres/connection-pool.ts"
import { redactedUrl } from "./postgres/postgres-url.ts"
import { prepareDatabase } from "./postgres/prepare-database.ts"

/** What opening needs of the world, and what bounds the use of the database. */
type PostgresOptions = {
  readonly clock: Clock
  readonly setTimer: SetTimer
  readonly random?: Random | undefined
  readonly connectionsMax?: number
  readonly onAvailabilityChange?: AvailabilityListener
  readonly bounds?: PoolBounds
}

/** What bounds the one connection over which tables are prepared: how long one waits for another start, and one of its statements takes. */
const PREPARE_BOUNDS = { connectionsMax: 1, waitTimeoutMs: 60_000, statementTimeoutMs: 30 * 60_000 } as const

/**
 * Opens the PostgreSQL database at `url` and brings its tables up to date; of several that start together, one does.
 * Statements outside of transactions go over several connections at once, each transaction over one of its own. Rejects with
 * a `StoreError` when the database is away, refuses us, is of another program or of a newer mailkind. Afterwards a
 * database that goes away fails what is asked meanwhile, and is found again by itself.
 */
export async function openPostgres(url: string, opening: PostgresOptions): Promise<OpenStore> {
  const { clock, setTimer, random, bounds = POOL_BOUNDS, connectionsMax = bounds.connectionsMax } = opening
  const { onAvailabilityChange = () => undefined } = opening
  const open = (own: PoolBounds) =>
    createPooledStore(new PostgresPool(url, setTimer, own, onAvailabilityChange), createConflictRetry(setTimer, random))
  const preparing = open({ ...bounds, ...PREPARE_BOUNDS })
  await prepareDatabase(preparing, clock, redactedUrl(url)).finally(preparing.close)
  return open({ ...bounds, connectionsMax })
}

function createPooledStore(pool: PostgresPool, again: RetryConflicts): OpenStore {
  const underWay = new Set<Promise<unknown>>()
  const state: { closing: Promise<void> | null } = { closing: null }
  const take = async <T>(work: () => Promise<T>): Promise<T> => {
    assertNotInside(pool, null)
    assert(state.closing === null, "the store or transaction is over")
    // Each time from the start, and without a connection in between.
    const taken = again(() => pool.withConnection(work))
    underWay.add(taken)
    try {
      return await taken
    } finally {
      underWay.delete(taken)
    }
  }
  const rows = async (sql: string, params: readonly SqlValue[]) => (await pool.query(sql, params)).rows
  const none: readonly SqlValue[] = []
  return {
    all: <Row>(sql: string, params = none) => take(async () => castRows<Row>(await rows(sql, params))),
    one: <Row>(sql: string, params = none) => take(async () => castRows<Row>(await rows(sql, params))[0] ?? null),
    run: (sql, params = none) => take(async () => (await pool.query(sql, params)).count),
    transaction: work => take(() => runPooledTransaction(pool, work)),
    onChange: heard => pool.listen(heard),
    close: () => {
      assert(!isInsideTransaction(pool, null), "a transaction cannot close the store it runs in")
      state.closing ??= Promise.allSettled(underWay).then(() => pool.close())
      return state.closing
    },
  }
}

/** The one boundary where rows get their type: a statement stands beside the row type it is asked with. */
const castRows = <Row>(rows: readonly Record<string, SqlValue>[]): readonly Row[] => rows as readonly Row[]

async function runPooledTransaction<T>(pool: PostgresPool, work: (store: Store) => Promise<T>): Promise<T> {
  const { connection, release } = createTransactionConnection(pool)
  try {
    return await runTransaction(createRootScope(pool, new Mutex()), connection, work)
  } finally {
    await release()
  }
}

/** After which faults nothing can be asked of a connection any more, not even to take back; the pool leaves a standby. */
const LOST_CONNECTION_CODES: readonly StoreErrorCode[] = ["away", "standby", "unsure"]

/** A connection that is taken when its transaction begins. */
function createTransactionConnection(pool: PostgresPool): {
  readonly connection: EngineConnection
  readonly release: () => Promise<void>
} {
  const state: { client: ReservedSQL | null; isLost: boolean } = { client: null, isLost: false }
  const ask = async (sql: string, params: readonly SqlValue[]) => {
    assert(state.client !== null, "a transaction has begun")
    try {
      return await pool.queryOn(state.client, sql, params)
    } catch (fault) {
      state.isLost ||= fault instanceof StoreError && LOST_CONNECTION_CODES.includes(fault.code)
      throw fault
    }
  }
  const connection: EngineConnection = {
    all: async <Row>(sql: string, params: readonly SqlValue[]) => castRows<Row>((await ask(sql, params)).rows),
    run: async (sql, params) => (await ask(sql, params)).count,
    begin: async () => {
      state.client = await pool.beginTransaction()
    },
    execute: async sql => {
      const { command } = await ask(sql, [])
      // A transaction that has failed is rolled back by its COMMIT, without an error.
      if (sql === "COMMIT") assert(command === "COMMIT", "a transaction that is committed was whole")
    },
    isInTransaction: () => !state.isLost,
    toStoreError: fault => pool.toStoreError(fault),
  }
  return { connection, release: async () => await state.client?.release() }
}

/** How often what the engine ended for a conflict is begun in all; one that is begun so often has met others each time. */
export const TRANSACTION_ATTEMPTS_MAX = 8

/** How long it waits at most before it is begun anew, which doubles each time: a second in all. */
const RETRY_DELAY_MS = 8

const BYTE_VALUES = 256

/** Does work that leaves nothing behind when it fails, again from its start when it failed for a conflict with others. */
type RetryConflicts = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Two transactions that wait for each other's rows would wait for ever: the engine ends one of them (deadlock, SQLSTATE
 * 40P01), and one that it cannot put in an order with others (40001). Nothing of it has happened, and by itself it is well:
 * it is begun anew, `TRIES_MAX` times at most, after a wait that chance draws so that the same two do not meet again. Without
 * chance each wait is as long as it may be.
 */
function createConflictRetry(later: SetTimer, random: Random | undefined): RetryConflicts {
  const wait = (tried: number): Promise<void> => {
    const part = (random?.(1)[0] ?? BYTE_VALUES) / BYTE_VALUES
    return new Promise(resolve => void later(RETRY_DELAY_MS * 2 ** (tried - 1) * part, resolve))
  }
  return async work => {
    for (let tried = 1; tried < TRANSACTION_ATTEMPTS_MAX; tried++)
      try {
        return await work()
      } catch (fault) {
        if (!(fault instanceof StoreError) || fault.code !== "conflict") throw fault
        await wait(tried)
      }
    return await work()
  }
}
