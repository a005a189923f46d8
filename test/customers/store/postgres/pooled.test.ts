import { test as bunTest, expect } from "bun:test"
import { SQL } from "bun"
import { appendChange } from "../../../../src/customers/store/change-log/change-log.ts"
import type { OpenStore } from "../../../../src/customers/store/core/store.ts"
import { listenRemedy, StoreError } from "../../../../src/customers/store/core/store-error.ts"
import { POOL_BOUNDS } from "../../../../src/customers/store/postgres/clients.ts"
import { readPostgresStatus, receivesNotifications } from "../../../../src/customers/store/postgres/postgres-status.ts"
import { openPostgres } from "../../../../src/customers/store/postgres-store.ts"
import { bounded } from "../../../support/bounded.ts"
import { later } from "../../../support/later.ts"
import { onTestEnd } from "../../../support/on-test-end.ts"
import { PGBOUNCER, startPooler } from "../../../support/pgbouncer.ts"
import { POSTGRES_PROGRAMS, startPostgres } from "../../../support/postgres.ts"
import { emptyDatabase, readyPostgres } from "../../../support/postgres-databases.ts"
import { until } from "../../../support/until.ts"
import { newAccount, tempLog } from "../../temp-store.ts"

const isMissing = POSTGRES_PROGRAMS === null || PGBOUNCER === null
const test = (name: string, work: () => Promise<void>) =>
  bunTest.skipIf(isMissing)(`${name}${isMissing ? " [postgresql or pgbouncer: not installed]" : ""}`, work)

/** What a pooler may be told to swallow instead of refusing it. */
const SWALLOWED =
  "default_transaction_isolation,statement_timeout,lock_timeout,idle_in_transaction_session_timeout,search_path,bytea_output,tcp_keepalives_idle,tcp_keepalives_interval,tcp_keepalives_count"

/** An empty database: the URL of its server, and that of a pooler with few connections to it. */
async function behindPooler(settings: Readonly<Record<string, string>> = {}) {
  await readyPostgres()
  const direct = emptyDatabase()
  const { port } = new URL(direct)
  const pooled = new URL(direct)
  pooled.port = String(await startPooler(Number(port), { default_pool_size: "2", ...settings }))
  return { direct, pooled: pooled.href }
}

async function opened(url: string, listenUrl: string | null = null): Promise<OpenStore> {
  const store = await openPostgres(url, { clock: () => 1_000, setTimer: later, listenUrl })
  onTestEnd(store.close)
  return store
}

/** A store that writes down when the database became unreachable, with the code, and when it answered again. */
async function watchedStore(url: string, told: (string | undefined)[] = []): Promise<OpenStore> {
  const onAvailabilityChange = (error: StoreError | null): void => void told.push(error?.code)
  const store = await openPostgres(url, { clock: () => 1_000, setTimer: later, onAvailabilityChange })
  onTestEnd(store.close)
  return store
}

/** What a connection of the server to the pooler has of a session. */
async function leftIn(url: string): Promise<unknown> {
  await using client = new SQL(url, { max: 1, prepare: false })
  return (
    await client.unsafe(
      "SELECT current_setting('search_path') AS path, current_setting('statement_timeout') AS timeout, (SELECT COUNT(*)::int FROM pg_prepared_statements) AS prepared, (SELECT COUNT(*)::int FROM pg_locks WHERE locktype = 'advisory') AS locks",
    )
  )[0]
}

