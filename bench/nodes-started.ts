import { readFileSync } from "node:fs"
import { join } from "node:path"
import { SQL } from "bun"
import { openStoreAt } from "../src/customers/store/open-store.ts"
import { realWorld } from "../src/world.ts"
import { startCluster } from "../test/world/postgres.ts"
import { COUNTING_SETTINGS, type CountedStatements, countStatements } from "./counted-statements.ts"
import { HIGH_LIMITS } from "./limited-account.ts"
import { addAccounts } from "./many-accounts.ts"
import { cpuMsOf, familyOf } from "./proc.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "./product.ts"
import { bound, type ServerProcess, startServer } from "./server-process.ts"

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
  const cluster = await startCluster([...DURABLE, ...COUNTING_SETTINGS])
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
    cpuMs: () => familyOf(pid).reduce((sum, each) => sum + cpuMsOf(each), 0),
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
  const { clock, later, random } = realWorld()
  await using stack = new AsyncDisposableStack()
  const first = stack.use(await emptyDirectory())
  const place = url ?? join(first.path, "mailkind.sqlite")
  const inStore = async <T>(work: (store: Awaited<ReturnType<typeof openStoreAt>>) => Promise<T>): Promise<T> => {
    const store = await openStoreAt(place, { clock, later })
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
