import { createAccount } from "../../../src/customers/accounts/accounts.ts"
import { createKey, revokeLeakedKey } from "../../../src/customers/keys/keys.ts"
import { SERVER_ACTOR } from "../../../src/customers/store/change-log/actor.ts"
import type { AttributedLog } from "../../../src/customers/store/change-log/change-log.ts"
import type { OpenStore } from "../../../src/customers/store/core/store.ts"
import { openPostgres } from "../../../src/customers/store/postgres-store.ts"
import { freePort } from "../../support/free-port.ts"
import { later } from "../../support/later.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { openPooler, type Pooler } from "../../support/pgbouncer.ts"
import { type PostgresCluster, startPostgres } from "../../support/postgres.ts"
import { startTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts"
import { TestServer } from "../../support/test-server.ts"
import { type Balancer, startBalancer } from "./balancer.ts"

/** The tiers of accounts with a quota and of those without. */
const [METERED, UNLIMITED] = [1, 4]
/** It tries a server that failed again at once, as the guide says. */

/** Nodes behind HAProxy, over PostgreSQL behind a PgBouncer that passes on no notification. All of it ends with the test. */
export class BalancedSite {
  readonly nodes: readonly TestServer[]
  readonly balancer: Balancer
  readonly database: PostgresCluster
  /** From the pooler to the database. */
  readonly databaseWay: TcpProxy
  /** From the first node to the pooler. */
  readonly firstWay: TcpProxy
  readonly #store: OpenStore
  #pooler: Pooler
  #accountCount = 0

  private constructor(
    parts: Pick<BalancedSite, "nodes" | "balancer" | "database" | "databaseWay" | "firstWay">,
    pooler: Pooler,
    store: OpenStore,
  ) {
    this.nodes = parts.nodes
    this.balancer = parts.balancer
    this.database = parts.database
    this.databaseWay = parts.databaseWay
    this.firstWay = parts.firstWay
    this.#pooler = pooler
    this.#store = store
  }

  /** Starts three of them; accounts with a quota have `units` a day. */
  static async start(program: readonly string[], units: number): Promise<BalancedSite> {
    const database = await startPostgres()
    onTestEnd(database.remove)
    const databaseWay = await startTcpProxy(database.port)
    onTestEnd(databaseWay.stop)
    const pooler = await openPooler(databaseWay.port)
    const firstWay = await startTcpProxy(pooler.port)
    onTestEnd(firstWay.stop)
    const nodes = [firstWay.port, pooler.port, pooler.port].map(by => nodeBy(program, units, urlBy(database, by)))
    const [first, ...others] = nodes
    await first?.start()
    for (const node of others) node.firstKey = first?.firstKey ?? ""
    await Promise.all(others.map(node => node.start()))
    const balancer = await startBalancer(nodes.map(({ port }) => port))
    const store = await openPostgres(urlBy(database, databaseWay.port), { clock: Date.now, setTimer: later })
    onTestEnd(() => store.close())
    return new BalancedSite({ nodes, balancer, database, databaseWay, firstWay }, pooler, store)
  }

  /** Kills the pooler and starts another in its place. */
  async restartPooler(): Promise<void> {
    await this.#pooler.kill()
    this.#pooler = await openPooler(this.databaseWay.port, {}, onTestEnd, this.#pooler.port)
  }

  get poolerPort(): number {
    return this.#pooler.port
  }

  /** A key of a new account, with a quota or without. */
  async newKey(
    isMetered: boolean,
  ): Promise<{ readonly accountId: string; readonly id: string; readonly text: string }> {
    const email = `account-${this.#accountCount++}@nodes.example`
    const tier = isMetered ? METERED : UNLIMITED
    const account = await createAccount(this.#log, random, { email, tier, termsVersion: null })
    if (account.kind !== "created") throw new Error(account.kind)
    const accountId = account.account.id
    const key = await createKey(this.#log, random, { accountId, kind: "secret", name: null, origins: [] })
    if (key.kind !== "created") throw new Error(key.kind)
    return { accountId, id: key.key.id, text: key.text }
  }

  /** Revokes a key, and tells when that was done. */
  async revoke(key: string): Promise<number> {
    const { kind } = await revokeLeakedKey(this.#log, key)
    if (kind !== "revoked") throw new Error(kind)
    return performance.now()
  }

  /** How many units of its day an account has used, those included that nodes have reserved. */
  async charged(accountId: string): Promise<number> {
    const sql = "SELECT MAX(leased) AS leased FROM units WHERE subject = $1"
    return (await this.#store.one<{ leased: number | null }>(sql, [accountId]))?.leased ?? 0
  }

  get #log(): AttributedLog {
    return { store: this.#store, clock: Date.now, notify: () => undefined, actor: SERVER_ACTOR }
  }
}

function nodeBy(program: readonly string[], units: number, databaseUrl: string): TestServer {
  // It comes back at the same address.
  const port = freePort()
  const settings = {
    MAILKIND_DATABASE_URL: databaseUrl,
    MAILKIND_PORT: String(port),
    MAILKIND_NODE_URL: `http://127.0.0.1:${port}`,
    MAILKIND_TRUSTED_PROXIES: "127.0.0.1",
    MAILKIND_TIERS: `${METERED}=-/-/${units}`,
  }
  const node = new TestServer({ program, settings })
  onTestEnd(() => node[Symbol.asyncDispose]())
  return node
}

function urlBy(database: PostgresCluster, port: number): string {
  const url = new URL(database.url("postgres"))
  url.port = String(port)
  return url.href
}

const random = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count))
