import { Database } from "bun:sqlite"
import { expect } from "bun:test"
import { dirname } from "node:path"
import { SQL } from "bun"
import { PROGRAM } from "../../../../bench/servers/product.ts"
import { acceptFeedback } from "../../../../src/customers/feedback/decision.ts"
import { createKey } from "../../../../src/customers/keys/keys.ts"
import { readHeartbeats, writeHeartbeat } from "../../../../src/customers/nodes/live-nodes.ts"
import { copyToPostgres, formatCopyLine } from "../../../../src/customers/store/backup/copy-to-postgres.ts"
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
    if (at === 0) await acceptFeedback(log, (await submitReport(log, { accountId })).id)
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
  return { path, rows: (table: string) => database.query(`SELECT * FROM ${table} ORDER BY 1, 2, 3, 4`).all() }
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
  await writeHeartbeat(store, "node_of_the_file")
  await store.close()
  const place = tempPlace()
  const there = await tempStore(place)
  await writeHeartbeat(there, "node_1")
  const move = await copyToPostgres(path, place)
  expect(move).toMatchObject({ kind: "moved" })
  expect(await readHeartbeats(there)).toEqual([{ id: "node_1", beat: 1, url: null }])
})

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
  expect(err).toContain("The disk is full.")
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
