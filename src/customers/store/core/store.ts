import { assert } from "../../../base/errors.ts"
import type { Clock } from "../../../base/outside-world.ts"

/** The value of a parameter or a column. Numbers are safe integers: booleans are 0 or 1, instants are milliseconds. */
export type SqlValue = string | number | null

/**
 * The parameters as both engines store them. SQLite would store a fraction in a column of whole numbers, where PostgreSQL refuses it:
 * a number that is no safe integer is a defect and fails (DECISIONS 117). NUL, which PostgreSQL's text cannot hold, and lone surrogates
 * become U+FFFD.
 */
export function storableParams(params: readonly SqlValue[]): SqlValue[] {
  return params.map(value => {
    if (typeof value === "string") return storableText(value)
    assert(value === null || Number.isSafeInteger(value), "what is stored is a text, a safe integer or null")
    return value
  })
}

/** The text as both engines store it. */
export const storableText = (text: string): string => text.toWellFormed().replaceAll("\0", "\uFFFD")

/**
 * What a commit of SQLite waits for. `synced`: the disk has it. `unsynced`: the operating system has it, so that it outlives the process, and is
 * on the disk with the next commit that waits, within about a second; a power failure before that takes it. It is for what is buffered in memory
 * for as long anyway. PostgreSQL waits for the disk without holding up this process, so there every commit is `synced`.
 */
export type CommitMode = "synced" | "unsynced"

/**
 * The database. Each text is one statement in the SQL that SQLite and PostgreSQL share: parameters `$1`, `$2`, … by number,
 * `RETURNING`, `ON CONFLICT`, times as integer milliseconds, and no `;`. Rejects with a `StoreError` when the database fails (disk
 * full, locked, damaged, unreachable).
 */
export type Store = {
  /** All rows of the result, in their order. */
  readonly all: <Row>(sql: string, params?: readonly SqlValue[]) => Promise<readonly Row[]>
  /** The first row of the result, or null when there is none. */
  readonly one: <Row>(sql: string, params?: readonly SqlValue[]) => Promise<Row | null>
  /** Runs the statement and returns the count of rows it inserted, updated or deleted. */
  readonly run: (sql: string, params?: readonly SqlValue[]) => Promise<number>
  /**
   * Runs `work` in a transaction, which is committed and durable (`mode`, of one that is not nested; by default `synced`) when the promise
   * resolves, and rolled back when `work` rejects.
   * - `work` uses only the store that it gets: not the outer store, which would deadlock, and not the network.
   * - Other statements wait, or run concurrently and see nothing of the transaction. A transaction that reads before it writes
   *   first locks a row that its competitors lock too, by a write that changes nothing.
   * - A statement that fails ends the transaction, even if the error is caught. A nested transaction rolls back only itself.
   * - `work` runs again when the engine aborted the transaction to resolve a deadlock, so it has no other effects than its
   *   statements and its result.
   */
  readonly transaction: <T>(work: (store: Store) => Promise<T>, mode?: CommitMode) => Promise<T>
}

/** A store that can be closed. Closing waits for running statements, and is idempotent. */
export type OpenStore = Store & {
  /** What the clock of the database says, in SQL: milliseconds since the Unix epoch. `NULL`: it has none, since SQLite is part of this process. */
  readonly clockSql: string
  /** Why the database accepts no writes now, in SQL. `NULL`: it accepts them, or is SQLite, of which only a write tells. */
  readonly unwritableSql: string
  /** Whether the database was found unreachable and has not answered since; for the parts of a server also, whether it accepts no writes. */
  readonly isUnavailable: () => boolean
  /** Whether its connections are lent by a pooler. */
  readonly isPooled: boolean
  /** Connections that run a statement or are reserved for a transaction. SQLite has none. */
  readonly connectionsInUse: () => number
  readonly close: () => Promise<void>
  /**
   * Calls `listener` until the store is closed when another process may have appended to the change log, or when a node came or
   * went. Notifications can be lost, and SQLite has none, so a caller that must not miss a change polls too.
   */
  readonly onChange: (listener: () => void) => void
}

/** Runs one operation on a store: a statement outside of transactions, or a whole transaction. */
type RunOperation = <T>(operation: () => Promise<T>) => Promise<T>

/** The same store, each operation of which is run by `run`. */
export const wrapOperations = (store: OpenStore, run: RunOperation): OpenStore => ({
  ...store,
  all: (sql, params) => run(() => store.all(sql, params)),
  one: (sql, params) => run(() => store.one(sql, params)),
  run: (sql, params) => run(() => store.run(sql, params)),
  transaction: (work, mode) => run(() => store.transaction(work, mode)),
})

/** What the clock of the database says; null: it has none. */
export async function readClock(store: OpenStore): Promise<number | null> {
  const row = await store.one<{ readonly atMs: number | null }>(`SELECT ${store.clockSql} AS "atMs"`)
  return row?.atMs ?? null
}

/** The time for what a command stores: that of the database, if it has a clock, since this host's may be wrong. Rejects when the store fails. */
export async function storeClock(store: OpenStore, clock: Clock): Promise<Clock> {
  const aheadMs = ((await readClock(store)) ?? clock()) - clock()
  return () => clock() + aheadMs
}
