import { SQL } from "bun"
import type { OpenStore } from "../../src/customers/store/core/store.ts"
import { openPostgres } from "../../src/customers/store/postgres-store.ts"
import { later } from "./later.ts"
import { isBefore15, type PostgresCluster, type PostgresServer, postgresAt, startPostgres } from "./postgres.ts"

/** How many databases are kept ready, so that a test that wants one need not wait. */
const READY_MIN = 2

/** A copy of it is a database that is up to date. */
const TEMPLATE = "up_to_date"

/** Who asks over the connections that one test after the other uses. */
const REUSING_USER = "reusing"

/** Where the runner of all tests tells the port of the server that it has started for them. */
export const POSTGRES_PORT = "TEST_POSTGRES_PORT"

type Shared = {
  readonly server: PostgresServer
  /** The server, if this process has started it. */
  readonly own: PostgresCluster | null
  readonly admin: SQL
  readonly ready: string[]
  /** What makes up a database that is up to date; one that differs is not used again. Null: none was looked at yet. */
  shape: string | null
  /** A connection to each database that is used again. */
  readonly clients: Map<string, SQL>
  readonly cleaning: Set<Promise<void>>
  /** Stores that no test uses now, by the URL of their database. */
  readonly idleStores: Map<string, OpenStore[]>
  madeCount: number
}

let shared: Promise<Shared> | null = null
let now: Shared | null = null

/** Starts the one server of the run, when it does not run yet, and makes some databases ready. */
export async function readyPostgres(): Promise<void> {
  shared ??= started()
  now = await shared
  await Promise.all(now.cleaning)
  while (now.ready.length < READY_MIN) {
    const name = nextName(now)
    await now.admin.unsafe(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`)
    now.shape ??= await shapeOf(clientOf(now, name))
    now.ready.push(name)
  }
}

/** Makes, in a server that is new, the database that all others are copies of. */
export async function makeTemplate(server: PostgresServer): Promise<void> {
  await using admin = new SQL(server.url("postgres"), { max: 1 })
  await admin.unsafe(`CREATE ROLE ${REUSING_USER} LOGIN SUPERUSER`)
  await admin.unsafe(`CREATE DATABASE ${TEMPLATE}`)
  if (isBefore15()) server.program("psql", "--quiet", "--dbname", server.url(TEMPLATE), "--command", OWN_SCHEMA)
  const template = await openPostgres(server.url(TEMPLATE), { clock: () => 1_000, setTimer: later })
  await template.close()
}

/** Ends all connections, and the server if this process has started it. */
export async function endPostgres(): Promise<void> {
  if (shared === null) return
  const { admin, clients, cleaning, idleStores, own } = await shared
  await Promise.all(cleaning)
  await Promise.all([...idleStores.values()].flat().map(store => store.close()))
  await Promise.all([admin, ...clients.values()].map(client => client.close({ timeout: 0 })))
  await own?.remove()
}

/** A database of its own that is up to date and empty: its URL, and how to give it back, which resolves when it is empty again. */
export function takeDatabase(): { readonly url: string; readonly drop: () => Promise<void> } {
  const here = running()
  const name = here.ready.shift() ?? madeNow(`--template=${TEMPLATE}`)
  const drop = (): Promise<void> => {
    // One that cannot be used again goes with the server.
    const cleaned = clean(here, name).catch(() => undefined)
    here.cleaning.add(cleaned)
    return cleaned.then(() => void here.cleaning.delete(cleaned))
  }
  return { url: here.server.url(name), drop }
}

/** A database of its own without a table, for programs that the test starts, and how to ask it a statement and get what it prints. */
export async function programsDatabase(): Promise<{ readonly url: string; readonly psql: (sql: string) => string }> {
  await readyPostgres()
  const url = emptyDatabase()
  const words = ["--quiet", "--no-align", "--tuples-only", "--dbname", url, "--command"]
  return {
    url,
    psql: sql =>
      running()
        .server.program("psql", ...words, sql)
        .trim(),
  }
}

/** A database of its own without a table: its URL. `words` are for `createdb`. */
export const emptyDatabase = (...words: string[]): string =>
  running().server.url(madeNow("--template=template0", ...words))

const reusingUrl = (url: string): string => url.replace("mailkind@", `${REUSING_USER}@`)

/**
 * A store on the database at a URL. Once closed it serves a later test on the same database: each has four connections, which
 * take far longer to make than most tests take.
 */
export async function takeStore(url: string): Promise<OpenStore> {
  const { idleStores } = running()
  const store =
    idleStores.get(url)?.pop() ?? (await openPostgres(reusingUrl(url), { clock: () => 1_000, setTimer: later }))
  const underWay = new Set<Promise<unknown>>()
  const state = { closing: null as Promise<void> | null, isListening: false }
  const request = async <T>(work: () => Promise<T>): Promise<T> => {
    if (state.closing !== null) throw new Error("the store is closed")
    const answer = work()
    underWay.add(answer)
    return await answer.finally(() => underWay.delete(answer))
  }
  const giveBack = async (): Promise<void> => {
    await Promise.allSettled(underWay)
    // Nobody can stop to listen.
    if (state.isListening) await store.close()
    else idleStores.set(url, [...(idleStores.get(url) ?? []), store])
  }
  return {
    all: <Row>(...words: Parameters<OpenStore["all"]>) => request(() => store.all<Row>(...words)),
    one: <Row>(...words: Parameters<OpenStore["one"]>) => request(() => store.one<Row>(...words)),
    run: (...words) => request(() => store.run(...words)),
    transaction: work => request(() => store.transaction(work)),
    clockSql: store.clockSql,
    unwritableSql: store.unwritableSql,
    isPooled: store.isPooled,
    isUnavailable: () => store.isUnavailable(),
    connectionsInUse: () => store.connectionsInUse(),
    onChange: received => {
      state.isListening = true
      store.onChange(received)
    },
    close: () => {
      state.closing ??= giveBack()
      return state.closing
    },
  }
}

/** All rows of the database at a URL, as text. */
export const dumpOf = (url: string): string => running().server.program("pg_dump", "--data-only", url)

/** A database that a test is done with is emptied, which is far quicker than to make another. */
async function clean(here: Shared, name: string): Promise<void> {
  const client = clientOf(here, name)
  await client.unsafe(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename <> '${REUSING_USER}'`,
  )
  if ((await shapeOf(client)) !== here.shape) {
    const url = here.server.url(name)
    await Promise.all((here.idleStores.get(url) ?? []).map(store => store.close()))
    here.idleStores.delete(url)
    return
  }
  const tables = await client.unsafe<{ name: string }[]>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('migrations', 'change_head', 'host_sightings_head', 'confirmed_time')",
  )
  const emptying = tables.map(table => `DELETE FROM ${table.name}`)
  const heads = [
    "UPDATE change_head SET id = 0",
    "UPDATE host_sightings_head SET batch = 0",
    "UPDATE confirmed_time SET confirmed_at_ms = NULL, held_ms = 0",
  ]
  await client.unsafe([...emptying, ...heads].join(";"))
  here.ready.push(name)
}

