import { Database } from "bun:sqlite"
import { expect, test as onSqlite } from "bun:test"
import type { Store } from "../../../../src/customers/store/core/store.ts"
import { outcomeOf } from "../../../support/outcome-of.ts"
import { onPostgres, test } from "../../engines.ts"
import { ownStore, tempPlace } from "../../temp-store.ts"

async function numbers(path = tempPlace()) {
  const store = await ownStore(path)
  await store.run("CREATE TABLE IF NOT EXISTS numbers (n BIGINT PRIMARY KEY)")
  const add = (n: number, to: Store = store) => to.run("INSERT INTO numbers (n) VALUES ($1)", [n])
  const all = async (from: Store = store) =>
    (await from.all<{ n: number }>("SELECT n FROM numbers ORDER BY n")).map(row => row.n)
  return { store, add, all }
}

test("a transaction is committed as a whole and returns its result", async () => {
  const { store, add, all } = await numbers()
  const result = await store.transaction(async inner => {
    await add(1, inner)
    await add(2, inner)
    return await all(inner)
  })
  expect(result).toEqual([1, 2])
  expect(await all()).toEqual([1, 2])
})

test("a transaction that rejects is rolled back and rejects with its own error", async () => {
  const { store, add, all } = await numbers()
  const failing = store.transaction(async inner => {
    await add(1, inner)
    throw new Error("mine")
  })
  expect(await outcomeOf(failing)).toThrow("mine")
  expect(await all()).toEqual([])
  await add(2)
  expect(await all()).toEqual([2])
})

onSqlite("statements and transactions from elsewhere wait while a transaction awaits something", async () => {
  const { store, add, all } = await numbers()
  const gate = Promise.withResolvers<void>()
  const seen: unknown[] = []
  const first = store.transaction(async inner => {
    await add(1, inner)
    await gate.promise
    seen.push(await all(inner))
    throw new Error("taken back")
  })
  const foreign = [add(10), store.transaction(inner => add(11, inner)), all()]
  await Promise.resolve()
  gate.resolve()
  expect(await outcomeOf(first)).toThrow("taken back")
  expect(seen).toEqual([[1]])
  expect(await Promise.all(foreign)).toEqual([1, 1, [10, 11]])
})

onPostgres("other statements and transactions run while one is awaiting something, and see nothing of it", async () => {
  const { store, add, all } = await numbers()
  const gate = Promise.withResolvers<void>()
  const first = store.transaction(async inner => {
    await add(1, inner)
    await gate.promise
    return await all(inner)
  })
  expect(await add(10)).toBe(1)
  expect(await store.transaction(inner => add(11, inner))).toBe(1)
  expect(await all()).toEqual([10, 11])
  gate.resolve()
  expect(await first).toEqual([1, 10, 11])
  expect(await all()).toEqual([1, 10, 11])
})

test("the statements of a transaction run in the order of the calls", async () => {
  const { store, add, all } = await numbers()
  const seen = await store.transaction(async inner => {
    const requested = []
    for (let n = 0; n < 50; n++) requested.push(add(n, inner), all(inner))
    return (await Promise.all(requested)).filter(Array.isArray).map(({ length }) => length)
  })
  expect(seen).toEqual(Array.from({ length: 50 }, (_, n) => n + 1))
})

test("of two transactions that write one row, the later one sees the result of the earlier one", async () => {
  const { store, add } = await numbers()
  await add(1)
  const raise = () =>
    store.transaction(async inner => {
      // A write that changes nothing takes the row.
      await inner.run("UPDATE numbers SET n = n")
      const row = await inner.one<{ n: number }>("SELECT n FROM numbers")
      await inner.run("UPDATE numbers SET n = $1", [(row?.n ?? 0) + 1])
    })
  await Promise.all(Array.from({ length: 20 }, raise))
  expect(await store.one<unknown>("SELECT n FROM numbers")).toEqual({ n: 21 })
})

onSqlite("waiting statements run in the order in which they were asked", async () => {
  const { store } = await numbers()
  const order: number[] = []
  const gate = Promise.withResolvers<void>()
  const requested = [store.transaction(() => gate.promise)]
  for (let n = 0; n < 50; n++) requested.push(store.one("SELECT 1").then(() => void order.push(n)))
  gate.resolve()
  await Promise.all(requested)
  expect(order).toEqual(Array.from({ length: 50 }, (_, n) => n))
})

