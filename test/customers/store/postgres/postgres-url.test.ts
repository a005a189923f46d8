import { test as bunTest, expect } from "bun:test"
import { SQL } from "bun"
import { StoreError } from "../../../../src/customers/store/core/store-error.ts"
import { readPostgresStatus } from "../../../../src/customers/store/postgres/postgres-status.ts"
import { isPlainUrl, validatePostgresUrl } from "../../../../src/customers/store/postgres/postgres-url.ts"
import { requireSupportedServer } from "../../../../src/customers/store/postgres/prepare-database.ts"
import { openPostgres } from "../../../../src/customers/store/postgres-store.ts"
import { later } from "../../../support/later.ts"
import { onTestEnd } from "../../../support/on-test-end.ts"
import { startPostgres } from "../../../support/postgres.ts"
import { emptyDatabase } from "../../../support/postgres-databases.ts"
import { onPostgres } from "../../engines.ts"

const SECRET = "s3cretpassword"

async function setUp(url: string) {
  const store = await openPostgres(url, { clock: () => 1_000, setTimer: later })
  onTestEnd(store.close)
  return store
}

/** The code and the text of the error with which something fails, which contains no secret. */
async function errorOf(work: Promise<unknown>): Promise<{ readonly code: string; readonly facts: string }> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof StoreError)) throw error ?? new Error("it did not fail")
  expect(Bun.inspect(error)).not.toContain(SECRET)
  return { code: error.code, facts: error.message }
}

async function admin(url: string): Promise<SQL> {
  const sql = new SQL(url, { max: 1 })
  onTestEnd(() => sql.close({ timeout: 0 }))
  return sql
}

bunTest.each([
  [`postgres://jane:${SECRET}@[:::]/mailkind`, "no URL"],
  [`postgres://jane:%zz${SECRET}@127.0.0.1:1/mailkind`, "percent-encoding"],
  [`postgres://jane:${SECRET}@127.0.0.1:1/%zz`, "percent-encoding"],
  [`postgres://jane:%00${SECRET}@127.0.0.1:1/mailkind`, "NUL"],
  [`postgres://jane:${SECRET}@127.0.0.1:0/mailkind`, "its port"],
  [`postgres://jane:${SECRET}@127.0.0.1:1/mailkind?sslmode=${SECRET}`, "its sslmode"],
  [`postgres://jane:${SECRET}@127.0.0.1:1/mailkind?sslmode=verify-full&sslrootcert=/nowhere/${SECRET}`, "sslrootcert"],
])("a URL to which nothing could ever connect is told as such, and not repeated: %#", async (url, why) => {
  for (const work of [setUp(url), readPostgresStatus(url)])
    expect(await errorOf(work)).toMatchObject({ code: "misnamed", facts: expect.stringContaining(why) })
})

bunTest("a URL to which something could connect is not refused", () => {
  for (const url of [
    `postgresql://we%20ird%40%3A:p%25${SECRET}@[::1]/mail%3Fkind`,
    "postgres://localhost/mailkind?host=/run/postgresql&sslmode=verify-full&application_name=x",
  ])
    expect(() => validatePostgresUrl(url)).not.toThrow()
})

onPostgres("a login that the server ends for a parameter of the URL is a `refused` error", async () => {
  const url = emptyDatabase()
  for (const query of ["nonsense=1", "work_mem=much"])
    expect((await errorOf(setUp(`${url}?${query}`))).code).toBe("refused")
})

onPostgres("no setting of the database or the URL overrides ours, and text and bytes come back unchanged", async () => {
  const url = emptyDatabase()
  const name = new URL(url).pathname.slice(1)
  const other = await admin(url)
  const settings = {
    ...{ client_encoding: "LATIN1", bytea_output: "escape", datestyle: "German", timezone: "Asia/Kolkata" },
    ...{ standard_conforming_strings: "off", default_transaction_isolation: "serializable" },
    ...{ statement_timeout: "1ms", lock_timeout: "1ms", idle_in_transaction_session_timeout: "1ms" },
  }
  for (const [key, value] of Object.entries(settings))
    await other.unsafe(`ALTER DATABASE ${name} SET ${key} = '${value}'`)
  const store = await setUp(`${url}?statement_timeout=1&lock_timeout=1`)
  await store.run("CREATE TABLE notes (text TEXT)")
  await store.run("INSERT INTO notes (text) VALUES ($1)", ["\\ ä€😀"])
  expect(await store.one<unknown>("SELECT text, '\\' AS slash FROM notes")).toEqual({
    text: "\\ ä€😀",
    slash: "\\",
  })
  expect(await store.one<unknown>("SELECT current_setting('transaction_isolation') AS isolation")).toEqual({
    isolation: "read committed",
  })
})

