import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { dirname } from "node:path"
import { SQL } from "bun"
import { PROGRAM } from "../../../../bench/servers/product.ts"
import { decideFeedback } from "../../../../src/customers/feedback/decision.ts"
import { createKey } from "../../../../src/customers/keys/keys.ts"
import { readHeartbeats, writeHeartbeat } from "../../../../src/customers/nodes/live-nodes.ts"
import {
  copiedValue,
  copyToPostgres,
  formatCopyLine,
  readTableLayouts,
} from "../../../../src/customers/store/backup/copy-to-postgres.ts"
import type { Store } from "../../../../src/customers/store/core/store.ts"
import { SCHEMA_VERSION } from "../../../../src/customers/store/migrations/migrations.ts"
import { withNewDatabase } from "../../../../src/customers/store/sqlite/own-schema.ts"
import { openSqlite } from "../../../../src/customers/store/sqlite-store.ts"
import { publishTerms } from "../../../../src/customers/terms/terms.ts"
import { onTestEnd } from "../../../support/on-test-end.ts"
import { startProgram } from "../../../support/program.ts"
import { onPostgres } from "../../engines.ts"
import { submitReport } from "../../feedback/open-feedback.ts"
import { newAccount, random, tempLog, tempPath, tempPlace, tempStore } from "../../temp-store.ts"

/** A file in which every noun has left something; its path, and its rows by table. */
async function filled() {
  const path = tempPath("mailkind.sqlite")
  const store = await openSqlite(path, () => 1_000)
  const log = tempLog(store)
  for (let at = 0; at < 20; at++) {
    const accountId = await newAccount(log, `Jane${at}@example.com`)
    await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
    if (at === 0) await decideFeedback(log, (await submitReport(log, { accountId })).id, "accepted")
    await store.run("INSERT INTO usage (account_id, key_id, day, measure, count) VALUES ($1, 'k', 1, 'checks', $2)", [
      accountId,
      Number.MAX_SAFE_INTEGER - at,
    ])
  }
  await store.run("UPDATE feedback SET comment = $1", ["tab\t, line\nand back\\slash, \\N, ä€😀 and \u0001"])
  await publishTerms(log, { version: "1", url: "https://example.com/", isMaterial: true })
  await store.close()
  const database = new Database(path)
  onTestEnd(() => database.close())
  return {
    path,
    rows: (table: string) =>
      database.query(`SELECT * FROM ${table} ORDER BY 1, 2${table === "change_head" ? "" : ", 3, 4"}`).all(),
  }
}

const TABLES = ["accounts", "keys", "usage", "feedback", "corrections", "terms", "outbox", "changes", "change_head"]

onPostgres("every row is copied unchanged, and the ids of changes continue", async () => {
  const { path, rows } = await filled()
  const place = tempPlace()
  const store = await tempStore(place)
  const facts: number[][] = []
  const move = await copyToPostgres(path, place, (...how) => void facts.push(how))
  if (move.kind !== "moved") throw new Error(move.kind)
  for (const table of TABLES)
    expect(
      await store.all<unknown>(`SELECT * FROM ${table} ORDER BY 1, 2${table === "change_head" ? "" : ", 3, 4"}`),
    ).toEqual(table === "change_head" ? [{ singleton: 1, id: rows("changes").length }] : rows(table))
  expect(move.tables.find(({ name }) => name === "keys")).toMatchObject({ rowsCount: 20 })
  expect(move.location).not.toContain("mailkind@")
  const [done, total] = facts.at(-1) ?? []
  expect(done).toBe(total ?? 0)
})

onPostgres("rows of nodes that share the target already do not prevent the copy, and stay", async () => {
  const { path } = await filled()
  const store = await openSqlite(path, () => 1_000)
  await writeHeartbeat(store, { id: "node_of_the_file", startId: "node_of_the_file" })
  await store.close()
  const place = tempPlace()
  const there = await tempStore(place)
  await writeHeartbeat(there, { id: "node_1", startId: "node_1" })
  const move = await copyToPostgres(path, place)
  expect(move).toMatchObject({ kind: "moved" })
  expect(await readHeartbeats(there)).toEqual([{ id: "node_1", beat: 1, url: null, startId: "node_1" }])
})

