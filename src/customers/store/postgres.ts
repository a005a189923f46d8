import type { ReservedSQL } from "bun"
import { assert } from "../../base/assert.ts"
import type { Clock, Random } from "../../base/clock.ts"
import type { Later } from "../../base/timer.ts"
import { type Again, despiteConflicts } from "./despite-conflicts.ts"
import type { Told } from "./outage.ts"
import { POOL_BOUNDS, type PoolBounds } from "./pool-bounds.ts"
import { PostgresPool } from "./postgres-pool.ts"
import { prepareTables } from "./postgres-tables.ts"
import { placeOf } from "./postgres-url.ts"
import type { Cell, OpenStore, Store } from "./store.ts"
import { StoreFault, type StoreFaultCode } from "./store-fault.ts"
import { type Connection, isInside, outermost, refuseInside, transact } from "./transactions.ts"
import { Turns } from "./turns.ts"

/** What opening needs of the world, and what bounds the use of the database. */
export type PostgresOpening = {
  readonly clock: Clock
  readonly later: Later
  readonly random?: Random | undefined
  readonly connectionsMax?: number
  readonly told?: Told
  readonly bounds?: PoolBounds
}

/** What bounds the one connection over which tables are prepared: how long one waits for another start, and one of its statements takes. */
const PREPARING = { connectionsMax: 1, waitTimeoutMs: 60_000, statementTimeoutMs: 30 * 60_000 } as const

/**
 * Opens the PostgreSQL database at `url` and brings its tables up to date; of several that start together, one does.
 * Statements outside of transactions go over several connections at once, each transaction over one of its own. Rejects with
 * a `StoreFault` when the database is away, refuses us, is of another program or of a newer mailkind. Afterwards a
 * database that goes away fails what is asked meanwhile, and is found again by itself.
 */
export async function openPostgres(url: string, opening: PostgresOpening): Promise<OpenStore> {
  const { clock, later, random, bounds = POOL_BOUNDS, connectionsMax = bounds.connectionsMax } = opening
  const { told = () => undefined } = opening
  const open = (own: PoolBounds) => openOver(new PostgresPool(url, later, own, told), despiteConflicts(later, random))
  const preparing = open({ ...bounds, ...PREPARING })
  await prepareTables(preparing, clock, placeOf(url)).finally(preparing.close)
  return open({ ...bounds, connectionsMax })
}

function openOver(pool: PostgresPool, again: Again): OpenStore {
  const underWay = new Set<Promise<unknown>>()
  const state: { closing: Promise<void> | null } = { closing: null }
  const take = async <T>(work: () => Promise<T>): Promise<T> => {
    refuseInside(pool, null)
    assert(state.closing === null, "the store or transaction is over")
    // Each time from the start, and without a connection in between.
    const taken = again(() => pool.taking(work))
    underWay.add(taken)
    try {
      return await taken
    } finally {
      underWay.delete(taken)
    }
  }
  const rows = async (sql: string, params: readonly Cell[]) => (await pool.ask(sql, params)).rows
  const none: readonly Cell[] = []
  return {
    all: <Row>(sql: string, params = none) => take(async () => rowsAs<Row>(await rows(sql, params))),
    one: <Row>(sql: string, params = none) => take(async () => rowsAs<Row>(await rows(sql, params))[0] ?? null),
    run: (sql, params = none) => take(async () => (await pool.ask(sql, params)).count),
    transaction: work => take(() => transactOver(pool, work)),
    onChange: heard => pool.listen(heard),
    close: () => {
      assert(!isInside(pool, null), "a transaction cannot close the store it runs in")
      state.closing ??= Promise.allSettled(underWay).then(() => pool.close())
      return state.closing
    },
  }
}

/** The one boundary where rows get their type: a statement stands beside the row type it is asked with. */
const rowsAs = <Row>(rows: readonly Record<string, Cell>[]): readonly Row[] => rows as readonly Row[]

async function transactOver<T>(pool: PostgresPool, work: (store: Store) => Promise<T>): Promise<T> {
  const { connection, release } = connectionOver(pool)
  try {
    return await transact(outermost(pool, new Turns()), connection, work)
  } finally {
    await release()
  }
}

/** After which faults nothing can be asked of a connection any more, not even to take back; the pool leaves a standby. */
const LOST: readonly StoreFaultCode[] = ["away", "standby", "unsure"]

/** A connection that is taken when its transaction begins. */
function connectionOver(pool: PostgresPool): {
  readonly connection: Connection
  readonly release: () => Promise<void>
} {
  const state: { client: ReservedSQL | null; isLost: boolean } = { client: null, isLost: false }
  const ask = async (sql: string, params: readonly Cell[]) => {
    assert(state.client !== null, "a transaction has begun")
    try {
      return await pool.askOn(state.client, sql, params)
    } catch (fault) {
      state.isLost ||= fault instanceof StoreFault && LOST.includes(fault.code)
      throw fault
    }
  }
  const connection: Connection = {
    all: async <Row>(sql: string, params: readonly Cell[]) => rowsAs<Row>((await ask(sql, params)).rows),
    run: async (sql, params) => (await ask(sql, params)).count,
    begin: async () => {
      state.client = await pool.begun()
    },
    command: async sql => {
      const { command } = await ask(sql, [])
      // A transaction that has failed is rolled back by its COMMIT, without an error.
      if (sql === "COMMIT") assert(command === "COMMIT", "a transaction that is committed was whole")
    },
    isInTransaction: () => !state.isLost,
    faultOf: fault => pool.faultOf(fault),
  }
  return { connection, release: async () => await state.client?.release() }
}
