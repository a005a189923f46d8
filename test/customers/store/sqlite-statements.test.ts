import { expect } from "bun:test"
import { createBulkStatements } from "../../../src/customers/store/core/sql-text.ts"
import type { SqlValue } from "../../../src/customers/store/core/store.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { test } from "../engines.ts"
import { ownStore, tempPlace, tempStore } from "../temp-store.ts"

/** A store with an empty table `notes`. */
async function notes() {
  const store = await tempStore()
  await store.run("CREATE TABLE notes (id BIGINT PRIMARY KEY, text TEXT)")
  const add = (id: number) => store.run("INSERT INTO notes (id) VALUES ($1)", [id])
  const ids = async () => (await store.all<{ id: number }>("SELECT id FROM notes ORDER BY id")).map(row => row.id)
  return { store, add, ids }
}

test("parameters are bound by number, not by the order of appearance, as in PostgreSQL", async () => {
  const store = await tempStore()
  const row = await store.one<unknown>("SELECT $2 AS second, $1 AS first, $2 AS again", ["one", "two"])
  expect(row).toEqual({ first: "one", second: "two", again: "two" })
})

test("what looks like a parameter in a string, a quoted name or a comment is not replaced", async () => {
  const store = await tempStore()
  const sql = `SELECT '$2; it''s' AS text, $1 AS "$3;" -- $4; and
    /* $5; */ FROM (SELECT 1) AS one`
  expect(await store.one<unknown>(sql, ["one"])).toEqual({ text: "$2; it's", "$3;": "one" })
})

test("too few or too many parameters, and a second statement, are refused", async () => {
  const store = await tempStore()
  expect(await outcomeOf(store.one("SELECT $1, $2", ["one"]))).toThrow("expected 2 values")
  expect(await outcomeOf(store.one("SELECT $1", ["one", "two"]))).toThrow("expected 1 values")
  expect(await outcomeOf(store.run("SELECT 1; DROP TABLE accounts"))).toThrow("one statement at a time")
})

test("more different statements than are cached still give their own results", async () => {
  const store = await tempStore()
  for (let round = 0; round < 2; round++)
    for (let number = 0; number < 300; number++)
      expect(await store.one<unknown>(`SELECT ${number} AS number`)).toEqual({ number })
})

test("a result without rows is null or empty, and `run` counts the rows it changed", async () => {
  const { store, add } = await notes()
  expect(await store.one("SELECT id FROM notes")).toBeNull()
  expect(await store.all("SELECT id FROM notes")).toEqual([])
  await add(1)
  await add(2)
  expect(await store.run("UPDATE notes SET text = $1", ["x"])).toBe(2)
  expect(await store.run("DELETE FROM notes WHERE id = $1", [7])).toBe(0)
})

test("the largest safe integer comes back as it went in", async () => {
  const { add, ids } = await notes()
  await add(Number.MAX_SAFE_INTEGER)
  expect(await ids()).toEqual([Number.MAX_SAFE_INTEGER])
})

test("sums, counts and booleans come as numbers", async () => {
  const { store, add } = await notes()
  await add(3)
  await add(2 ** 52)
  const sql = `SELECT SUM(id) AS sum, COUNT(*) AS count, COALESCE(MAX(id), 0) AS most, 1 = 1 AS yes,
    EXISTS (SELECT 1 FROM notes WHERE id = 4) AS no, NULL AS none FROM notes`
  expect(await store.one<unknown>(sql)).toEqual({
    sum: 2 ** 52 + 3,
    count: 2,
    most: 2 ** 52,
    yes: 1,
    no: 0,
    none: null,
  })
})

test("texts sort by their bytes, whatever the database's own order is", async () => {
  const store = await tempStore()
  const emails = ["a@b.c", "B@b.c", "ä@b.c", "_@b.c", "Z@b.c", "aa@b.c", "a_@b.c", "a-@b.c"]
  for (const [at, email] of emails.entries())
    await store.run("INSERT INTO accounts (id, email, tier, created_at_ms) VALUES ($1, $2, 0, 0)", [`acc_${at}`, email])
  const sorted = emails.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const rows = await store.all<{ email: string }>("SELECT email FROM accounts ORDER BY email")
  expect(rows.map(({ email }) => email)).toEqual(sorted)
  const after = await store.all<{ email: string }>("SELECT email FROM accounts WHERE email > $1 ORDER BY email", [
    "Z@b.c",
  ])
  expect(after.map(({ email }) => email)).toEqual(sorted.slice(sorted.indexOf("Z@b.c") + 1))
})

test("a text comes back as it went in, but a NUL or a lone surrogate becomes U+FFFD", async () => {
  const { store } = await notes()
  const write = async (id: number, text: string) => {
    await store.run("INSERT INTO notes (id, text) VALUES ($1, $2)", [id, text])
    return (await store.one<{ text: string }>("SELECT text FROM notes WHERE id = $1", [id]))?.text
  }
  for (const [id, text] of ["", "'", '"', "\\", "\n\t", "ä€😀", "$1", "%_", "x".repeat(100_000)].entries())
    expect(await write(id, text)).toBe(text)
  expect(await write(100, "a\0b")).toBe("a\uFFFDb")
  expect(await write(101, "a\ud800b")).toBe("a\uFFFDb")
})

test.each([
  [0.5],
  [Number.NaN],
  [Number.POSITIVE_INFINITY],
  [2 ** 53],
  [true],
  [1n],
  [new Uint8Array([1])],
  [undefined],
])("%p is no value of a column: the statement fails and stores nothing, in bulk too", async (...[value]) => {
  const { store } = await notes()
  const params = [value as SqlValue]
  await rejects(store.run("INSERT INTO notes (id) VALUES ($1)", params))
  await rejects(store.transaction(inner => inner.all("INSERT INTO notes (id) VALUES ($1)", params)))
  const bulk = createBulkStatements(["BIGINT"], rows => `SELECT column1 FROM ${rows}`)
  expect(() => bulk([[value as number]])).toThrow("safe integer")
  expect(await store.one<unknown>("SELECT COUNT(*) AS count FROM notes")).toEqual({ count: 0 })
})

const rejects = async (statement: Promise<unknown>): Promise<void> =>
  expect(await statement.catch(String)).toContain("a text, a safe integer or null")

test("the error for a violated constraint does not contain the row's values", async () => {
  const store = await tempStore()
  const insert = () =>
    store.run("INSERT INTO accounts (id, email, tier, created_at_ms) VALUES ('acc_1', 'jane@example.com', 0, 0)")
  await insert()
  const error = await insert().catch((thrown: unknown) => thrown)
  expect(String(error)).toContain("UNIQUE constraint failed")
  expect(Bun.inspect(error)).not.toContain("jane")
})

test("closing a store waits for running statements and refuses further ones", async () => {
  const store = await ownStore(tempPlace())
  const writing = store.run("DELETE FROM keys")
  const closing = store.close()
  expect(await outcomeOf(store.one("SELECT 1"))).toThrow("is over")
  expect(await writing).toBe(0)
  await closing
  await store.close()
})