for (const [mode, settings] of [
  ["one in transaction mode", {}],
  ["one in session mode", { pool_mode: "session" }],
  ["one that swallows our parameters", { ignore_startup_parameters: SWALLOWED }],
] as const)
  test(`a pooler is found out and used without anything of a session: ${mode}`, async () => {
    const { direct, pooled } = await behindPooler({
      ...settings,
      ...(mode.includes("session mode") && { default_pool_size: "9" }),
    })
    const store = await opened(pooled)
    expect([store.isPooled, (await opened(direct)).isPooled]).toEqual([true, false])
    await store.run("CREATE TABLE counted (id BIGINT PRIMARY KEY, count BIGINT NOT NULL)")
    await store.run("INSERT INTO counted (id, count) VALUES (1, 0), (2, 0)")
    const add = (id: number) =>
      store.transaction(async inner => {
        const row = await inner.one<{ count: number }>("SELECT count FROM counted WHERE id = $1 FOR UPDATE", [id])
        await inner.run("UPDATE counted SET count = $2 WHERE id = $1", [id, (row?.count ?? 0) + 1])
      })
    const echo = async (text: string) =>
      (await store.one<{ text: string }>("SELECT CAST($1 AS TEXT) AS text", [text]))?.text
    const texts = Array.from({ length: 50 }, (_, at) => `text ${at}`)
    const [echoed] = await Promise.all([
      Promise.all(texts.map(echo)),
      Promise.all(texts.flatMap(() => [add(1), add(2)])),
    ])
    expect(echoed).toEqual(texts)
    expect(await store.all<unknown>("SELECT id, count FROM counted ORDER BY id")).toEqual([
      { id: 1, count: 50 },
      { id: 2, count: 50 },
    ])
    expect(await leftIn(pooled)).toEqual({ path: '"$user", public', timeout: "0", prepared: 0, locks: 0 })
  })

test("a transaction through a pooler has the bounds of one without it", async () => {
  const { direct, pooled } = await behindPooler()
  const bounds = (store: OpenStore) =>
    store.transaction(inner =>
      inner.all<unknown>(
        "SELECT name, setting FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_isolation') ORDER BY name",
      ),
    )
  expect(await bounds(await opened(pooled))).toEqual(await bounds(await opened(direct)))
})

test("a pooler whose user has several schemas is refused, since names could mean those of others", async () => {
  const { direct, pooled } = await behindPooler()
  await using client = new SQL(direct, { max: 1 })
  await client.unsafe("CREATE SCHEMA others")
  const [{ name } = { name: "" }] = await client.unsafe<{ name: string }[]>("SELECT current_database()::text AS name")
  await client.unsafe(`ALTER DATABASE ${name} SET search_path = public, others`)
  const refusal = await opened(pooled).catch((error: unknown) => error)
  if (!(refusal instanceof StoreError)) throw new Error("it was opened")
  expect([refusal.code, refusal.reason]).toEqual(["pooled", "the search_path of that user names 2 schemas"])
})

test("a pooler that takes no more clients is told as one, and not as a database that is away", async () => {
  const { pooled } = await behindPooler({ max_client_conn: "1" })
  await using client = new SQL(pooled, { max: 1, prepare: false })
  await client.unsafe("SELECT 1")
  const refusal = await opened(pooled).catch((error: unknown) => error)
  if (!(refusal instanceof StoreError)) throw new Error("it was opened")
  expect([refusal.code, refusal.reason]).toEqual([
    "clients_full",
    "08P01: no more connections allowed (max_client_conn)",
  ])
})

test("a database that stopped behind a pooler is away for every process from the first error that the pooler gives until it answers", async () => {
  const cluster = await startPostgres()
  onTestEnd(cluster.remove)
  const url = new URL(cluster.url("postgres"))
  url.port = String(await startPooler(cluster.port, { server_login_retry: "1" }))
  const told: (string | undefined)[][] = [[], []]
  const stores = [await watchedStore(url.href, told[0]), await watchedStore(url.href, told[1])]
  await Promise.all(stores.map(store => store.one("SELECT 1")))
  await cluster.stop("immediate")
  await until(
    async () => {
      await Promise.all(stores.map(store => store.one("SELECT 1").catch(() => undefined)))
      return stores.every(store => store.isUnavailable())
    },
    () => "a process takes the pooler's error for an answer",
  )
  // The pooler goes on to answer each login at once, with an error.
  await Promise.all(stores.map(store => store.run("UPDATE change_head SET id = id").catch(() => undefined)))
  expect([stores.map(store => store.isUnavailable()), told]).toEqual([
    [true, true],
    [["pool_silent"], ["pool_silent"]],
  ])
  await cluster.start()
  await until(
    () => stores.every(store => !store.isUnavailable()),
    () => "it is not found again",
  )
  expect(told).toEqual([
    ["pool_silent", undefined],
    ["pool_silent", undefined],
  ])
})

