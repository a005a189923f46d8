import { describe, expect } from "bun:test"
import { SQL } from "bun"
import type { OpenStore, Store } from "../../../src/customers/store/core/store.ts"
import { StoreError } from "../../../src/customers/store/core/store-error.ts"
import type { PoolBounds } from "../../../src/customers/store/postgres/clients.ts"
import { POOL_BOUNDS } from "../../../src/customers/store/postgres/clients.ts"
import { openPostgres } from "../../../src/customers/store/postgres-store.ts"
import { bounded } from "../../support/bounded.ts"
import { later } from "../../support/later.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { asciiDatabase, type PostgresCluster, startPostgres } from "../../support/postgres.ts"
import { emptyDatabase } from "../../support/postgres-databases.ts"
import { startTcpProxy } from "../../support/tcp-proxy.ts"
import { onPostgres } from "../engines.ts"
import { ownStore, runChildren, tempPlace } from "../temp-store.ts"

const clock = () => 1_000

async function setUp(url: string, bounds: Partial<PoolBounds> = {}): Promise<OpenStore> {
  const store = await openPostgres(url, { clock, setTimer: later, bounds: { ...POOL_BOUNDS, ...bounds } })
  onTestEnd(store.close)
  return store
}

async function errorOf(work: Promise<unknown>): Promise<StoreError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof StoreError)) throw error ?? new Error("it did not fail")
  expect(error.remedy).not.toBe("")
  expect(error.message).not.toContain("secret")
  return error
}

async function client(url: string): Promise<SQL> {
  const sql = new SQL(url, { max: 1 })
  onTestEnd(() => sql.close({ timeout: 0 }))
  await sql.connect()
  return sql
}

const CUT =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'mailkind'"

