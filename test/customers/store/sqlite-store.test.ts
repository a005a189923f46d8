import { Database } from "bun:sqlite"
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { OpenStore } from "../../../src/customers/store/core/store.ts"
import { StoreError } from "../../../src/customers/store/core/store-error.ts"
import { sqliteStoreError } from "../../../src/customers/store/sqlite/database-file.ts"
import { acquireExclusiveLock, type ReleaseLock } from "../../../src/customers/store/sqlite/database-lock.ts"
import { openSqlite } from "../../../src/customers/store/sqlite-store.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { ownStore, runChildren, tempPath } from "../temp-store.ts"

setDefaultTimeout(300_000)

const now = () => 1_000

/** A store with an empty table `notes`. */
const notes = async (path = tempPath()) => await notesOf(await ownStore(path))

async function notesOf(store: OpenStore) {
  await store.run("CREATE TABLE IF NOT EXISTS notes (id BIGINT PRIMARY KEY, text TEXT)")
  const add = (id: number, from: typeof store | Parameters<Parameters<typeof store.transaction>[0]>[0] = store) =>
    from.run("INSERT INTO notes (id) VALUES ($1)", [id])
  const ids = async () => (await store.all<{ id: number }>("SELECT id FROM notes ORDER BY id")).map(row => row.id)
  return { store, add, ids }
}

async function errorOf(opening: Promise<unknown>): Promise<StoreError> {
  const error = await opening.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(StoreError)
  if (!(error instanceof StoreError)) throw error
  expect(error.remedy).not.toBe("")
  return error
}