test("each column of each table has a type whose values the copy knows, and takes or repairs only what PostgreSQL takes", () => {
  const types = withNewDatabase(SCHEMA_VERSION, readTableLayouts).flatMap(table => table.types)
  expect([...new Set(types)].sort()).toEqual(["BIGINT", "TEXT"])
  const values = [null, 1, 1.5, 2 ** 53, Number.POSITIVE_INFINITY, "1", "a\0b", "\ud800", new Uint8Array([1])]
  expect(values.map(value => [copiedValue(value, "BIGINT"), copiedValue(value, "TEXT")])).toEqual([
    [null, null],
    [1, undefined],
    [2, undefined],
    [undefined, undefined],
    [undefined, undefined],
    [undefined, "1"],
    [undefined, "a\uFFFDb"],
    [undefined, "\uFFFD"],
    [undefined, undefined],
  ])
})

onPostgres("a fraction in any column of numbers is rounded, NUL in a text replaced, and both are counted", async () => {
  const { path, rows } = await filled()
  const before = TABLES.map(rows)
  const counts = TABLES.map(name => spoil(path, name))
  expect(Math.min(...counts)).toBeGreaterThan(0)
  const place = tempPlace()
  const store = await tempStore(place)
  const move = await copyToPostgres(path, place)
  if (move.kind !== "moved") throw new Error(JSON.stringify(move))
  expect(TABLES.map(name => move.tables.find(table => table.name === name)?.repairedCount)).toEqual(counts)
  for (const [index, name] of TABLES.entries())
    if (name !== "feedback") expect(await sortedRows(store, name)).toEqual(before[index]?.map(asText).sort() ?? [])
  expect(await store.one<unknown>("SELECT comment FROM feedback")).toEqual({ comment: "a\uFFFDb" })
})

/** Adds a fraction to each number of a table that leaves room for one, and NUL to a comment; how many values that are. */
function spoil(path: string, name: string): number {
  const database = new Database(path)
  const [table] = readTableLayouts(database).filter(layout => layout.name === name)
  const small = (column: string): string => `"${column}" BETWEEN 0 AND 1e15`
  const numbers = table?.columns.filter((_, index) => table.types[index] === "BIGINT" && name !== "terms") ?? []
  let count = 0
  database.run("PRAGMA ignore_check_constraints = ON")
  for (const column of [...numbers, ...(name === "terms" ? ["published_at_ms"] : [])])
    count += database.run(`UPDATE ${name} SET "${column}" = "${column}" + 0.25 WHERE ${small(column)}`).changes
  if (name === "feedback") count += database.run("UPDATE feedback SET comment = 'a' || char(0) || 'b'").changes
  database.close()
  return count
}

const asText = (row: unknown): string => JSON.stringify(row)

const sortedRows = async (store: Store, name: string): Promise<readonly string[]> =>
  (await store.all<unknown>(`SELECT * FROM ${name}`)).map(asText).sort()

onPostgres(
  "a value without a form in its column, or a row that PostgreSQL refuses, is named, and nothing is stored",
  async () => {
    const { path } = await filled()
    const place = tempPlace()
    const store = await tempStore(place)
    const row = "WHERE rowid = (SELECT MAX(rowid) FROM keys)"
    const unfit = [
      ["keys", "created_at_ms", "'soon'", "string"],
      ["keys", "created_at_ms", "9007199254740993", "number"],
      ["keys", "revoked_at_ms", "9e999", "number"],
      ["keys", "name", "x'00ff'", "bytes"],
    ] as const
    for (const [table, column, value, found] of unfit) {
      const database = new Database(path)
      database.run(`CREATE TEMP TABLE kept AS SELECT ${column} AS value FROM keys ${row}`)
      database.run(`UPDATE ${table} SET ${column} = ${value} ${row}`)
      expect(await copyToPostgres(path, place)).toEqual({ kind: "unfit_value", table, column, row: 20, found })
      database.run(`UPDATE ${table} SET ${column} = (SELECT value FROM kept) ${row}`)
      database.close()
    }
    const database = new Database(path)
    database.run("UPDATE changes SET id = 1.25 WHERE id = 2")
    database.close()
    expect(await copyToPostgres(path, place)).toMatchObject({ kind: "refused_rows", table: "changes" })
    expect(await store.one<unknown>("SELECT COUNT(*) AS count FROM accounts")).toEqual({ count: 0 })
    const environment = { PATH: process.env["PATH"], MAILKIND_DATA_DIR: dirname(path), MAILKIND_DATABASE_URL: place }
    const { code, err } = await startProgram([...PROGRAM, "store", "copy"], dirname(path), environment).ended()
    expect([code, err]).toEqual([1, expect.stringContaining("PostgreSQL refuses rows of changes: ")])
  },
)

