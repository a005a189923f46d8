import { AsyncLocalStorage } from "node:async_hooks"
import { assert } from "../../../base/errors.ts"
import { Mutex } from "../../../base/mutex.ts"
import type { SqlValue, Store } from "./store.ts"

/** One connection to an engine. SQLite answers in the call, PostgreSQL later. */
export type EngineConnection = {
  readonly all: <Row>(sql: string, params: readonly SqlValue[]) => readonly Row[] | Promise<readonly Row[]>
  /** The count of rows that the statement changed. */
  readonly run: (sql: string, params: readonly SqlValue[]) => number | Promise<number>
  /** Runs a statement without parameters that ends a transaction, or begins or ends a part of one. */
  readonly execute: (sql: string) => unknown
  /** Begins a transaction that is not inside of another. */
  readonly begin: () => unknown
  /** Whether there is a transaction to take back: an engine, or a lost connection, may have done so by itself. */
  readonly isInTransaction: () => boolean
  /** What is told to whoever asked, instead of the engine's own error. */
  readonly toStoreError: (fault: unknown) => unknown
}

/** One transaction, or what stands outside of all of them. */
export type TransactionScope = {
  readonly parent: TransactionScope | null
  /** What everybody shares who would wait for the transaction, and so must not be asked from inside of it. */
  readonly lockDomain: object
  readonly mutex: Mutex
  isOver: boolean
  /** The first statement of the transaction that failed. As in PostgreSQL, it ends the transaction even if it is caught. */
  fault: { readonly fault: unknown } | null
}

/** What stands outside of all transactions of a connection. */
export const createRootScope = (lockDomain: object, mutex: Mutex): TransactionScope => ({
  parent: null,
  lockDomain,
  mutex,
  isOver: false,
  fault: null,
})

/** The scope whose work is running: to tell a deadlock from a wait. */
const currentScope = new AsyncLocalStorage<TransactionScope>()

/** True when this runs inside the work of a transaction of `home` that is not over: to wait for `scope` is to wait for ever. */
export function isInsideTransaction(home: object, scope: TransactionScope | null): boolean {
  for (let inner = currentScope.getStore(); inner?.parent; inner = inner.parent)
    if (inner.lockDomain === home && (scope === null || inner.parent.mutex === scope.mutex) && !inner.isOver)
      return true
  return false
}

/** Fails when this runs inside the work of a transaction that would wait for `scope`; null: for any of `home`. */
export function assertNotInside(home: object, scope: TransactionScope | null): void {
  assert(
    !isInsideTransaction(home, scope),
    "a transaction asks its own store, never the outer one: that would wait for itself",
  )
}

const NO_PARAMS: readonly SqlValue[] = []

/** The store of a scope: one statement or transaction of it at a time, in the order of asking. */
export function createScopedStore(scope: TransactionScope, connection: EngineConnection): Store {
  const ask = async <T>(work: () => T | Promise<T>): Promise<T> => {
    assertNotInside(scope.lockDomain, scope)
    return await scope.mutex.runExclusive(() => {
      assert(!scope.isOver, "the store or transaction is over")
      assert(scope.fault === null, "a statement of this transaction failed: nothing but its end can follow")
      return work()
    })
  }
  const tell = <T>(work: () => T | Promise<T>): Promise<T> =>
    ask(async () => {
      try {
        return await work()
      } catch (fault) {
        if (scope.parent !== null) scope.fault = { fault }
        throw connection.toStoreError(fault)
      }
    })
  return {
    all: <Row>(sql: string, params = NO_PARAMS) => tell(() => connection.all<Row>(sql, params)),
    one: <Row>(sql: string, params = NO_PARAMS) =>
      tell(async () => (await connection.all<Row>(sql, params))[0] ?? null),
    run: (sql, params = NO_PARAMS) => tell(() => connection.run(sql, params)),
    transaction: work => ask(() => runTransaction(scope, connection, work)),
  }
}

/** Runs `work` in a transaction inside of `parent`, whose turn it takes place in. */
export async function runTransaction<T>(
  parent: TransactionScope,
  connection: EngineConnection,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const isWhole = parent.parent === null
  const { commit, rollBack } = isWhole ? TOP_LEVEL : SAVEPOINT
  const scope: TransactionScope = {
    parent,
    lockDomain: parent.lockDomain,
    mutex: new Mutex(),
    isOver: false,
    fault: null,
  }
  try {
    await (isWhole ? connection.begin() : connection.execute(SAVEPOINT.begin))
  } catch (fault) {
    throw connection.toStoreError(fault)
  }
  try {
    const result = await currentScope.run(scope, () => work(createScopedStore(scope, connection)))
    await closeScope(scope)
    if (scope.fault !== null) throw scope.fault.fault
    await connection.execute(commit)
    return result
  } catch (fault) {
    await closeScope(scope)
    if (connection.isInTransaction()) for (const sql of rollBack) await connection.execute(sql)
    throw connection.toStoreError(fault)
  }
}

/** Takes the last turn: statements that the work did not await are part of the transaction, and none can come after. */
function closeScope(scope: TransactionScope): Promise<void> {
  return scope.mutex.runExclusive(() => {
    scope.isOver = true
  })
}

const TOP_LEVEL = { commit: "COMMIT", rollBack: ["ROLLBACK"] }

/** One name serves all depths: SQL means the innermost savepoint of a name, and the scopes nest. */
const SAVEPOINT = {
  begin: "SAVEPOINT inner_work",
  commit: "RELEASE inner_work",
  rollBack: ["ROLLBACK TO inner_work", "RELEASE inner_work"],
}