test("a table that somebody has locked is busy, and no process takes the database for one that is away", async () => {
  const { direct, pooled } = await behindPooler()
  const told: (string | undefined)[] = []
  const store = await watchedStore(pooled, told)
  await using holder = new SQL(direct, { max: 1 })
  await holder.begin(async inner => {
    await inner.unsafe("LOCK TABLE change_head IN ACCESS EXCLUSIVE MODE")
    // More than the pool has connections.
    const reads = Array.from({ length: 6 }, () => errorOf(store.all("SELECT id FROM change_head")))
    expect(await Promise.all(reads)).toEqual(Array(6).fill("busy"))
    expect(await errorOf(store.run("UPDATE change_head SET id = id"))).toBe("unsure")
  })
  expect([await store.one<unknown>("SELECT 1 AS one"), told]).toEqual([{ one: 1 }, []])
})

const errorOf = (operation: Promise<unknown>): Promise<unknown> =>
  operation.then(
    () => "it succeeded",
    error => (error instanceof StoreError ? error.code : error),
  )

test("a connection that the node itself closed because a table is locked is one effect more of the lock, and no outage", async () => {
  const { direct, pooled } = await behindPooler({ default_pool_size: "9" })
  const told: (string | undefined)[] = []
  const store = await watchedStore(pooled, told)
  await using holder = new SQL(direct, { max: 1 })
  const faults: unknown[] = []
  const note = (error: unknown): void => void faults.push(error instanceof StoreError ? error.fault : error)
  await holder.begin(async inner => {
    await inner.unsafe("LOCK TABLE change_head IN ACCESS EXCLUSIVE MODE")
    const blocked = Promise.withResolvers<unknown>()
    const others = [
      // Each has a connection of its own when those of the pool are closed.
      store.transaction(async transaction => {
        await transaction.all("SELECT 1")
        await blocked.promise
        await transaction.all("SELECT 1")
      }),
      store.transaction(async transaction => {
        await transaction.all("SELECT 1")
        await blocked.promise
      }),
    ]
    const writing = store.run("UPDATE change_head SET id = id")
    await writing.catch(note)
    blocked.resolve(null)
    for (const other of others) await other.catch(note)
    await store.transaction(transaction => transaction.all("SELECT id FROM change_head")).catch(note)
  })
  expect([faults, told]).toEqual([Array(4).fill("busy"), []])
})

test("a database that stopped behind an idle pooler is told as such at the first connect, by commands and doctor", async () => {
  const cluster = await startPostgres()
  onTestEnd(cluster.remove)
  const behind = async (): Promise<string> => {
    const url = new URL(cluster.url("postgres"))
    url.port = String(await startPooler(cluster.port))
    // Since then the pooler accepts logins by itself.
    expect((await readPostgresStatus(url.href)).isPooled).toBe(true)
    return url.href
  }
  const [forDoctor, forCommands] = [await behind(), await behind()]
  await cluster.stop("immediate")
  const told = [errorOf(readPostgresStatus(forDoctor)), errorOf(opened(forCommands))]
  expect(await bounded(Promise.all(told), () => "one waits")).toEqual(["pool_silent", "pool_silent"])
})

test("a full pool is an outage whose remedy is that of a full pool, and which ends when a connection is free", async () => {
  const { pooled } = await behindPooler({ default_pool_size: "1" })
  const told: (string | undefined)[] = []
  const store = await watchedStore(pooled, told)
  await using holder = new SQL(pooled, { max: 1, prepare: false })
  await holder.begin(async inner => {
    await inner.unsafe("SELECT 1")
    const refusal = await store.all("SELECT 1").catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: "pool_silent", remedy: expect.stringContaining("raise default_pool_size") })
  })
  await until(
    () => !store.isUnavailable(),
    () => "it is not found again",
  )
  expect(told).toEqual(["pool_silent", undefined])
})