onPostgres(
  "tables are created in the first schema of the user's search_path; when there is none, the error says so",
  async () => {
    const url = emptyDatabase()
    const name = new URL(url).pathname.slice(1)
    const other = await admin(url)
    await other.unsafe("CREATE SCHEMA ours")
    await other.unsafe("CREATE TABLE public.recipes (name TEXT)")
    await other.unsafe(`ALTER DATABASE ${name} SET search_path = ours, public`)
    const store = await setUp(url)
    expect(
      await store.one<unknown>("SELECT schemaname::text AS name FROM pg_tables WHERE tablename = 'accounts'"),
    ).toEqual({
      name: "ours",
    })
    await other.unsafe(`ALTER DATABASE ${name} SET search_path = nowhere`)
    const error = await errorOf(setUp(url))
    expect(error).toMatchObject({ code: "rightless", facts: expect.stringContaining("search_path") })
  },
)

onPostgres(
  "another program's tables are detected without the right to read them, and those of extensions do not count",
  async () => {
    const url = emptyDatabase()
    const other = await admin(url)
    const name = new URL(url).pathname.slice(1)
    const role = `guest_of_${name}`
    await other.unsafe(`CREATE ROLE ${role} LOGIN`)
    onTestEnd(async () => {
      await other.unsafe(`DROP OWNED BY ${role}`)
      await other.unsafe(`DROP ROLE ${role}`)
    })
    await other.unsafe(`GRANT CREATE ON SCHEMA public TO ${role}`)
    await other.unsafe("CREATE TABLE recipes (name TEXT)")
    const guests = new URL(url)
    guests.username = role
    expect((await errorOf(setUp(guests.href))).code).toBe("foreign_database")
    await other.unsafe("ALTER EXTENSION plpgsql ADD TABLE recipes")
    onTestEnd(() => other.unsafe("ALTER EXTENSION plpgsql DROP TABLE recipes"))
    const store = await setUp(guests.href)
    expect(await store.one<unknown>("SELECT COUNT(*) AS count FROM accounts")).toEqual({ count: 0 })
  },
)

bunTest("a server of a version before those that are supported is told as such", async () => {
  const server = (number: string) => ({
    all: async () => [],
    one: async <Row>() => ({ version: number, number, encoding: "UTF8", schema: "public", source: "client" }) as Row, // what such a server answers
  })
  expect((await errorOf(requireSupportedServer(server("119999"), "there", "direct"))).code).toBe("outdated")
  await requireSupportedServer(server("120000"), "there", "direct")
})

onPostgres("a certificate is accepted only from its issuer and for its own name", async () => {
  const cluster = await startPostgres()
  onTestEnd(cluster.remove)
  const database = await admin(cluster.url("postgres"))
  const key = (name: string) =>
    `umask 077; openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout ${name}.key -out ${name}.crt`
  for (const name of ["server", "another"]) await database.unsafe(`COPY (SELECT 1) TO PROGRAM '${key(name)}'`)
  await database.unsafe("ALTER SYSTEM SET ssl = on")
  await database.unsafe("SELECT pg_reload_conf()")
  const at = (host: string, mode: string, root: string) =>
    `postgres://mailkind:${SECRET}@${host}:${cluster.port}/postgres?sslmode=${mode}&sslrootcert=${cluster.directory}/data/${root}.crt`
  const isSecret = async (url: string) => {
    const store = await setUp(url)
    return await store.one<unknown>("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
  }
  expect(await isSecret(at("localhost", "verify-full", "server"))).toEqual({ ssl: 1 })
  expect((await errorOf(setUp(at("localhost", "verify-full", "another")))).code).toBe("untrusted")
  expect((await errorOf(setUp(at("127.0.0.1", "verify-full", "server")))).code).toBe("untrusted")
  expect((await errorOf(readPostgresStatus(at("127.0.0.1", "verify-full", "server")))).code).toBe("untrusted")
})

bunTest("a URL is plain if it names another host and asks for no encryption", () => {
  const urls = ["db.internal", "10.0.0.20:6432", "[fd00::1]", "localhost", "127.0.0.1:5432", "[::1]"]
  expect(urls.map(host => isPlainUrl(`postgres://mailkind@${host}/mailkind`))).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ])
  const modes = ["disable", "prefer", "require", "verify-full"]
  expect(modes.map(mode => isPlainUrl(`postgres://db/mailkind?sslmode=${mode}`))).toEqual([true, false, false, false])
  expect(isPlainUrl("postgres:///mailkind?host=/run/postgresql")).toBe(false)
})