test("using the outer store inside a transaction is refused instead of deadlocking", async () => {
  const { store, all } = await numbers()
  expect(await outcomeOf(store.transaction(() => store.one("SELECT 1")))).toThrow("its own store")
  expect(await outcomeOf(store.transaction(() => store.transaction(async () => 1)))).toThrow("its own store")
  expect(await outcomeOf(store.transaction(inner => inner.transaction(() => inner.one("SELECT 1"))))).toThrow(
    "its own store",
  )
  expect(await outcomeOf(store.transaction(() => store.close()))).toThrow("cannot close")
  expect(await all()).toEqual([])
})

test("a nested transaction rolls back only its own statements", async () => {
  const { store, add, all } = await numbers()
  await store.transaction(async outer => {
    await add(1, outer)
    await outer
      .transaction(async inner => {
        await add(2, inner)
        await inner.transaction(innermost => add(3, innermost))
        throw new Error("taken back")
      })
      .catch((error: unknown) => expect(String(error)).toContain("taken back"))
    await outer.transaction(inner => add(4, inner))
  })
  expect(await all()).toEqual([1, 4])
})

test("two nested transactions that start together run one after the other", async () => {
  const { store, add, all } = await numbers()
  await store.transaction(async outer => {
    const failing = outer.transaction(async inner => {
      await add(1, inner)
      await all(inner)
      throw new Error("taken back")
    })
    const holding = outer.transaction(inner => add(2, inner))
    await Promise.allSettled([failing, holding, add(3, outer)])
  })
  expect(await all()).toEqual([2, 3])
})

test("a statement that fails ends its transaction even when the error is caught, as in PostgreSQL", async () => {
  const { store, add, all } = await numbers()
  await add(1)
  const catching = store.transaction(async inner => {
    await add(2, inner)
    await add(1, inner).catch((error: unknown) => expect(String(error)).toContain("UNIQUE"))
    return "went on"
  })
  expect(await outcomeOf(catching)).toThrow("UNIQUE")
  expect(await all()).toEqual([1])
})

test("a statement that was not awaited is part of the transaction, and one after its end is refused", async () => {
  const { store, add, all } = await numbers()
  const kept = await store.transaction(async inner => {
    void inner.transaction(innermost => add(1, innermost))
    void add(2, inner)
    return inner
  })
  expect(await all()).toEqual([1, 2])
  expect(await outcomeOf(add(3, kept))).toThrow("is over")
  expect(await outcomeOf(kept.transaction(inner => add(4, inner)))).toThrow("is over")
  expect(await all()).toEqual([1, 2])
})

test("a statement that was not awaited is rolled back with the transaction that rejects", async () => {
  const { store, add, all } = await numbers()
  const pending: Promise<unknown>[] = []
  const failing = store.transaction(async inner => {
    pending.push(
      inner.transaction(async innermost => {
        await add(1, innermost)
        await add(2, innermost)
      }),
      add(3, inner),
    )
    throw new Error("taken back")
  })
  expect(await outcomeOf(failing)).toThrow("taken back")
  await Promise.allSettled(pending)
  expect(await all()).toEqual([])
})

onSqlite("another connection sees all of a transaction or nothing of it", async () => {
  const path = tempPlace()
  const { store, add } = await numbers(path)
  const other = new Database(path, { readonly: true })
  const count = () => other.query<{ n: number }, []>("SELECT COUNT(*) AS n FROM numbers").get()?.n
  await store.transaction(async inner => {
    await add(1, inner)
    await add(2, inner)
    expect(count()).toBe(0)
  })
  expect(count()).toBe(2)
  other.close()
})

test("a constraint that is violated only at the commit rolls the transaction back", async () => {
  const { store, add, all } = await numbers()
  await store.run("CREATE TABLE children (n BIGINT REFERENCES numbers (n) DEFERRABLE INITIALLY DEFERRED)")
  const failing = store.transaction(async inner => {
    await add(1, inner)
    await inner.run("INSERT INTO children (n) VALUES (99)")
  })
  expect(await outcomeOf(failing)).toThrow("FOREIGN KEY")
  expect(await all()).toEqual([])
  await add(5)
  expect(await all()).toEqual([5])
})

onSqlite("two stores on one file in one process wait for each other's transactions", async () => {
  const path = tempPlace()
  const other = await ownStore(path)
  const { store, add, all } = await numbers(path)
  const gate = Promise.withResolvers<void>()
  const first = store.transaction(async inner => {
    await add(1, inner)
    await gate.promise
    await add(2, inner)
  })
  const second = other.transaction(async inner => {
    expect(await all(inner)).toEqual([1, 2])
    await add(3, inner)
  })
  gate.resolve()
  await Promise.all([first, second])
  expect(await all(other)).toEqual([1, 2, 3])
  expect(await outcomeOf(store.transaction(() => other.one("SELECT 1")))).toThrow("its own store")
})
