import { expect } from "bun:test"
import { SQL } from "bun"
import { STORE_ERRORS, StoreError } from "../../../../src/customers/store/core/store-error.ts"
import { TABLE_NAMES } from "../../../../src/customers/store/migrations/migrations.ts"
import { readPostgresStatus } from "../../../../src/customers/store/postgres/postgres-status.ts"
import { openPostgres } from "../../../../src/customers/store/postgres-store.ts"
import { diagnosePostgres } from "../../../../src/doctor/database.ts"
import { later } from "../../../support/later.ts"
import { onTestEnd } from "../../../support/on-test-end.ts"
import { emptyDatabase } from "../../../support/postgres-databases.ts"
import { onPostgres } from "../../engines.ts"
import { tempPlace } from "../../temp-store.ts"

const open = async (url: string): Promise<void> =>
  await (await openPostgres(url, { clock: () => 1_000, setTimer: later })).close()

/** What opening fails with, and what doctor tells, which are the same. */
async function refusalAt(url: string): Promise<string> {
  const error = await open(url).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  const told = await diagnosePostgres(readPostgresStatus(url))
  if (error === null) {
    expect(told.verdict).not.toBe("failed")
    return "opened"
  }
  if (!(error instanceof StoreError)) throw error
  expect(told).toMatchObject({ verdict: "failed", remedy: STORE_ERRORS[error.code].remedy })
  return `${error.code} ${error.message.split(": ").at(-1)}`
}

/** A connection to a database, and another user of its server. */
async function otherUser(url: string) {
  const client = new SQL(url, { max: 1 })
  const user = `other_of_${new URL(url).pathname.slice(1)}`
  await client.unsafe(`CREATE ROLE ${user}`)
  onTestEnd(async () => {
    await client.unsafe(`DROP OWNED BY ${user} CASCADE`)
    await client.unsafe(`DROP ROLE ${user}`)
    await client.close()
  })
  return { client, user }
}

const SPY = "CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'"

onPostgres(
  "a database is opened only while each of its tables is a table of ours",
  async () => {
    const url = tempPlace()
    const { client, user } = await otherUser(url)
    for (const table of TABLE_NAMES) {
      const owner = (await client.unsafe<{ name: string }[]>("SELECT current_user::text AS name"))[0]?.name
      await client.unsafe(`ALTER TABLE ${table} OWNER TO ${user}`)
      expect(await refusalAt(url)).toBe(`shared_tables ${table} belongs to ${user}`)
      await client.unsafe(`ALTER TABLE ${table} OWNER TO ${owner}`)
    }
    await client.unsafe("ALTER TABLE sessions RENAME TO kept")
    await client.unsafe("CREATE VIEW sessions AS SELECT * FROM kept")
    expect(await refusalAt(url)).toBe("shared_tables sessions is no table")
    await client.unsafe("DROP VIEW sessions")
    await client.unsafe("ALTER TABLE kept RENAME TO sessions")
    expect(await refusalAt(url)).toBe("opened")
  },
  60_000,
)

onPostgres(
  "a database is opened only while its tables have no triggers and no rules but ours",
  async () => {
    const url = tempPlace()
    const { client, user } = await otherUser(url)
    await client.unsafe(SPY)
    for (const table of TABLE_NAMES) {
      await client.unsafe(`CREATE TRIGGER spies BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION spy()`)
      expect(await refusalAt(url)).toBe(`shared_tables ${table} has the trigger spies`)
      await client.unsafe(`DROP TRIGGER spies ON ${table}`)
    }
    await client.unsafe("CREATE RULE spies AS ON UPDATE TO keys DO INSTEAD NOTHING")
    expect(await refusalAt(url)).toBe("shared_tables keys has the rule spies")
    await client.unsafe("DROP RULE spies ON keys")
    expect(await refusalAt(url)).toBe("opened")
    await client.unsafe("DROP TRIGGER nodes_tell ON nodes")
    await client.unsafe("CREATE TRIGGER nodes_tell AFTER INSERT ON nodes FOR EACH ROW EXECUTE FUNCTION spy()")
    expect(await refusalAt(url)).toBe("shared_tables nodes has the trigger nodes_tell")
    await client.unsafe("DROP TRIGGER nodes_tell ON nodes")
    await client.unsafe(`ALTER FUNCTION tell_of_changes() OWNER TO ${user}`)
    expect(await refusalAt(url)).toBe(`shared_schema the function tell_of_changes in public belongs to ${user}`)
  },
  60_000,
)

