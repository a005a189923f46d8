import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { sqliteFile } from "../../src/assemble/context.ts"
import { createDatabasePoll, createStorePart } from "../../src/assemble/customers/store.ts"
import { StoreError } from "../../src/customers/store/core/store-error.ts"
import { NO_WRITES_MS } from "../../src/customers/store/poll/write-watch.ts"
import { openSqlite } from "../../src/customers/store/sqlite-store.ts"
import { diagnoseSqlite } from "../../src/doctor/database.ts"
import { tempPath } from "../customers/temp-store.ts"
import { onTestEnd } from "../support/on-test-end.ts"
import { loggedContext } from "./logged-context.ts"

/** A process over a SQLite file, which another program may lock, and whose disk may be full. */
async function served() {
  const state = { nowMs: 0, isFull: false }
  const { context, lines } = loggedContext({ MAILKIND_DATA_DIR: tempPath("data") }, () => state.nowMs)
  const path = sqliteFile(context.settings)
  const opened = await openSqlite(path, Date.now, async () => undefined)
  onTestEnd(opened.close)
  const run: typeof opened.run = async (sql, params) => {
    if (state.isFull) throw new StoreError("full", path, "SQLITE_FULL: database or disk is full")
    return await opened.run(sql, params)
  }
  const { poll, store } = createDatabasePoll(context, { ...opened, run }, "alone")
  onTestEnd(() => poll.stop())
  /** Writes, and tells whether that went. */
  const writes = (): Promise<boolean> =>
    store.run("DELETE FROM accounts").then(
      () => true,
      () => false,
    )
  /** Polls for so long. A trial that a poll has begun is over before the next one. */
  const pass = async (ms: number): Promise<void> => {
    for (const endMs = state.nowMs + ms; state.nowMs < endMs; state.nowMs += 1000) {
      await poll.poll()
      await store.one("SELECT 1")
    }
    await poll.poll()
  }
  const locked = (): Database => {
    const other = new Database(path)
    other.run("BEGIN EXCLUSIVE")
    onTestEnd(() => other.close())
    return other
  }
  const isUp = () => createStorePart(store).samples?.()[0]?.[1] === 1
  return { path, lines, state, poll, writes, pass, locked, isUp }
}

const OUTAGE = [
  { level: "error", msg: "the database accepts no writes", remedy: expect.any(String) },
  { msg: "the database accepts writes again", lasted_s: expect.any(Number) },
]

test("a SQLite file that another program has locked for ten seconds is an outage, until something can be written", async () => {
  const { path, lines, writes, pass, locked, isUp } = await served()
  const other = locked()
  // Nobody has written anything yet.
  await pass(2 * NO_WRITES_MS)
  expect([isUp(), diagnoseSqlite(path)]).toMatchObject([
    true,
    { verdict: "failed", seen: expect.stringMatching(/BUSY/) },
  ])
  expect(await writes()).toBe(false)
  await pass(NO_WRITES_MS - 2000)
  expect(isUp()).toBe(true)
  await pass(2000)
  expect(isUp()).toBe(false)
  other.run("ROLLBACK")
  await pass(1000)
  expect([isUp(), await writes(), diagnoseSqlite(path).verdict]).toEqual([true, true, "ok"])
  expect(lines).toMatchObject(OUTAGE)
  expect(lines[0]).toMatchObject({ fault: "busy", where: path, why: "SQLITE_BUSY: database is locked" })
})

test("one that is locked for less is none, and one whose disk is full is", async () => {
  const { lines, state, writes, pass, locked, isUp } = await served()
  const other = locked()
  expect(await writes()).toBe(false)
  await pass(NO_WRITES_MS - 2000)
  other.run("ROLLBACK")
  await pass(2 * NO_WRITES_MS)
  expect([isUp(), lines]).toEqual([true, []])
  state.isFull = true
  expect(await writes()).toBe(false)
  await pass(NO_WRITES_MS)
  expect(isUp()).toBe(false)
  state.isFull = false
  await pass(1000)
  expect(isUp()).toBe(true)
  expect(lines).toMatchObject(OUTAGE)
})

test("what one process of a node cannot write, the others try as well", async () => {
  const { state, poll, pass, isUp } = await served()
  state.isFull = true
  const observe = () => poll.observe({ rows: [{ unwritable: null }], tookMs: 0, known: { isWriteFailing: 1 } })
  observe()
  await pass(NO_WRITES_MS + 1000)
  expect(isUp()).toBe(false)
  state.isFull = false
  observe()
  await pass(1000)
  expect(isUp()).toBe(true)
})
