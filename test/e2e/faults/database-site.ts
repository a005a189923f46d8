import { createAccount } from "../../../src/customers/accounts/accounts.ts"
import { createKey, type NewApiKey } from "../../../src/customers/keys/keys.ts"
import { SERVER_ACTOR } from "../../../src/customers/store/change-log/actor.ts"
import type { AttributedLog } from "../../../src/customers/store/change-log/change-log.ts"
import type { OpenStore } from "../../../src/customers/store/core/store.ts"
import { openPostgres } from "../../../src/customers/store/postgres-store.ts"
import { later } from "../../support/later.ts"
import { startPooler } from "../../support/pgbouncer.ts"
import { type PostgresCluster, startPostgres } from "../../support/postgres.ts"
import { startTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts"
import { TestServer } from "../../support/test-server.ts"
import { type Keyring, OPERATED, OPERATED_NEXT, PAGE } from "./database-callers.ts"

const KEYS_PER_ACCOUNT = 5

/** The tier of the account with a quota, and of all others, which have none. */
const [METERED, UNLIMITED] = [1, 4]

/** Nodes over one PostgreSQL database, to which one way leads. Disposing of it removes all. */
export class Site implements AsyncDisposable {
  readonly cluster: PostgresCluster
  readonly way: TcpProxy
  readonly nodes: readonly TestServer[]
  readonly #clusters: PostgresCluster[]

  private constructor(cluster: PostgresCluster, way: TcpProxy, nodes: readonly TestServer[]) {
    this.cluster = cluster
    this.#clusters = [cluster]
    this.way = way
    this.nodes = nodes
  }

  /** Starts the database and so many nodes; the account with a quota has `units` a day. The nodes go through a pooler where `isPooled`. */
  static async start(program: readonly string[], nodesCount: number, units: number, isPooled = false): Promise<Site> {
    const cluster = await startPostgres()
    const way = await startTcpProxy(cluster.port)
    // It tries a server that failed again at once, as a start of a node does.
    const pooler = isPooled ? { port: await startPooler(way.port) } : way
    const settings = {
      MAILKIND_DATABASE_URL: urlBy(cluster, pooler),
      MAILKIND_TIERS: `${METERED}=-/-/${units}`,
    }
    const nodes = Array.from({ length: nodesCount }, () => new TestServer({ program, settings }))
    const site = new Site(cluster, way, nodes)
    try {
      const [first, ...others] = nodes
      await first?.start()
      for (const node of others) node.firstKey = first?.firstKey ?? ""
      await Promise.all(others.map(node => node.start()))
    } catch (fault) {
      await site[Symbol.asyncDispose]()
      throw fault
    }
    return site
  }

  /** Opens the database beside the nodes; where `way` leads, or of a cluster. */
  open(cluster: PostgresCluster = this.cluster): Promise<OpenStore> {
    return openPostgres(cluster === this.cluster ? urlBy(cluster, this.way) : cluster.url("postgres"), {
      clock: Date.now,
      setTimer: later,
    })
  }

  /** Has another cluster be removed with this. */
  add(cluster: PostgresCluster): PostgresCluster {
    this.#clusters.push(cluster)
    return cluster
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map(node => node[Symbol.asyncDispose]()))
    this.way.stop()
    for (const cluster of this.#clusters) await cluster.remove()
  }
}

/** Enough that none of them sends all the reports of its day. */
const REPORTERS = 20

/** Makes accounts and keys, among them `unseenCount` that no server knows yet. */
export async function keyringIn(store: OpenStore, unseenCount: number): Promise<Keyring> {
  const log: AttributedLog = { store, clock: Date.now, notify: () => undefined, actor: SERVER_ACTOR }
  const account = async (email: string, tier: number): Promise<string> => {
    const made = await createAccount(log, random, { email, tier, termsVersion: null })
    if (made.kind !== "created") throw new Error(made.kind)
    return made.account.id
  }
  const key = async (accountId: string, wanted: Partial<NewApiKey> = {}): Promise<string> => {
    const made = await createKey(log, random, { accountId, kind: "secret", name: null, origins: [], ...wanted })
    if (made.kind !== "created") throw new Error(made.kind)
    return made.text
  }
  for (const email of [OPERATED, ...OPERATED_NEXT]) await account(email, UNLIMITED)
  const reporters: string[] = []
  for (let made = 0; made < REPORTERS; made++)
    reporters.push(await key(await account(`reporter-${made}@faults.example`, UNLIMITED)))
  const caller = await account("caller@faults.example", UNLIMITED)
  const unseen: string[] = []
  for (let made = 0; unseen.length < unseenCount; made++) {
    const id = await account(`unseen-${made}@faults.example`, UNLIMITED)
    for (let number = 0; number < KEYS_PER_ACCOUNT; number++) unseen.push(await key(id))
  }
  return {
    known: await key(caller),
    publishable: await key(caller, { kind: "publishable", origins: [PAGE] }),
    metered: await key(await account("metered@faults.example", METERED)),
    unseen,
    reporters,
  }
}

const random = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count))

function urlBy(cluster: PostgresCluster, { port }: Pick<TcpProxy, "port">): string {
  const url = new URL(cluster.url("postgres"))
  url.port = String(port)
  return url.href
}