onPostgres("no trigger runs of a table that another user made before the first start", async () => {
  const url = emptyDatabase()
  const { client, user } = await otherUser(url)
  await client.unsafe("CREATE SCHEMA elsewhere")
  await client.unsafe("CREATE TABLE elsewhere.seen (who TEXT)")
  await client.unsafe("GRANT USAGE ON SCHEMA elsewhere TO PUBLIC")
  await client.unsafe("GRANT INSERT ON elsewhere.seen TO PUBLIC")
  await client.unsafe(`GRANT CREATE ON SCHEMA elsewhere TO ${user}`)
  await client.unsafe(
    "CREATE TABLE migrations (number BIGINT PRIMARY KEY, makes TEXT NOT NULL, ran_at_ms BIGINT NOT NULL)",
  )
  await client.unsafe(`ALTER TABLE migrations OWNER TO ${user}`)
  await client.unsafe(`SET ROLE ${user}`)
  await client.unsafe(
    SPY.replace("spy()", "elsewhere.spy()").replace("BEGIN", "BEGIN INSERT INTO elsewhere.seen VALUES (current_user);"),
  )
  await client.unsafe("CREATE TRIGGER spies BEFORE INSERT ON migrations FOR EACH ROW EXECUTE FUNCTION elsewhere.spy()")
  await client.unsafe("RESET ROLE")
  expect(await refusalAt(url)).toBe(`shared_tables migrations belongs to ${user}`)
  expect(await client.unsafe("SELECT who FROM elsewhere.seen")).toHaveLength(0)
})

/** Functions and operators that fit the statements of a start better than those of PostgreSQL, each of which tells who ran it. */
const TRAPS = [
  ["eq", "oid, regnamespace", "SELECT $1 OPERATOR(pg_catalog.=) $2::oid", "="],
  ["eq_name", "name, name", "SELECT $1::text OPERATOR(pg_catalog.=) $2::text", "="],
  ["eq_text", "text, text", "SELECT NOT ($1 OPERATOR(pg_catalog.<>) $2)", "="],
  ["current_setting", "text", "SELECT pg_catalog.current_setting($1)", null],
  ["to_regclass", "text", "SELECT pg_catalog.to_regclass($1)", null],
  ["has_schema_privilege", "text, name, text", "SELECT pg_catalog.has_schema_privilege($1::name, $2::text, $3)", null],
] as const

/** Creates the traps in a schema as another user. */
async function setTraps(client: SQL, user: string, schema: string): Promise<void> {
  await client.unsafe("CREATE SCHEMA watch")
  await client.unsafe("CREATE TABLE watch.seen (who TEXT, what TEXT)")
  await client.unsafe("GRANT USAGE ON SCHEMA watch TO PUBLIC")
  await client.unsafe("GRANT INSERT ON watch.seen TO PUBLIC")
  await client.unsafe(`GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${user}`)
  await client.unsafe(`SET ROLE ${user}`)
  for (const [name, types, body, operator] of TRAPS) {
    const returned =
      operator !== null || name.startsWith("has_") ? "boolean" : name === "to_regclass" ? "regclass" : "text"
    const seen = `INSERT INTO watch.seen VALUES (current_user, '${name}')`
    await client.unsafe(
      `CREATE FUNCTION ${schema}.${name}(${types}) RETURNS ${returned} LANGUAGE sql AS '${`${seen}; ${body}`.replaceAll("'", "''")}'`,
    )
    const [left, right] = types.split(", ")
    if (operator !== null)
      await client.unsafe(
        `CREATE OPERATOR ${schema}.${operator} (LEFTARG = ${left}, RIGHTARG = ${right}, FUNCTION = ${schema}.${name})`,
      )
  }
  await client.unsafe("RESET ROLE")
}

