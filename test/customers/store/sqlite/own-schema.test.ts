import { Database } from "bun:sqlite"
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { backUpDatabase } from "../../../../src/customers/store/backup/backup.ts"
import { copyToPostgres } from "../../../../src/customers/store/backup/copy-to-postgres.ts"
import { restoreDatabase } from "../../../../src/customers/store/backup/restore.ts"
import { StoreError } from "../../../../src/customers/store/core/store-error.ts"
import { MIGRATIONS } from "../../../../src/customers/store/migrations/migrations.ts"
import { openSqlite } from "../../../../src/customers/store/sqlite-store.ts"
import { diagnoseSqlite } from "../../../../src/doctor/database.ts"
import { onPostgres } from "../../engines.ts"
import { tempPath, tempPlace, tempStore } from "../../temp-store.ts"
import { createOlderDatabase } from "../migrations/older-database.ts"

setDefaultTimeout(60_000)

const HEAD = MIGRATIONS.length

const ENDLESS = "WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless) SELECT MAX(n) FROM endless"

/** What somebody who can write the file adds to it or changes in it. */
const ATTACKS: Readonly<Record<string, readonly string[]>> = {
  "a trigger that makes revoked keys live again": [
    "CREATE TRIGGER lives AFTER UPDATE ON keys BEGIN UPDATE keys SET revoked_at_ms = NULL; END",
  ],
  "a trigger that never ends": [`CREATE TRIGGER endless AFTER UPDATE ON change_head BEGIN ${ENDLESS}; END`],
  "a view": ["CREATE VIEW everything AS SELECT * FROM keys"],
  "a view in the place of a table": [
    "ALTER TABLE sessions RENAME TO kept",
    "CREATE VIEW sessions AS SELECT * FROM kept",
  ],
  "a view in the place of the table of migrations that never ends": [
    "DROP TABLE migrations",
    `CREATE VIEW migrations AS SELECT (${ENDLESS}) AS number, '' AS makes, 0 AS ran_at_ms`,
  ],
  "a table of migrations that computes a column without end": [
    "DROP TABLE migrations",
    "CREATE TABLE migrations (number BIGINT AS (length(hex(zeroblob(ran_at_ms)))), makes TEXT, ran_at_ms BIGINT)",
  ],
  "a table": ["CREATE TABLE notes (text TEXT)"],
  "a table whose name is SQL": [`CREATE TABLE "x; DROP TABLE keys; --" (text TEXT PRIMARY KEY)`],
  "a table of another letter case": [
    "DROP TABLE nodes",
    "CREATE TABLE Nodes (id TEXT PRIMARY KEY, beat BIGINT NOT NULL)",
  ],
  "a virtual table": ["CREATE VIRTUAL TABLE words USING fts5(text)"],
  "a table of Litestream that computes a column without end": [
    "CREATE TABLE _litestream_lock (id INTEGER, endless AS (length(hex(zeroblob(id)))))",
  ],
  "a trigger on a table of Litestream": [
    "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)",
    `CREATE TRIGGER endless AFTER UPDATE ON _litestream_seq BEGIN ${ENDLESS}; END`,
  ],
  "an index": ["CREATE INDEX emails ON accounts (email, tier)"],
  "an index on an expression": ["CREATE INDEX emails ON accounts (upper(email))"],
  "another index of the name of ours": ["DROP INDEX keys_by_account", "CREATE INDEX keys_by_account ON keys (hash)"],
  "a column": ["ALTER TABLE keys ADD COLUMN note TEXT DEFAULT (1)"],
  "a column whose name is SQL": [`ALTER TABLE keys ADD COLUMN "note); COPY keys FROM PROGRAM 'id'; --" TEXT`],
  "a missing table": ["DROP TABLE nodes"],
  "a missing index": ["DROP INDEX keys_by_account"],
  "tables of a later migration": [`DELETE FROM migrations WHERE number = ${HEAD}`],
  "a latest migration that is no number": ["INSERT INTO migrations VALUES ('no number', 'it', 1)"],
}

function attacked(statements: readonly string[]): string {
  const path = createOlderDatabase(HEAD)
  using database = new Database(path)
  for (const statement of statements) database.run(statement)
  return path
}

/** A database with the migrations up to `head`, each statement of which was changed before it ran. */
function rewritten(head: number, change: (sql: string, number: number) => string): string {
  const path = createOlderDatabase(0, 0)
  using database = new Database(path)
  database.run("PRAGMA synchronous = OFF")
  let count = 0
  for (const { number, description, statements } of MIGRATIONS.slice(0, head)) {
    for (const statement of statements) database.run(change(statement, count++))
    database.query("INSERT INTO migrations VALUES (?, ?, 5)").run(number, description)
  }
  return path
}

const codeOf = async (work: () => unknown): Promise<string> => {
  try {
    await work()
    return "done"
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    expect(error.remedy).not.toBe("")
    return error.code
  }
}

const open = async (path: string): Promise<void> => await (await openSqlite(path, () => 1)).close()