/** Asks until it is answered. */
async function untilReachable<T>(ask: () => Promise<T>): Promise<T> {
  const asking = async (): Promise<T> => {
    for (;;) {
      const answer = await ask().then(
        value => ({ value }),
        () => null,
      )
      if (answer !== null) return answer.value
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }
  return await bounded(asking(), () => "it is still not answered")
}

describe("opening", () => {
  onPostgres(
    "an empty database gets its tables, which sort bytewise, from one of many processes that start together",
    async () => {
      const url = emptyDatabase()
      const children = await runChildren(4, "first", url)
      expect(children.map(({ code }) => code)).toEqual([0, 0, 0, 0])
      expect(children.flatMap(({ out }) => out).filter(word => word === "created")).toHaveLength(1)
      const store = await setUp(url)
      const orders = await store.all<{ collation: string }>(
        "SELECT DISTINCT collation_name AS collation FROM information_schema.columns WHERE table_schema = 'public' AND data_type = 'text'",
      )
      expect(orders).toEqual([{ collation: "C" }])
    },
  )

  onPostgres("whoever of many creates the first table, none of them fails for it", async () => {
    for (let round = 0; round < 6; round++) {
      const url = emptyDatabase()
      await Promise.all(Array.from({ length: 8 }, () => setUp(url)))
    }
  })

  onPostgres(
    "a process that starts during a migration waits for it, for longer than the statement time-out",
    async () => {
      const url = tempPlace()
      const other = await (await client(url)).reserve()
      await other.unsafe("BEGIN")
      await other.unsafe("LOCK TABLE migrations IN SHARE ROW EXCLUSIVE MODE")
      const opening = setUp(url, { statementTimeoutMs: 1000, responseGraceMs: 1000 })
      await other.unsafe("SELECT pg_sleep(2.5)")
      await other.unsafe("COMMIT")
      await other.release()
      const store = await opening
      expect(await store.one<unknown>("SELECT COUNT(*) AS count FROM accounts")).toEqual({ count: 0 })
    },
  )

  onPostgres("a start that waits for a lock in vain names the process that has it", async () => {
    const url = tempPlace()
    const [admin, other] = [await client(url), await (await client(url)).reserve()]
    await other.unsafe("BEGIN")
    const [{ pid } = { pid: 0 }] = await other.unsafe<{ pid: number }[]>("SELECT pg_backend_pid() AS pid")
    await other.unsafe("LOCK TABLE migrations IN SHARE ROW EXCLUSIVE MODE")
    const opening = errorOf(setUp(url))
    const cancel =
      "SELECT pg_cancel_backend(pid) AS done FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    await bounded(
      (async () => {
        while ((await admin.unsafe(cancel)).length === 0) await new Promise(resolve => setTimeout(resolve, 5))
      })(),
      () => "no start waits for the lock",
    )
    const error = await opening
    expect(error.code).toBe("busy")
    expect(error.reason).toMatch(
      new RegExp(`process ${pid} of the user \\S+ \\(.*\\) has had a lock on migrations for \\d+ seconds$`),
    )
    await other.unsafe("ROLLBACK")
    await other.release()
  })

  onPostgres("advisory locks of other users keep no start from the database", async () => {
    const url = tempPlace()
    const other = await (await client(url)).reserve()
    // The number that versions before this one locked.
    await other.unsafe("SELECT pg_advisory_lock(7881692342889377380)")
    const store = await setUp(url)
    expect(await store.one<unknown>("SELECT COUNT(*) AS count FROM accounts")).toEqual({ count: 0 })
    await other.release()
  })

  onPostgres("a missing database or user is a `refused` error without the password", async () => {
    const url = new URL(emptyDatabase())
    url.password = "secret"
    const [nowhere, nobody] = [new URL(url), new URL(url)]
    nowhere.pathname = "/nowhere"
    nobody.username = "nobody"
    for (const { href } of [nowhere, nobody]) expect((await errorOf(setUp(href))).code).toBe("refused")
  })

  onPostgres("an unreachable server is an `away` error", async () => {
    expect((await errorOf(setUp("postgres://mailkind:secret@127.0.0.1:1/mailkind"))).code).toBe("away")
  })

  onPostgres("another program's database, and one without Unicode, are refused and stay unchanged", async () => {
    const url = emptyDatabase()
    const other = await client(url)
    await other.unsafe("CREATE TABLE recipes (name TEXT)")
    expect((await errorOf(setUp(url))).code).toBe("foreign_database")
    expect(await other.unsafe("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).toHaveLength(1)
    expect((await errorOf(setUp(emptyDatabase(...asciiDatabase())))).code).toBe("unfit")
  })

  onPostgres("a migration that fails rolls all of them back", async () => {
    const url = emptyDatabase()
    const other = await client(url)
    await other.unsafe(
      "CREATE TABLE migrations (number BIGINT PRIMARY KEY, makes TEXT NOT NULL, ran_at_ms BIGINT NOT NULL)",
    )
    await other.unsafe("CREATE TABLE usage (n INT)")
    expect(await outcomeOf(setUp(url))).toThrow("42P07")
    expect(await other.unsafe("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).toHaveLength(2)
  })
})

describe("connections", () => {
  onPostgres("after all connections were lost, reads are retried and writes work from the next one on", async () => {
    const url = tempPlace()
    const store = await ownStore(url)
    const other = await client(url)
    await Promise.all(Array.from({ length: 8 }, () => store.one("SELECT 1")))
    await other.unsafe(CUT)
    expect(await store.one<unknown>("SELECT 1 AS one")).toEqual({ one: 1 })
    expect(await store.run("UPDATE change_head SET id = id")).toBe(1)
  })

  onPostgres("a transaction whose connection is lost rejects and is rolled back, and the next one works", async () => {
    const url = tempPlace()
    const store = await ownStore(url)
    const other = await client(url)
    const cut = store.transaction(async inner => {
      await inner.run("UPDATE change_head SET id = 7")
      await other.unsafe(CUT)
      await inner.run("UPDATE change_head SET id = 8")
    })
    expect((await errorOf(cut)).code).toBe("away")
    await store.transaction(inner => inner.run("UPDATE change_head SET id = id + 1"))
    expect(await store.one<unknown>("SELECT id FROM change_head")).toEqual({ id: 1 })
  })

  onPostgres("a wait for a connection or for a locked row ends with a `busy` error", async () => {
    const store = await setUp(tempPlace(), { connectionsMax: 2, waitTimeoutMs: 500, statementTimeoutMs: 30_000 })
    const gate = Promise.withResolvers<void>()
    const taken = Promise.withResolvers<void>()
    const holding = store.transaction(async inner => {
      await inner.run("UPDATE change_head SET id = id")
      taken.resolve()
      await gate.promise
    })
    await taken.promise
    expect((await errorOf(store.run("UPDATE change_head SET id = id"))).code).toBe("busy")
    const also = store.transaction(() => gate.promise)
    expect((await errorOf(store.one("SELECT 1"))).code).toBe("busy")
    gate.resolve()
    await Promise.all([holding, also])
    expect(await store.one<unknown>("SELECT 1 AS one")).toEqual({ one: 1 })
  })

  onPostgres("the statement in the remedy of a `busy` error shows who has locked which table", async () => {
    const url = tempPlace()
    const [admin, other] = [await client(url), await (await client(url)).reserve()]
    await other.unsafe("BEGIN")
    const [{ pid } = { pid: 0 }] = await other.unsafe<{ pid: number }[]>("SELECT pg_backend_pid() AS pid")
    await other.unsafe("LOCK TABLE change_head IN EXCLUSIVE MODE")
    const { remedy } = new StoreError("busy", "postgres://db.example/mk", "55P03")
    const statement = /SELECT a\.pid.*?;/.exec(remedy)?.[0] ?? ""
    const rows = await admin.unsafe<Readonly<Record<string, unknown>>[]>(statement.replace("2 seconds", "0 seconds"))
    expect(rows.filter(row => row["pid"] === pid)).toMatchObject([
      { locked: "change_head", mode: "ExclusiveLock", state: "idle in transaction" },
    ])
    await other.unsafe("ROLLBACK")
    await other.release()
  })

  onPostgres("operations beyond the bound of waiting ones are rejected at once", async () => {
    const store = await setUp(tempPlace(), { connectionsMax: 1, waitingMax: 3 })
    const requested = await Promise.allSettled(Array.from({ length: 6 }, () => store.one("SELECT 1")))
    expect(requested.filter(({ status }) => status === "fulfilled")).toHaveLength(4)
    expect(requested.at(-1)).toMatchObject({ reason: { code: "busy" } })
  })

  onPostgres("a transaction that idles for too long is rolled back and blocks no other", async () => {
    const url = tempPlace()
    const store = await setUp(url, { statementTimeoutMs: 2000 })
    const gate = Promise.withResolvers<void>()
    const taken = Promise.withResolvers<void>()
    const thinking = store.transaction(async inner => {
      await inner.run("UPDATE change_head SET id = 7")
      taken.resolve()
      await gate.promise
      await inner.run("UPDATE change_head SET id = 8")
    })
    await taken.promise
    // It waits for the row until the other's connection is cut.
    await (await client(url)).unsafe("UPDATE change_head SET id = id + 1")
    gate.resolve()
    expect((await errorOf(thinking)).code).toBe("away")
    expect(await store.one<unknown>("SELECT id FROM change_head")).toEqual({ id: 1 })
    expect(await store.run("UPDATE change_head SET id = id")).toBe(1)
  })

  onPostgres("a statement that takes too long is cancelled", async () => {
    const store = await setUp(tempPlace(), { statementTimeoutMs: 2000, responseGraceMs: 30_000 })
    expect((await errorOf(store.one("SELECT pg_sleep(30)"))).code).toBe("busy")
    expect(await store.one<unknown>("SELECT 1 AS one")).toEqual({ one: 1 })
  })
})

describe("a network that drops every packet", () => {
  onPostgres("costs one time-out, after which all connections are replaced, also the listening one", async () => {
    const url = new URL(tempPlace())
    const other = await ownStore(url.href)
    const way = await startTcpProxy(Number(url.port))
    onTestEnd(way.stop)
    url.port = String(way.port)
    const store = await setUp(url.href, { statementTimeoutMs: 2000, responseGraceMs: 2000, reconnectDelayMaxMs: 50 })
    let facts = Promise.withResolvers<void>()
    store.onChange(() => facts.resolve())
    await bounded(facts.promise, () => "nobody listens")
    await Promise.all(Array.from({ length: 4 }, () => store.one("SELECT pg_sleep(0.01)")))
    way.mute()
    facts = Promise.withResolvers<void>()
    expect((await errorOf(store.run("UPDATE change_head SET id = id"))).code).toBe("unsure")
    await untilReachable(() => store.one("SELECT 1"))
    for (let at = 0; at < 8; at++) expect(await store.run("UPDATE change_head SET id = id")).toBe(1)
    // A new listener is notified that changes may have been missed, and then of every further one.
    await bounded(facts.promise, () => "nobody listens anew")
    facts = Promise.withResolvers<void>()
    await other.run("UPDATE change_head SET id = id + 1")
    await bounded(facts.promise, () => "nobody was told")
  })
})

describe("changes", () => {
  onPostgres("reach every listener as soon as they are durable, also after the connection was lost", async () => {
    const url = tempPlace()
    const [ours, theirs] = [await ownStore(url), await ownStore(url)]
    let facts = Promise.withResolvers<void>()
    theirs.onChange(() => facts.resolve())
    // Whoever begins to listen may have missed something.
    await bounded(facts.promise, () => "nobody was told at first")
    const isTold = async (what: string): Promise<void> => {
      facts = Promise.withResolvers<void>()
      await ours.run("UPDATE change_head SET id = id + 1")
      await bounded(facts.promise, () => `nobody was told ${what}`)
    }
    await isTold("of a change")
    const other = await client(url)
    facts = Promise.withResolvers<void>()
    await other.unsafe(CUT)
    await bounded(facts.promise, () => "nobody was told that something may be missed")
    await untilReachable(() => ours.run("UPDATE change_head SET id = id"))
    await isTold("of a change after the cut")
  })

  onPostgres("call a listener no more often for the notifications that another user of the server sends", async () => {
    const url = tempPlace()
    const [ours, theirs] = [await ownStore(url), await ownStore(url)]
    const calls = { count: 0 }
    theirs.onChange(() => void calls.count++)
    const other = await client(url)
    for (let sent = 0; sent < 20_000; sent += 1000)
      await other.unsafe(`SELECT pg_notify('mailkind_changes', n::text) FROM generate_series(1, 1000) AS n`)
    const before = calls.count
    await ours.run("UPDATE change_head SET id = id + 1")
    await bounded(
      (async () => {
        while (calls.count === before) await new Promise(resolve => setTimeout(resolve, 5))
      })(),
      () => "nobody was told of a change after them",
    )
    // One for each tenth of a second, on a machine of any speed.
    expect(calls.count).toBeLessThan(500)
  })
})

describe("the server", () => {
  async function own(bounds: Partial<PoolBounds> = {}): Promise<{ cluster: PostgresCluster; store: OpenStore }> {
    const cluster = await startPostgres()
    onTestEnd(cluster.remove)
    return { cluster, store: await setUp(cluster.url("postgres"), bounds) }
  }

  onPostgres(
    "while it is stopped everything fails at once with a remedy, and no acknowledged write is lost",
    async () => {
      const { cluster, store } = await own()
      let acknowledged = 0
      for (const how of ["fast", "immediate"] as const) {
        await store.run("UPDATE change_head SET id = id + 1")
        acknowledged++
        await cluster.stop(how)
        for (let at = 0; at < 5; at++) expect((await errorOf(store.one("SELECT 1"))).code).toBe("away")
        expect((await errorOf(store.transaction(inner => inner.one("SELECT 1")))).code).toBe("away")
        await cluster.start()
        expect(await untilReachable(() => store.one<unknown>("SELECT id FROM change_head"))).toEqual({
          id: acknowledged,
        })
      }
    },
  )

  onPostgres("operations fail while it is frozen, and work again when it continues", async () => {
    const { cluster, store } = await own({ statementTimeoutMs: 2000, responseGraceMs: 1000, connectTimeoutMs: 2000 })
    await store.run("UPDATE change_head SET id = id + 1")
    const resume = cluster.freeze()
    let isFrozen = true
    // Processes of the server end after they were resumed, and cannot be resumed again.
    const goOn = (): void => {
      if (isFrozen) resume()
      isFrozen = false
    }
    onTestEnd(goOn)
    const writing = store.run("UPDATE change_head SET id = id + 1")
    const within = store.transaction(inner => inner.run("UPDATE change_head SET id = id + 1"))
    // The write may have happened although its response never arrives.
    expect((await errorOf(writing)).code).toBe("unsure")
    expect((await errorOf(within)).code).toBe("away")
    expect((await errorOf(store.one("SELECT 1"))).code).toBe("away")
    goOn()
    const after = await untilReachable(() => store.one<{ id: number }>("SELECT id FROM change_head"))
    expect([1, 2, 3]).toContain(after?.id ?? 0)
  })

  onPostgres("a server that is full of the connections of others is not taken for one that is away", async () => {
    const cluster = await startPostgres(["max_connections=10", "superuser_reserved_connections=0"])
    onTestEnd(cluster.remove)
    const url = cluster.url("postgres")
    const store = await setUp(url)
    await store.one("SELECT 1")
    const others: SQL[] = []
    const fill = async (): Promise<void> => {
      for (let isFull = false; !isFull; )
        isFull = await client(url).then(
          other => others.push(other) > 100,
          () => true,
        )
    }
    await fill()
    await others[0]?.unsafe(CUT)
    await fill()
    expect((await errorOf(store.one("SELECT 1"))).code).toBe("crowded")
    expect(store.isUnavailable()).toBe(false)
    await Promise.all(others.map(other => other.close({ timeout: 0 })))
    await untilReachable(() => store.run("UPDATE change_head SET id = id"))
  })

  onPostgres("connections leave a server that became a standby for the one that its name resolves to now", async () => {
    const { cluster, store } = await own()
    const admin = await client(cluster.url("postgres"))
    await admin.unsafe("ALTER DATABASE postgres SET default_transaction_read_only = on")
    await admin.unsafe(CUT)
    await untilReachable(() => store.one("SELECT 1"))
    const write = (inner: Store) => inner.run("UPDATE change_head SET id = id")
    for (const failing of [() => write(store), () => store.transaction(write), () => setUp(cluster.url("postgres"))])
      expect((await errorOf(failing())).code).toBe("standby")
    await admin.unsafe("SET transaction_read_only = off")
    await admin.unsafe("SET default_transaction_read_only = off")
    await admin.unsafe("ALTER DATABASE postgres RESET default_transaction_read_only")
    expect(await untilReachable(() => store.run("UPDATE change_head SET id = id"))).toBe(1)
  })
})