onPostgres(
  "what other users have put into a schema of the search path runs neither at a start nor in doctor",
  async () => {
    const url = tempPlace()
    const { client, user } = await otherUser(url)
    await setTraps(client, user, "public")
    expect(await refusalAt(url)).toBe(`shared_schema ${user} may create in public`)
    await client.unsafe(`REVOKE CREATE ON SCHEMA public FROM ${user}`)
    expect(await refusalAt(url)).toBe(`shared_schema the function current_setting in public belongs to ${user}`)
    expect(await client.unsafe("SELECT * FROM watch.seen")).toHaveLength(0)
  },
)

onPostgres("names in statements mean those of our schema, whatever other schemas are in the search path", async () => {
  const url = tempPlace()
  const { client, user } = await otherUser(url)
  const [{ name } = { name: "" }] = await client.unsafe<{ name: string }[]>("SELECT current_database()::text AS name")
  await client.unsafe("CREATE SCHEMA others")
  await setTraps(client, user, "others")
  await client.unsafe(`ALTER DATABASE ${name} SET search_path = public, others`)
  expect(await refusalAt(url)).toBe("opened")
  const store = await openPostgres(url, { clock: () => 1_000, setTimer: later })
  onTestEnd(store.close)
  const path = await store.one<unknown>("SELECT current_setting('search_path') AS path WHERE 'a'::text = 'a'::text")
  expect(path).toEqual({ path: '"public", pg_temp' })
  expect(await client.unsafe("SELECT * FROM watch.seen")).toHaveLength(0)
})

onPostgres("a database is opened only while nobody else may create in its schema", async () => {
  const url = tempPlace()
  const { client, user } = await otherUser(url)
  for (const [role, seen] of [
    [user, user],
    ["PUBLIC", "PUBLIC"],
  ]) {
    await client.unsafe(`GRANT CREATE ON SCHEMA public TO ${role}`)
    expect(await refusalAt(url)).toBe(`shared_schema ${seen} may create in public`)
    await client.unsafe(`REVOKE CREATE ON SCHEMA public FROM ${role}`)
  }
  await client.unsafe(`ALTER SCHEMA public OWNER TO ${user}`)
  expect(await refusalAt(url)).toBe("opened")
  await client.unsafe("ALTER SCHEMA public OWNER TO CURRENT_USER")
})

onPostgres("the tables whose owner is compared are all that a new database has", async () => {
  const client = new SQL(tempPlace(), { max: 1 })
  onTestEnd(() => client.close())
  const tables = await client.unsafe<{ name: string }[]>(
    "SELECT tablename::text AS name FROM pg_tables WHERE schemaname = 'public'",
  )
  expect(tables.map(({ name }) => name).sort()).toEqual(TABLE_NAMES.toSorted())
})

onPostgres(
  "an older dump that was restored over the tables of a later version is refused, with what to do, and not changed",
  async () => {
    const url = emptyDatabase()
    await open(url)
    await using client = new SQL(url, { max: 1 })
    await client.unsafe("DELETE FROM migrations WHERE number > 38")
    for (const { reason, later } of [
      { reason: /lists_head.* already exists/, later: "DROP TABLE lists_head, lists_files, lists_file_parts" },
      { reason: /admin_acts_of_operators.* already exists/, later: "DROP INDEX admin_acts_of_operators" },
      { reason: /admin_acts_of_accounts.* already exists/, later: "DROP INDEX admin_acts_of_accounts" },
      { reason: /"settings".* already exists/, later: "ALTER TABLE nodes DROP COLUMN settings" },
    ]) {
      const refused: unknown = await open(url).catch(error => error)
      const remedy = expect.stringContaining("/docs/scaling#postgres-backup")
      expect(refused).toMatchObject({ code: "altered", reason: expect.stringMatching(reason), remedy })
      expect([...(await client.unsafe("SELECT MAX(number)::int AS head FROM migrations"))]).toEqual([{ head: 38 }])
      await client.unsafe(later)
    }
    await open(url)
  },
)