/** The connection to a database that tests use one after the other. */
function clientOf({ clients, server }: Shared, name: string): SQL {
  const client = clients.get(name) ?? new SQL(reusingUrl(server.url(name)), { max: 1 })
  clients.set(name, client)
  return client
}

/** Tables, columns, indexes, triggers, functions, and which migrations ran when. */
async function shapeOf(client: SQL): Promise<string> {
  const [row] = await client.unsafe<{ shape: string }[]>(`
    SELECT concat(
      (SELECT string_agg(concat(relname, relnatts, relkind), ',' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace),
      (SELECT string_agg(tgname, ',' ORDER BY tgname) FROM pg_trigger WHERE NOT tgisinternal),
      (SELECT string_agg(proname, ',' ORDER BY proname) FROM pg_proc WHERE pronamespace = 'public'::regnamespace),
      (SELECT string_agg(concat(number, ' ', ran_at_ms), ',' ORDER BY number) FROM migrations),
      (SELECT count(*) FROM change_head), (SELECT count(*) FROM host_sightings_head), (SELECT count(*) FROM confirmed_time)) AS shape`)
  return row?.shape ?? ""
}

/** What later versions begin with. */
const OWN_SCHEMA = "REVOKE CREATE ON SCHEMA public FROM PUBLIC"

function madeNow(...words: string[]): string {
  const here = running()
  const name = nextName(here)
  const { program, port } = here.server
  program("createdb", "-h", "127.0.0.1", "-p", String(port), "-U", "mailkind", ...words, name)
  if (isBefore15()) program("psql", "--quiet", "--dbname", here.server.url(name), "--command", OWN_SCHEMA)
  return name
}

/** Other processes make databases in the same server. */
const nextName = (here: Shared): string => `test_${process.pid}_${++here.madeCount}`

function running(): Shared {
  if (now === null) throw new Error("the test does not run on PostgreSQL")
  return now
}

async function started(): Promise<Shared> {
  const port = process.env[POSTGRES_PORT]
  const own = port === undefined ? await startPostgres() : null
  if (own !== null) await makeTemplate(own)
  const server = own ?? postgresAt(Number(port))
  const admin = new SQL(server.url("postgres"), { max: 2 })
  return {
    ...{ server, own, admin, ready: [], shape: null, clients: new Map() },
    ...{ cleaning: new Set(), idleStores: new Map(), madeCount: 0 },
  }
}
