import { readFileSync } from "node:fs"
import { join } from "node:path"
import { SQL } from "bun"
import { openStoreAt } from "../../src/customers/store/open-store.ts"
import { createSystem } from "../../src/system/system.ts"
import { startPostgres } from "../../test/support/postgres.ts"
import { HIGH_LIMITS } from "../servers/accounts.ts"
import { addAccounts } from "../servers/many-accounts.ts"
import { cpuMsOf, processTree } from "../servers/process-stats.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "../servers/product.ts"
import { bound, type ServerProcess, startServer } from "../servers/server-process.ts"

const DATABASE = "nodes"

/** As durable as it is by default: tests do without, a bench must not. */
const DURABLE = ["fsync=on", "full_page_writes=on"]

/** A PostgreSQL server with an empty database. Disposing of it stops it and removes its files. */
export type BenchDatabase = AsyncDisposable & {
  readonly url: string
  readonly statements: CountedStatements
  /** CPU time that all its processes had so far. */
  readonly cpuMs: () => number
}

/** Starts it. Rejects where PostgreSQL is not installed, or its module that counts statements is not. */
export async function startDatabase(): Promise<BenchDatabase> {
  await using stack = new AsyncDisposableStack()
  const cluster = await startPostgres([...DURABLE, ...COUNTING_SETTINGS])
  stack.defer(cluster.remove)
  const admin = stack.adopt(new SQL(cluster.url("postgres"), { max: 1 }), client => client.close({ timeout: 0 }))
  await admin.unsafe(`CREATE DATABASE ${DATABASE}`)
  const statements = stack.use(await countStatements(cluster.url("postgres"), DATABASE))
  const pid = Number(readFileSync(join(cluster.directory, "data", "postmaster.pid"), "utf8").split("\n")[0])
  stack.use(bound(pid, "load"))
  const parts = stack.move()
  return {
    url: cluster.url(DATABASE),
    statements,
    cpuMs: () => processTree(pid).reduce((sum, each) => sum + cpuMsOf(each), 0),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

/** Servers over one store, and secret keys, each of an account of its own. Disposing of them stops the servers. */
export type BenchNodes = AsyncDisposable & {
  readonly servers: readonly ServerProcess[]
  readonly keys: readonly string[]
  /** How many units the store has as used. What servers have not written yet is not among them. */
  readonly unitsUsed: () => Promise<number>
}

/** Starts so many servers over the database at `url`, or, when it is null, over one SQLite file, with new accounts in it. */
export async function startNodes(url: string | null, count: number, accounts: number): Promise<BenchNodes> {
  const { clock, setTimer, random } = createSystem()
  await using stack = new AsyncDisposableStack()
  const first = stack.use(await emptyDirectory())
  const place = url ?? join(first.path, "mailkind.sqlite")
  const inStore = async <T>(work: (store: Awaited<ReturnType<typeof openStoreAt>>) => Promise<T>): Promise<T> => {
    const store = await openStoreAt(place, { clock, setTimer })
    return await work(store).finally(store.close)
  }
  // The first key of each account is a secret one.
  const keys = await inStore(store => addAccounts(store, random, accounts, accounts))
  const servers: ServerProcess[] = []
  for (let at = 0; at < count; at++) {
    // An SQLite file is shared by who shares its directory.
    const { path } = at === 0 || url === null ? first : stack.use(await emptyDirectory())
    servers.push(stack.use(await startNode(path, url)))
  }
  const parts = stack.move()
  return {
    servers,
    keys,
    unitsUsed: () => inStore(async store => (await store.one<{ sum: number }>(UNITS_USED))?.sum ?? 0),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

const UNITS_USED = "SELECT CAST(SUM(count) AS BIGINT) AS sum FROM usage WHERE measure = 'used'"

/** One server. All share one core, and leave the other to database and load program. */
function startNode(directory: string, url: string | null): Promise<ServerProcess> {
  const where = url === null ? {} : { MAILKIND_DATABASE_URL: url }
  return startServer({
    command: PRODUCT.source,
    environment: { ...productSettings(directory), ...HIGH_LIMITS, ...KEEPING_MEMORY, ...where },
    core: "server",
  })
}

/** What a statement is about, by what stands in it; the first that fits. What none fits is `other`. */
const KINDS = {
  "begin and end": /^(?:BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i,
  usage: /\b(?:INTO|FROM|UPDATE) usage\b/,
  "last use": /^(?:UPDATE|INSERT INTO) keys\b/,
  "look-up of keys": /^SELECT keys\./,
  "mails to send": /\boutbox\b/,
  "terms to tell": /\bFROM terms\b/,
  units: /\b(?:INTO|FROM|UPDATE) units\b/,
  changes: /\b(?:FROM|UPDATE) change(?:_head|s)\b/,
  heartbeats: /\b(?:INTO|FROM|UPDATE) nodes\b/,
} as const satisfies Record<string, RegExp>

/** How many statements a database was asked, of each kind. */
export type StatementCounts = Readonly<Record<keyof typeof KINDS | "other", number>>

/** The kinds in the order in which they are told. */
export const STATEMENT_KINDS = [...Object.keys(KINDS), "other"] as (keyof StatementCounts)[] // the keys are those of KINDS

/** What PostgreSQL is started with, so that it counts. */
export const COUNTING_SETTINGS = ["shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track_utility=on"]

/** Counts the statements that one database is asked, as the server itself does. Disposing of it ends its connection. */
type CountedStatements = AsyncDisposable & {
  /** Those since this was last asked, or since the count was begun. */
  readonly take: () => Promise<StatementCounts>
}

/** Begins to count what is asked in `database`. `url` is that of another database of the server, so that what is asked here is not counted. */
export async function countStatements(url: string, database: string): Promise<CountedStatements> {
  const client = new SQL(url, { max: 1 })
  await client.unsafe("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
  let before = await countsIn(client, database)
  return {
    take: async () => {
      const now = await countsIn(client, database)
      const since = difference(now, before)
      before = now
      return since
    },
    [Symbol.asyncDispose]: () => client.close({ timeout: 0 }),
  }
}

/** All statements of the counts. */
export const allOf = (counts: StatementCounts): number => STATEMENT_KINDS.reduce((sum, kind) => sum + counts[kind], 0)

async function countsIn(client: SQL, database: string): Promise<StatementCounts> {
  const rows = await client.unsafe<{ query: string; calls: string }[]>(
    `SELECT query, calls FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1)`,
    [database],
  )
  const counts = Object.fromEntries(STATEMENT_KINDS.map(kind => [kind, 0])) as Record<keyof StatementCounts, number> // one a kind
  for (const { query, calls } of rows) counts[kindOf(query)] += Number(calls)
  return counts
}

const kindOf = (query: string): keyof StatementCounts =>
  STATEMENT_KINDS.find(kind => kind !== "other" && KINDS[kind].test(query)) ?? "other"

function difference(now: StatementCounts, before: StatementCounts): StatementCounts {
  const entries = STATEMENT_KINDS.map(kind => [kind, now[kind] - before[kind]])
  return Object.fromEntries(entries) as StatementCounts // one a kind
}
