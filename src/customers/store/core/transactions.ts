import { AsyncLocalStorage } from "node:async_hooks"
import { assert } from "../../../base/errors.ts"
import { Mutex } from "../../../base/mutex.ts"
import type { CommitMode, SqlValue, Store } from "./store.ts"

/** One connection to an engine. SQLite answers synchronously, PostgreSQL by a promise. */
export type EngineConnection = {
  readonly all: <Row>(sql: string, params: readonly SqlValue[]) => readonly Row[] | Promise<readonly Row[]>
  /** Returns the count of rows that the statement changed. */
  readonly run: (sql: string, params: readonly SqlValue[]) => number | Promise<number>
  /** Runs a statement without parameters: COMMIT, ROLLBACK, or one of savepoints. */
  readonly execute: (sql: string) => unknown
  /** Begins a transaction that is not nested. */
  readonly begin: (mode: CommitMode) => unknown
  /** False when there is nothing to roll back: the engine has rolled back by itself, or the connection is lost. */
  readonly isInTransaction: () => boolean
  /** The error for the caller, in place of the engine's own. */
  readonly toStoreError: (error: unknown) => unknown
}

/** A transaction, or the root of a connection, which is outside of all transactions. */
export type TransactionScope = {
  readonly parent: TransactionScope | null
  /** Scopes with the same lock domain wait for each other, so a transaction must not use another scope of its domain. */
  readonly lockDomain: object
  readonly mutex: Mutex
  isOver: boolean
  /** The error of the first statement that failed. As in PostgreSQL, it ends the transaction even if it is caught. */
  failure: { readonly error: unknown } | null
}

/** The scope outside of all transactions of a connection. */
export const createRootScope = (lockDomain: object, mutex: Mutex): TransactionScope => ({
  parent: null,
  lockDomain,
  mutex,
  isOver: false,
  failure: null,
})

/** The scope whose work is running. It tells a deadlock from a wait. */
const currentScope = new AsyncLocalStorage<TransactionScope>()

/** True when the caller runs inside an open transaction of the lock domain, so that waiting for `scope` would never end. Null: for any scope. */
export function isInsideTransaction(lockDomain: object, scope: TransactionScope | null): boolean {
  for (let inner = currentScope.getStore(); inner?.parent; inner = inner.parent)
    if (inner.lockDomain === lockDomain && (scope === null || inner.parent.mutex === scope.mutex) && !inner.isOver)
      return true
  return false
}

/** Fails when the caller runs inside a transaction for which `scope` would wait. Null: any scope of the lock domain. */
export function assertNotInside(lockDomain: object, scope: TransactionScope | null): void {
  assert(
    !isInsideTransaction(lockDomain, scope),
    "a transaction uses its own store, never the outer one, which would wait for itself",
  )
}

const NO_PARAMS: readonly SqlValue[] = []

/** The store of a scope. It runs one statement or nested transaction at a time, in the order of the calls. */
export function createScopedStore(scope: TransactionScope, connection: EngineConnection): Store {
  const runInScope = async <T>(work: () => T | Promise<T>): Promise<T> => {
    assertNotInside(scope.lockDomain, scope)
    return await scope.mutex.runExclusive(() => {
      assert(!scope.isOver, "the store or transaction is over")
      assert(scope.failure === null, "a statement of this transaction failed: it can only end")
      return work()
    })
  }
  const runStatement = <T>(work: () => T | Promise<T>): Promise<T> =>
    runInScope(async () => {
      try {
        return await work()
      } catch (error) {
        if (scope.parent !== null) scope.failure = { error }
        throw connection.toStoreError(error)
      }
    })
  return {
    all: <Row>(sql: string, params = NO_PARAMS) => runStatement(() => connection.all<Row>(sql, params)),
    one: <Row>(sql: string, params = NO_PARAMS) =>
      runStatement(async () => (await connection.all<Row>(sql, params))[0] ?? null),
    run: (sql, params = NO_PARAMS) => runStatement(() => connection.run(sql, params)),
    transaction: (work, mode = "synced") => runInScope(() => runTransaction(scope, connection, work, mode)),
  }
}

/** Runs `work` in a transaction nested in `parent`, while it holds the parent's mutex. */
export async function runTransaction<T>(
  parent: TransactionScope,
  connection: EngineConnection,
  work: (store: Store) => Promise<T>,
  mode: CommitMode = "synced",
): Promise<T> {
  const isTopLevel = parent.parent === null
  const { commit, rollBack } = isTopLevel ? TOP_LEVEL : SAVEPOINT
  const scope: TransactionScope = {
    parent,
    lockDomain: parent.lockDomain,
    mutex: new Mutex(),
    isOver: false,
    failure: null,
  }
  try {
    await (isTopLevel ? connection.begin(mode) : connection.execute(SAVEPOINT.begin))
  } catch (error) {
    throw connection.toStoreError(error)
  }
  try {
    const result = await currentScope.run(scope, () => work(createScopedStore(scope, connection)))
    await closeScope(scope)
    if (scope.failure !== null) throw scope.failure.error
    await connection.execute(commit)
    return result
  } catch (error) {
    await closeScope(scope)
    if (connection.isInTransaction()) for (const sql of rollBack) await connection.execute(sql)
    throw connection.toStoreError(error)
  }
}

/** Waits for statements that the work did not await, which are part of the transaction, and lets none follow. */
function closeScope(scope: TransactionScope): Promise<void> {
  return scope.mutex.runExclusive(() => {
    scope.isOver = true
  })
}

const TOP_LEVEL = { commit: "COMMIT", rollBack: ["ROLLBACK"] }

/** One name serves all depths: SQL takes the innermost savepoint of a name, and the scopes nest. */
const SAVEPOINT = {
  begin: "SAVEPOINT inner_work",
  commit: "RELEASE inner_work",
  rollBack: ["ROLLBACK TO inner_work", "RELEASE inner_work"],
}