onPostgres("a target with rows is refused and stays unchanged", async () => {
  const { path } = await filled()
  const place = tempPlace()
  const store = await tempStore(place)
  await newAccount(tempLog(store))
  expect(await copyToPostgres(path, place)).toEqual({ kind: "not_empty", table: "accounts" })
  expect(await store.one<unknown>("SELECT COUNT(*) AS count FROM keys")).toEqual({ count: 0 })
})

onPostgres("a copy that fails or reads back other rows is rolled back, and can be repeated", async () => {
  const { path } = await filled()
  const place = tempPlace()
  const store = await tempStore(place)
  const client = new SQL(place, { max: 1 })
  onTestEnd(() => client.close())
  await client.unsafe(`CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.last4 = 'spoi'; RETURN NEW; END $$`)
  await client.unsafe("CREATE TRIGGER spoils BEFORE INSERT ON keys FOR EACH ROW EXECUTE FUNCTION spoil()")
  expect(await copyToPostgres(path, place)).toEqual({ kind: "differs", table: "keys" })
  const cut = copyToPostgres(path, place, done => {
    if (done > 20) throw new Error("cut")
  })
  expect(await cut.catch(String)).toContain("cut")
  expect(await store.one<unknown>("SELECT COUNT(*) AS count FROM accounts")).toEqual({ count: 0 })
  await client.unsafe("DROP TRIGGER spoils ON keys")
  expect(await copyToPostgres(path, place)).toMatchObject({ kind: "moved" })
})

onPostgres("a command whose copy fails ends with its reason and an exit code", async () => {
  const { path } = await filled()
  const place = tempPlace()
  const client = new SQL(place, { max: 1 })
  onTestEnd(() => client.close())
  // No trigger, which would be refused before.
  await client.unsafe(`CREATE FUNCTION refuse() RETURNS boolean LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$`)
  await client.unsafe("ALTER TABLE keys ADD CONSTRAINT refuses CHECK (refuse())")
  const environment = { PATH: process.env["PATH"], MAILKIND_DATA_DIR: dirname(path), MAILKIND_DATABASE_URL: place }
  const command = [...PROGRAM, "store", "copy"]
  const { code, err } = await startProgram(command, dirname(path), environment).ended()
  expect(err).toContain("The disk of the database server is full.")
  expect(code).toBe(1)
})

onPostgres("a file that is open elsewhere, missing, or of an older version is not copied", async () => {
  const { path } = await filled()
  const place = tempPlace()
  const open = await openSqlite(path, () => 1)
  expect(await copyToPostgres(path, place).catch((error: unknown) => error)).toMatchObject({ code: "busy" })
  await open.run("DELETE FROM migrations WHERE number > 5")
  await open.close()
  expect(await copyToPostgres(path, place)).toEqual({ kind: "other_version", schemaVersion: 5 })
  expect(await copyToPostgres(tempPath("none"), place)).toEqual({ kind: "no_database" })
})

onPostgres("any text is escaped exactly as PostgreSQL escapes it", async () => {
  const client = new SQL(tempPlace(), { max: 1 })
  onTestEnd(() => client.close())
  for (let code = 1; code < 0x250; code++) {
    const text = `a${String.fromCodePoint(code)}b`
    const written = await new Response(
      client.unsafe(`COPY (SELECT U&'a\\${code.toString(16).padStart(4, "0")}b') TO STDOUT`).readable(),
    ).text()
    expect(formatCopyLine([text])).toBe(written)
  }
  expect(formatCopyLine([null, 5, "", "\\N"])).toBe("\\N\t5\t\t\\\\N\n")
})
