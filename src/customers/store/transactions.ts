import { AsyncLocalStorage } from "node:async_hooks"
import { assert } from "../../base/assert.ts"
import type { Cell, Store } from "./store.ts"
import { Turns } from "./turns.ts"

/** One connection to an engine. SQLite answers in the call, PostgreSQL later. */
export type Connection = {
  readonly all: <Row>(sql: string, params: readonly Cell[]) => readonly Row[] | Promise<readonly Row[]>
  /** The count of rows that the statement changed. */
  readonly run: (sql: string, params: readonly Cell[]) => number | Promise<number>
  /** Runs a statement without parameters that ends a transaction, or begins or ends a part of one. */
  readonly command: (sql: string) => unknown
  /** Begins a transaction that is not inside of another. */
  readonly begin: () => unknown
  /** Whether there is a transaction to take back: an engine, or a lost connection, may have done so by itself. */
  readonly isInTransaction: () => boolean
  /** What is told to whoever asked, instead of the engine's own error. */
  readonly faultOf: (fault: unknown) => unknown
}

/** One transaction, or what stands outside of all of them. */
export type Scope = {
  readonly parent: Scope | null
  /** What everybody shares who would wait for the transaction, and so must not be asked from inside of it. */
  readonly home: object
  readonly turns: Turns
  isOver: boolean
  /** The first statement of the transaction that failed. As in PostgreSQL, it ends the transaction even if it is caught. */
  fault: { readonly fault: unknown } | null
}

/** What stands outside of all transactions of a connection. */
export const outermost = (home: object, turns: Turns): Scope => ({
  parent: null,
  home,
  turns,
  isOver: false,
  fault: null,
})

/** The scope whose work is running: to tell a deadlock from a wait. */
const running = new AsyncLocalStorage<Scope>()

/** True when this runs inside the work of a transaction of `home` that is not over: to wait for `scope` is to wait for ever. */
export function isInside(home: object, scope: Scope | null): boolean {
  for (let inner = running.getStore(); inner?.parent; inner = inner.parent)
    if (inner.home === home && (scope === null || inner.parent.turns === scope.turns) && !inner.isOver) return true
  return false
}

/** Fails when this runs inside the work of a transaction that would wait for `scope`; null: for any of `home`. */
export function refuseInside(home: object, scope: Scope | null): void {
  assert(!isInside(home, scope), "a transaction asks its own store, never the outer one: that would wait for itself")
}

const NONE: readonly Cell[] = []

/** The store of a scope: one statement or transaction of it at a time, in the order of asking. */
export function storeIn(scope: Scope, connection: Connection): Store {
  const ask = async <T>(work: () => T | Promise<T>): Promise<T> => {
    refuseInside(scope.home, scope)
    return await scope.turns.take(() => {
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
        throw connection.faultOf(fault)
      }
    })
  return {
    all: <Row>(sql: string, params = NONE) => tell(() => connection.all<Row>(sql, params)),
    one: <Row>(sql: string, params = NONE) => tell(async () => (await connection.all<Row>(sql, params))[0] ?? null),
    run: (sql, params = NONE) => tell(() => connection.run(sql, params)),
    transaction: work => ask(() => transact(scope, connection, work)),
  }
}

/** Runs `work` in a transaction inside of `parent`, whose turn it takes place in. */
export async function transact<T>(
  parent: Scope,
  connection: Connection,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const isWhole = parent.parent === null
  const { commit, rollBack } = isWhole ? WHOLE : NESTED
  const scope: Scope = { parent, home: parent.home, turns: new Turns(), isOver: false, fault: null }
  try {
    await (isWhole ? connection.begin() : connection.command(NESTED.begin))
  } catch (fault) {
    throw connection.faultOf(fault)
  }
  try {
    const result = await running.run(scope, () => work(storeIn(scope, connection)))
    await end(scope)
    if (scope.fault !== null) throw scope.fault.fault
    await connection.command(commit)
    return result
  } catch (fault) {
    await end(scope)
    if (connection.isInTransaction()) for (const sql of rollBack) await connection.command(sql)
    throw connection.faultOf(fault)
  }
}

/** Takes the last turn: statements that the work did not await are part of the transaction, and none can come after. */
function end(scope: Scope): Promise<void> {
  return scope.turns.take(() => {
    scope.isOver = true
  })
}

const WHOLE = { commit: "COMMIT", rollBack: ["ROLLBACK"] }

/** One name serves all depths: SQL means the innermost savepoint of a name, and the scopes nest. */
const NESTED = {
  begin: "SAVEPOINT inner_work",
  commit: "RELEASE inner_work",
  rollBack: ["ROLLBACK TO inner_work", "RELEASE inner_work"],
}