test("an address for notifications that brings none is told with why", async () => {
  const { direct, pooled } = await behindPooler()
  const nobody = new URL(direct)
  nobody.port = "1"
  const told = (listenUrl: string): Promise<string> => {
    const first = Promise.withResolvers<string>()
    const opening = openPostgres(pooled, {
      clock: () => 1_000,
      setTimer: later,
      listenUrl,
      onNotificationsChange: error => first.resolve(error === null ? "null" : `${error.code}: ${listenRemedy(error)}`),
      bounds: { ...POOL_BOUNDS, reconnectDelayMaxMs: 20 },
    })
    void opening.then(store => {
      onTestEnd(store.close)
      store.onChange(() => undefined)
    })
    return bounded(first.promise, () => `nothing is told of ${listenUrl}`)
  }
  const [pooler, elsewhere, away] = await Promise.all([told(pooled), told(emptyDatabase()), told(nobody.href)])
  expect(pooler).toBe("pooled: MAILKIND_DATABASE_LISTEN_URL leads to a pooler. Name the address of PostgreSQL itself.")
  expect(elsewhere).toStartWith("elsewhere: Set MAILKIND_DATABASE_LISTEN_URL to the server of the same database")
  expect(away).toStartWith("away: Correct MAILKIND_DATABASE_LISTEN_URL.")
})

test("a standby sends no notifications, so connections to it are kept, and the address of another server for them is not blamed", async () => {
  const cluster = await startPostgres()
  onTestEnd(cluster.remove)
  await (await opened(cluster.url("postgres"))).close()
  const standby = await cluster.standby()
  onTestEnd(standby.remove)
  const told: unknown[] = []
  const store = await openPostgres(standby.url("postgres"), {
    ...{ clock: () => 1_000, setTimer: later, listenUrl: cluster.url("postgres"), mayBeReadOnly: true },
    onNotificationsChange: error => void told.push(error),
  })
  onTestEnd(store.close)
  const listening = Promise.withResolvers<void>()
  let count = 0
  store.onChange(() => {
    count++
    listening.resolve()
  })
  await bounded(listening.promise, () => "it does not listen")
  const backend = async () => (await store.one<{ pid: number }>("SELECT pg_backend_pid() AS pid"))?.pid
  const pids = new Set<unknown>()
  for (let at = 0; at < 200; at++) pids.add(await backend())
  expect([count, told, pids.size <= POOL_BOUNDS.connectionsMax]).toEqual([1, [], true])
})

test("doctor sees that a server which is no standby accepts no writes", async () => {
  const cluster = await startPostgres(["default_transaction_read_only=on"])
  onTestEnd(cluster.remove)
  expect((await readPostgresStatus(cluster.url("postgres"))).isWritable).toBe(false)
})

test("changes are told over an address of the server itself, and doctor tells whether they arrive there", async () => {
  const { direct, pooled } = await behindPooler()
  const store = await opened(pooled, direct)
  const told = Promise.withResolvers<void>()
  let times = 0
  // The first time tells that it listens.
  const listening = Promise.withResolvers<void>()
  store.onChange(() => (times++ === 0 ? listening.resolve() : told.resolve()))
  await bounded(listening.promise, () => "it does not listen")
  const elsewhere = await opened(pooled)
  await newAccount(tempLog(elsewhere))
  await appendChange(elsewhere, () => 1_000, { kind: "terms_published", subject: "2026-11" })
  await bounded(told.promise, () => "no change was told")
  expect(await receivesNotifications(pooled, direct, "a_channel")).toBe(true)
  expect(await receivesNotifications(pooled, emptyDatabase(), "a_channel")).toBe(false)
  expect(await errorOf(receivesNotifications(pooled, pooled, "a_channel"))).toBe("pooled")
  expect(await readPostgresStatus(pooled)).toMatchObject({ isPooled: true, isWritable: true, accountsCount: 1 })
})