describe("opening", () => {
  test("a missing file and its directories are created for the owner only", async () => {
    const path = join(dirname(tempPath()), "a", "b", "mailkind.db")
    await ownStore(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    expect(statSync(dirname(dirname(path))).mode & 0o777).toBe(0o700)
  })

  test("a commit waits for the disk, readers do not wait for writers, and foreign keys hold", async () => {
    const store = await ownStore()
    expect(await store.one<unknown>("PRAGMA synchronous")).toEqual({ synchronous: 2 })
    expect(await store.one<unknown>("PRAGMA journal_mode")).toEqual({ journal_mode: "wal" })
    expect(await store.one<unknown>("PRAGMA foreign_keys")).toEqual({ foreign_keys: 1 })
    expect(await store.one<unknown>("PRAGMA busy_timeout")).toEqual({ timeout: 25 })
    // The log stays short without a program that writes it to the database.
    expect(await store.one<unknown>("PRAGMA wal_autocheckpoint")).toEqual({ wal_autocheckpoint: 1000 })
  })

  test("only what may be lost with the power is committed without waiting for the disk, and nothing after it", async () => {
    const { store, add } = await notes()
    const mode = async (from: Pick<typeof store, "one"> = store) => await from.one<unknown>("PRAGMA synchronous")
    const modes = [
      await store.transaction(mode, "unsynced"),
      await store.transaction(mode),
      await store.transaction(mode, "unsynced"),
    ]
    await add(1)
    expect([...modes, await mode()]).toEqual([1, 2, 1, 2].map(synchronous => ({ synchronous })))
    await store.transaction(inner => add(2, inner), "unsynced")
    const write =
      "UPDATE notes SET text = '' WHERE id = 2 RETURNING (SELECT synchronous FROM pragma_synchronous) AS synchronous"
    expect(await store.one<unknown>(write)).toEqual({ synchronous: 2 })
  })

  test("what has arrived is handled between two transactions, and between writes", async () => {
    const { store, add } = await notes()
    const order: string[] = []
    const log = (what: string) => () => void order.push(what)
    const first = store.transaction(inner => add(1, inner)).then(log("first"))
    const second = store.transaction(inner => add(2, inner)).then(log("second"))
    const third = add(3).then(log("third"))
    const arrivals = (left: number): void => {
      order.push("arrival")
      if (left > 0) setImmediate(arrivals, left - 1)
    }
    setImmediate(arrivals, 2)
    await Promise.all([first, second, third])
    expect(order.slice(0, 5)).toEqual(["first", "arrival", "second", "arrival", "third"])
  })

  for (const [name, contents] of [
    ["a short text", "hello"],
    ["a long text", "no database at all ".repeat(1000)],
    ["a header without a database", `SQLite format 3\0${"\0".repeat(5000)}`],
  ] as const)
    test(`${name} is refused as no database and left as it was`, async () => {
      const path = tempPath()
      writeFileSync(path, contents)
      expect((await errorOf(openSqlite(path, now))).code).toBe("not_a_database")
      expect(readFileSync(path, "latin1")).toBe(contents)
      expect(existsSync(`${path}-wal`)).toBe(false)
    })

  test("a write-ahead log that grew while somebody read is cut again, and keeps nothing above 16 MiB", async () => {
    const path = tempPath()
    const { store } = await notes(path)
    using reader = new Database(path, { readonly: true })
    const logBytes = () => statSync(`${path}-wal`).size
    reader.run("BEGIN")
    reader.query("SELECT COUNT(*) FROM notes").all()
    const add = (id: number) => store.run("INSERT INTO notes (id, text) VALUES ($1, $2)", [id, "x".repeat(5_000_000)])
    for (let id = 0; id < 5; id++) await add(id)
    expect(logBytes()).toBeGreaterThan(20_000_000)
    reader.run("COMMIT")
    // The first commit moves all of it to the database, the second one begins the log anew.
    for (let id = 5; id < 7; id++) await store.run("INSERT INTO notes (id) VALUES ($1)", [id])
    expect(logBytes()).toBeLessThanOrEqual(16_777_216)
  })

  test("a database whose pages are overwritten is refused as damaged", async () => {
    const path = tempPath()
    const store = await openSqlite(path, now)
    await store.close()
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0xff, 100))
    expect((await errorOf(openSqlite(path, now))).code).toBe("damaged")
  })

  test("another program's database is refused and stays unchanged", async () => {
    const path = tempPath()
    const other = new Database(path)
    other.run("CREATE TABLE recipes (name TEXT)")
    other.close()
    const before = readFileSync(path)
    expect((await errorOf(openSqlite(path, now))).code).toBe("foreign_database")
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test("an error of a file that cannot grow is that of a full disk, or of a quota, and a broken disk stays one", () => {
    const thrown = (code: string): unknown => {
      try {
        return new Database(":memory:").run("nonsense")
      } catch (error) {
        return Object.create(error as object, { code: { value: code }, message: { value: "disk I/O error" } }) // an error of SQLite
      }
    }
    for (const [code, growthError, expected] of [
      ["SQLITE_IOERR_SHMSIZE", "ENOSPC", "full"],
      ["SQLITE_IOERR_WRITE", "EDQUOT", "full"],
      ["SQLITE_CANTOPEN", "ENOSPC", "full"],
      ["SQLITE_IOERR_SHMSIZE", null, "failed"],
      // What is read needs no room.
      ["SQLITE_IOERR_READ", "ENOSPC", "failed"],
    ] as const)
      expect(sqliteStoreError(thrown(code), "/data/mailkind.sqlite", () => growthError)).toMatchObject({
        code: expected,
        reason: `${code}: disk I/O error${expected === "full" ? ` (${growthError})` : ""}`,
      })
  })

  test("a data directory that is a file, or cannot be created, is named with what it is", async () => {
    const file = tempPath()
    writeFileSync(file, "")
    expect(await errorOf(openSqlite(join(file, "mailkind.db"), now))).toMatchObject({
      ...{ location: file, reason: "it is not a directory (EEXIST)" },
    })
    expect(await errorOf(openSqlite("/proc/none/mailkind.db", now))).toMatchObject({
      reason: expect.stringContaining("it does not exist and cannot be created"),
    })
  })

  test("a path through a file, and a directory in the file's place, are refused as unwritable", async () => {
    const file = tempPath()
    writeFileSync(file, "")
    expect((await errorOf(openSqlite(join(file, "mailkind.db"), now))).code).toBe("unwritable")
    const directory = tempPath()
    mkdirSync(directory)
    expect((await errorOf(openSqlite(directory, now))).code).toBe("unwritable")
  })

  test("a file that another program locks is waited for in short turns, in which reads of others go on, and then it is a `busy` error", async () => {
    const path = tempPath()
    const other = new Database(path)
    let pauses: number[] = []
    let onPause = (): unknown => undefined
    const pause = async (ms: number) => {
      pauses.push(ms)
      await onPause()
    }
    const { store, add, ids } = await notesOf(await openSqlite(path, now, pause))
    other.run("BEGIN IMMEDIATE")
    await store.one("PRAGMA busy_timeout = 0")
    // A lock that ends in time is not noticed by the caller.
    onPause = () => pauses.length === 20 && other.run("ROLLBACK")
    await add(1)
    expect([pauses.length, pauses.slice(0, 5), Math.max(...pauses)]).toEqual([20, [10, 20, 40, 80, 100], 100])
    onPause = () => undefined
    other.run("BEGIN EXCLUSIVE")
    pauses = []
    expect((await errorOf(add(2))).code).toBe("busy")
    const waitedMs = pauses.reduce((sum, ms) => sum + ms, 0)
    expect([waitedMs > 3000, waitedMs < 5000]).toEqual([true, true])
    // While it lasts nobody else waits: reads are answered, and writes are refused at once.
    pauses = []
    expect(await ids()).toEqual([1])
    expect((await errorOf(store.transaction(async inner => add(2, inner)))).code).toBe("busy")
    expect(pauses).toEqual([])
    other.run("ROLLBACK")
    await add(3)
    other.run("BEGIN IMMEDIATE")
    onPause = () => pauses.length === 2 && other.run("ROLLBACK")
    await store.transaction(async inner => add(4, inner))
    expect(pauses).toHaveLength(2)
    expect(await ids()).toEqual([1, 3, 4])
    await store.close()
    other.close()
  })

  test("an opening waits in short turns for a restore that holds the database", async () => {
    const path = tempPath()
    await (await openSqlite(path, now)).close()
    let release: ReleaseLock | null = acquireExclusiveLock(path)
    const pauses: number[] = []
    const pause = async (ms: number): Promise<void> => {
      if (pauses.push(ms) !== 3) return
      release?.()
      release = null
    }
    await (await openSqlite(path, now, pause)).close()
    expect(pauses).toEqual([10, 20, 40])
  })

  test("a full disk is an error that rolls the transaction back, and writes work again when there is space", async () => {
    const { store, add, ids } = await notes()
    const { page_count } = (await store.one<{ page_count: number }>("PRAGMA page_count")) ?? { page_count: 0 }
    await store.one(`PRAGMA max_page_count = ${page_count + 1}`)
    const filling = store.transaction(async inner => {
      await add(1, inner)
      await inner.run("INSERT INTO notes (id, text) VALUES (2, $1)", ["x".repeat(100_000)])
    })
    expect((await errorOf(filling)).code).toBe("full")
    await add(3)
    expect(await ids()).toEqual([3])
  })

  test("processes that open new files at the same moment all succeed", async () => {
    const setUp = await runChildren(4, "open", tempPath())
    expect(setUp.map(child => child.code)).toEqual([0, 0, 0, 0])
  })

  // Root may write to everything.
  test.skipIf(process.getuid?.() === 0)("a write-protected file or directory is refused as unwritable", async () => {
    const path = tempPath()
    await (await openSqlite(path, now)).close()
    chmodSync(path, 0o400)
    expect((await errorOf(openSqlite(path, now))).code).toBe("unwritable")
    chmodSync(dirname(path), 0o500)
    expect((await errorOf(openSqlite(join(dirname(path), "new.db"), now))).code).toBe("unwritable")
    chmodSync(dirname(path), 0o700)
  })
})

describe("closing", () => {
  test("waits for running statements, refuses further ones, and leaves only the file", async () => {
    const path = tempPath()
    const store = await openSqlite(path, now)
    const writing = store.run("DELETE FROM keys")
    const closing = store.close()
    expect(await outcomeOf(store.one("SELECT 1"))).toThrow("is over")
    expect(await writing).toBe(0)
    await closing
    await store.close()
    expect(existsSync(`${path}-wal`)).toBe(false)
  })
})
