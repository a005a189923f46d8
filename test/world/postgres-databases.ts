import { SQL } from "bun"
import { openPostgres } from "../../src/customers/store/postgres-store.ts"
import { later } from "./later.ts"
import { type Cluster, startCluster } from "./postgres.ts"

/** How many databases are kept ready, so that a test that wants one need not wait. */
const READY_MIN = 2

/** A copy of it is a database that is up to date. */
const TEMPLATE = "up_to_date"

type Shared = {
  readonly cluster: Cluster
  readonly admin: SQL
  readonly ready: string[]
  /** What makes up a database that is up to date; one that differs is not used again. */
  readonly shape: string
  /** A connection to each database that is used again. */
  readonly clients: Map<string, SQL>
  readonly cleaning: Set<Promise<void>>
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
    now.ready.push(name)
  }
}

/** Stops it. */
export async function endPostgres(): Promise<void> {
  if (shared === null) return
  const { admin, clients, cleaning, cluster } = await shared
  await Promise.all(cleaning)
  await Promise.all([admin, ...clients.values()].map(client => client.close({ timeout: 0 })))
  await cluster.remove()
}

/** A database of its own that is up to date and empty: its URL, and how to give it back. */
export function takeDatabase(): { readonly url: string; readonly drop: () => void } {
  const here = running()
  const name = here.ready.shift() ?? madeNow(`--template=${TEMPLATE}`)
  const drop = (): void => {
    // It goes on beside the next test. One that cannot be used again goes with the server.
    const cleaned = clean(here, name).catch(() => undefined)
    here.cleaning.add(cleaned)
    void cleaned.then(() => here.cleaning.delete(cleaned))
  }
  return { url: here.cluster.url(name), drop }
}

/** A database of its own without a table: its URL. `words` are for `createdb`. */
export const emptyDatabase = (...words: string[]): string =>
  running().cluster.url(madeNow("--template=template0", ...words))

/** All rows of the database at a URL, as text. */
export const dumpOf = (url: string): string => running().cluster.program("pg_dump", "--data-only", url)

/** A database that a test is done with is emptied, which is far quicker than to make another. */
async function clean(here: Shared, name: string): Promise<void> {
  const client = here.clients.get(name) ?? new SQL(here.cluster.url(name), { max: 1 })
  here.clients.set(name, client)
  await client.unsafe(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  )
  if ((await shapeOf(client)) !== here.shape) return
  const tables = await client.unsafe<{ name: string }[]>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('migrations', 'change_head', 'host_sightings_head')",
  )
  const emptying = tables.map(table => `DELETE FROM ${table.name}`)
  const heads = ["UPDATE change_head SET id = 0", "UPDATE host_sightings_head SET batch = 0"]
  await client.unsafe([...emptying, ...heads].join(";"))
  here.ready.push(name)
}

/** Tables, columns, indexes, triggers, functions, and which migrations ran when. */
async function shapeOf(client: SQL): Promise<string> {
  const [row] = await client.unsafe<{ shape: string }[]>(`
    SELECT concat(
      (SELECT string_agg(concat(relname, relnatts, relkind), ',' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace),
      (SELECT string_agg(tgname, ',' ORDER BY tgname) FROM pg_trigger WHERE NOT tgisinternal),
      (SELECT string_agg(proname, ',' ORDER BY proname) FROM pg_proc WHERE pronamespace = 'public'::regnamespace),
      (SELECT string_agg(concat(number, ' ', ran_at_ms), ',' ORDER BY number) FROM migrations),
      (SELECT count(*) FROM change_head), (SELECT count(*) FROM host_sightings_head)) AS shape`)
  return row?.shape ?? ""
}

function madeNow(...words: string[]): string {
  const here = running()
  const name = nextName(here)
  here.cluster.program("createdb", "-h", "127.0.0.1", "-p", String(here.cluster.port), "-U", "mailkind", ...words, name)
  return name
}

const nextName = (here: Shared): string => `test_${++here.madeCount}`

function running(): Shared {
  if (now === null) throw new Error("the test does not run on PostgreSQL")
  return now
}

async function started(): Promise<Shared> {
  const cluster = await startCluster()
  const admin = new SQL(cluster.url("postgres"), { max: 2 })
  await admin.unsafe(`CREATE DATABASE ${TEMPLATE}`)
  const template = await openPostgres(cluster.url(TEMPLATE), { clock: () => 1_000, setTimer: later })
  await template.close()
  const client = new SQL(cluster.url(TEMPLATE), { max: 1 })
  const shape = await shapeOf(client)
  await client.close()
  return { cluster, admin, ready: [], shape, clients: new Map(), cleaning: new Set(), madeCount: 0 }
}
