import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { MIGRATIONS } from "../../src/customers/store/migrations/migrations.ts"
import {
  diagnoseSqlite,
  diagnoseSqliteOutbox,
  MAIL_WAIT_MS_MAX,
  sqliteLastWrittenAtMs,
} from "../../src/doctor/database.ts"
import { createOlderDatabase } from "../customers/store/migrations/older-database.ts"
import { newAccount, tempLog, tempPath, tempStore } from "../customers/temp-store.ts"

const HEAD = MIGRATIONS.length

/** A database that nobody has open, after `change`. */
async function closed(change: (database: Database) => void = () => undefined): Promise<string> {
  const path = tempPath("mailkind.sqlite")
  const store = await tempStore(path)
  await newAccount(tempLog(store))
  await store.close()
  const database = new Database(path)
  change(database)
  database.close()
  return path
}

/** All files beside a path, with what is in them. */
const filesBeside = (path: string) =>
  readdirSync(dirname(path)).map(name => [name, readFileSync(join(dirname(path), name)).toString("base64")])

describe("the database", () => {
  test("is told whole with what is in it, and nothing is written", async () => {
    const path = await closed()
    const before = filesBeside(path)
    expect(diagnoseSqlite(path)).toMatchObject({
      verdict: "ok",
      seen: expect.stringContaining("Undamaged: 1 accounts, 0 keys"),
    })
    expect(diagnoseSqliteOutbox(path, 0, true)).toMatchObject({
      verdict: "ok",
      seen: expect.stringContaining("No mail waits in the outbox."),
    })
    expect(filesBeside(path)).toEqual(before)
  })

  test("is told as it is now while a server has it open, with what stands in its log alone", async () => {
    const path = tempPath("mailkind.sqlite")
    await newAccount(tempLog(await tempStore(path)))
    expect(diagnoseSqlite(path).seen).toContain("Undamaged: 1 accounts")
  })

  test("that is not there yet is skipped, and is not made", () => {
    const path = tempPath("mailkind.sqlite")
    expect(diagnoseSqlite(path).verdict).toBe("skipped")
    expect(diagnoseSqliteOutbox(path, 0, true).verdict).toBe("skipped")
    expect(readdirSync(dirname(path))).toEqual([])
  })

  test("that is none, or of another program, or a directory, has failed with its remedy", () => {
    const path = tempPath("mailkind.sqlite")
    writeFileSync(path, "no database at all ".repeat(100))
    expect(diagnoseSqlite(path)).toMatchObject({ verdict: "failed", seen: expect.stringContaining("not a database") })
    const foreign = tempPath("mailkind.sqlite")
    const other = new Database(foreign)
    other.run("CREATE TABLE recipes (name TEXT)")
    other.close()
    expect(diagnoseSqlite(foreign)).toMatchObject({
      verdict: "failed",
      remedy: "Use another data directory or another database.",
    })
    const directory = tempPath("mailkind.sqlite")
    mkdirSync(directory)
    expect(diagnoseSqlite(directory)).toMatchObject({ verdict: "failed" })
  })

  test("with a page that was overwritten has failed, wherever the page is", async () => {
    const path = await closed()
    const whole = readFileSync(path)
    let seenCount = 0
    for (let page = 1; page < whole.length / 4096; page++) {
      const copy = tempPath("mailkind.sqlite")
      writeFileSync(copy, Buffer.from(whole).fill(0xff, page * 4096, (page + 1) * 4096))
      if (diagnoseSqlite(copy).verdict === "failed") seenCount++
    }
    expect(seenCount).toBe(whole.length / 4096 - 1)
  })

  test("that was cut has failed", async () => {
    const path = await closed()
    const cut = tempPath("mailkind.sqlite")
    writeFileSync(cut, readFileSync(path).subarray(0, 40_000))
    expect(diagnoseSqlite(cut)).toMatchObject({ verdict: "failed" })
  })

  test("of which an index lost a row has failed, though every page can be read", async () => {
    let root = 0
    const path = await closed(database => {
      database.run("INSERT INTO sessions VALUES ('s', 'h', (SELECT id FROM accounts), 'a', 1, 1)")
      root = Number(
        database.query("SELECT rootpage FROM sqlite_master WHERE name = 'sessions_by_time'").values()[0]?.[0],
      )
    })
    const bytes = readFileSync(path)
    // How many cells the page has (sqlite.org/fileformat2.html §1.6).
    bytes.writeUInt16BE(0, (root - 1) * 4096 + 3)
    writeFileSync(path, bytes)
    expect(diagnoseSqlite(path)).toMatchObject({
      verdict: "failed",
      seen: expect.stringMatching(/^\d or more pages or indexes are damaged: Frag[^\n]*$/),
    })
  })

  test("with a row that belongs to nobody has failed", async () => {
    const path = await closed(database => {
      database.run("INSERT INTO usage (account_id, key_id, day, measure, count) VALUES ('acc_gone', 'k', 1, 'm', 1)")
    })
    expect(diagnoseSqlite(path)).toMatchObject({
      verdict: "failed",
      seen: "A row of usage refers to a missing row.",
    })
  })

  test("of a newer version has failed, and of an older one is told", async () => {
    const newer = await closed(database => database.run("INSERT INTO migrations VALUES (999, 'the future', 1)"))
    expect(diagnoseSqlite(newer)).toMatchObject({ verdict: "failed", seen: expect.stringContaining(`knows ${HEAD}`) })
    expect(diagnoseSqlite(createOlderDatabase(HEAD - 1))).toMatchObject({
      verdict: "warning",
      seen: expect.stringContaining(`at ${HEAD - 1}`),
    })
  })
})

describe("the outbox", () => {
  const waiting = () =>
    closed(database => {
      const [[id = ""] = []] = database.query<unknown, []>("SELECT id FROM accounts").values() as string[][]
      const insert = database.prepare(
        `INSERT INTO outbox (account_id, notice, subject, particulars, written_at_ms, due_at_ms, refusal_count, renewal_count, ending, ended_at_ms)
         VALUES (?, 'n', ?, '{}', ?, 0, 0, 0, ?, ?)`,
      )
      insert.run(id, "waits", 1_000, null, null)
      insert.run(id, "went", 0, "sent", 5)
    })

  test("is told of a mail only when it has waited for longer than it may", async () => {
    const path = await waiting()
    expect(diagnoseSqliteOutbox(path, 1_000 + MAIL_WAIT_MS_MAX, true)).toMatchObject({
      verdict: "ok",
      seen: "1 mail waits, the oldest for 60 minutes.",
    })
    expect(diagnoseSqliteOutbox(path, 1_001 + MAIL_WAIT_MS_MAX, true)).toMatchObject({ verdict: "warning" })
  })

  test("in which mails wait for a server that is not set, says so", async () => {
    expect(diagnoseSqliteOutbox(await waiting(), 1_000, false).remedy).toContain("MAILKIND_SMTP_URL")
  })
})

test("when it was last written is the latest of what it tells, and nothing where it cannot be read", async () => {
  const path = await closed(database => database.run("INSERT INTO changes VALUES (77, 'k', 's', 123456)"))
  expect(sqliteLastWrittenAtMs(path)).toBe(123_456)
  const none = tempPath("mailkind.sqlite")
  expect(sqliteLastWrittenAtMs(none)).toBeNull()
  writeFileSync(none, "x".repeat(5000))
  expect(sqliteLastWrittenAtMs(none)).toBeNull()
})