/** Each way in which a file is taken refuses it as altered, and neither it nor anything beside it is changed. */
async function expectRefused(path: string): Promise<void> {
  const before = readFileSync(path)
  const target = createOlderDatabase(HEAD)
  const targetBefore = readFileSync(target)
  const doctor = diagnoseSqlite(path)
  expect([doctor.verdict, doctor.seen]).toEqual(["failed", expect.stringContaining("not those that mailkind creates")])
  expect(await codeOf(() => restoreDatabase(path, target, "then"))).toBe("altered")
  expect(await codeOf(() => open(path))).toBe("altered")
  expect(readFileSync(path).equals(before)).toBe(true)
  expect(readFileSync(target).equals(targetBefore)).toBe(true)
  for (const each of [path, target])
    expect(readdirSync(dirname(each)).filter(name => !name.endsWith(".lock"))).toEqual(["mailkind.sqlite"])
}

describe("a file is not opened, not restored, and told by doctor, with", () => {
  for (const [name, statements] of Object.entries(ATTACKS)) test(name, () => expectRefused(attacked(statements)))

  test("any of our statements changed by a comment", async () => {
    const count = MIGRATIONS.flatMap(({ statements }) => statements).length
    for (let at = 0; at < count; at++) {
      const path = rewritten(HEAD, (sql, number) =>
        number !== at ? sql : sql.startsWith("ALTER") ? `${sql} DEFAULT NULL` : sql.replace("(", "( /**/ "),
      )
      const isOfSchema = !MIGRATIONS.flatMap(({ statements }) => statements)[at]?.startsWith("INSERT")
      expect(await codeOf(() => open(path))).toBe(isOfSchema ? "altered" : "done")
      expect(await codeOf(() => restoreDatabase(path, tempPath(), "then"))).toBe(isOfSchema ? "altered" : "done")
    }
  })
})

test("a file of each of our versions is opened and restored, whatever the white space of its statements is", async () => {
  for (let head = 0; head <= HEAD; head++) {
    const path = rewritten(head, sql =>
      sql.replaceAll(", ", " ,\n\t").replaceAll(" TEXT", "   TEXT").replaceAll("(", "( "),
    )
    expect(restoreDatabase(path, join(dirname(tempPath()), "mailkind.sqlite"), "then").schemaVersion).toBe(head)
    await open(path)
  }
})

test("the statistics that ANALYZE stores do not prevent an opening or a restore", async () => {
  const path = attacked(["ANALYZE"])
  await open(path)
  expect(await codeOf(() => restoreDatabase(path, tempPath(), "then"))).toBe("done")
})

/** As Litestream creates them, in a new database too. */
const LITESTREAM_TABLES = [
  "CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)",
  "CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER)",
]

test("the tables of Litestream do not prevent an opening, a backup or a restore, and a file with these alone is new", async () => {
  const path = attacked(LITESTREAM_TABLES)
  await open(path)
  const backup = join(dirname(path), "backup")
  expect(backUpDatabase(path, backup, { mustNotExist: true })).toMatchObject({ schemaVersion: HEAD })
  expect(await codeOf(() => restoreDatabase(backup, path, "then"))).toBe("done")
  const fresh = tempPath()
  using database = new Database(fresh)
  for (const statement of LITESTREAM_TABLES) database.run(statement)
  await open(fresh)
  expect(diagnoseSqlite(fresh).verdict).toBe("ok")
})

onPostgres("the tables of Litestream are not copied to PostgreSQL", async () => {
  const place = tempPlace()
  await tempStore(place)
  expect(await copyToPostgres(attacked(LITESTREAM_TABLES), place)).toMatchObject({ kind: "moved" })
})

test("a database that cannot be opened for what was added to it is replaced by a restore, which keeps its revocations", async () => {
  const path = attacked([
    "INSERT INTO keys (id, account_id, kind, hash, last4, name, origins, created_at_ms) VALUES ('key_1', 'acc_0', 'secret', 'h', 'last', 'n', '', 1)",
  ])
  const backup = join(dirname(path), "backup")
  backUpDatabase(path, backup, { mustNotExist: true })
  const database = new Database(path)
  database.run("UPDATE keys SET revoked_at_ms = 5, revoked_by = 'admin'")
  database.run("CREATE VIEW everything AS SELECT * FROM keys")
  database.close()
  expect(restoreDatabase(backup, path, "then").merged).toMatchObject({ revokedCount: 1 })
  await open(path)
})

onPostgres("no such file is copied to PostgreSQL, and none of its names reaches a statement there", async () => {
  const place = tempPlace()
  const store = await tempStore(place)
  for (const [name, statements] of Object.entries(ATTACKS)) {
    const copying = () => copyToPostgres(attacked(statements), place)
    // The version of this one is compared first.
    if (name === "tables of a later migration") expect(await copying()).toMatchObject({ kind: "other_version" })
    else expect(await codeOf(copying)).toBe("altered")
  }
  expect(await store.one<unknown>("SELECT COUNT(*) AS count FROM accounts")).toEqual({ count: 0 })
})
