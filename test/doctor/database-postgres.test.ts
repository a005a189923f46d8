import { expect } from "bun:test"
import { SQL } from "bun"
import { writeHeartbeat } from "../../src/customers/nodes/live-nodes.ts"
import { STORE_ERRORS, StoreError } from "../../src/customers/store/core/store-error.ts"
import { readPostgresStatus } from "../../src/customers/store/postgres/postgres-status.ts"
import { diagnosePostgres, diagnosePostgresOutbox } from "../../src/doctor/database.ts"
import { onPostgres } from "../customers/engines.ts"
import { post } from "../customers/notices/outbox-rows.ts"
import { newAccount, tempLog, tempPlace, tempStore } from "../customers/temp-store.ts"
import { onTestEnd } from "../support/on-test-end.ts"
import { asciiDatabase } from "../support/postgres.ts"
import { emptyDatabase } from "../support/postgres-databases.ts"

const HOUR_MS = 3_600_000

const seenAt = (url: string) => diagnosePostgres(readPostgresStatus(url))

async function filled() {
  const url = tempPlace()
  const store = await tempStore(url)
  const accountId = await newAccount(tempLog(store))
  return { url, store, accountId }
}

onPostgres("a database is told with what it holds, and that its server keeps nothing on a disk", async () => {
  const { url } = await filled()
  const { verdict, seen, remedy } = await seenAt(url)
  expect(seen).toMatch(
    /^PostgreSQL \d+.* at postgres:\/\/127\.0\.0\.1:\d+\/\w+: 1 accounts, 0 keys, 0 nodes, [\d.]+ MiB, tables at \d+\./,
  )
  expect(seen).not.toContain("mailkind@")
  // The test's own server runs with fsync off.
  expect([verdict, remedy?.slice(0, 9)]).toEqual(["warning", "Set fsync"])
})

onPostgres("how many nodes share it is told", async () => {
  const { url, store } = await filled()
  for (const id of ["node_1", "node_2"]) await writeHeartbeat(store, { id, startId: id })
  expect((await seenAt(url)).seen).toContain(" 2 nodes, ")
})

onPostgres("one that is as durable as can be is well, one with too many connections is not", async () => {
  const look = await readPostgresStatus((await filled()).url)
  const durable = { ...look, isDurable: true, connectionsMax: 100, connectionsCount: 80 }
  expect((await diagnosePostgres(Promise.resolve(durable))).verdict).toBe("ok")
  const crowded = await diagnosePostgres(Promise.resolve({ ...durable, connectionsCount: 81 }))
  expect(crowded).toMatchObject({ verdict: "warning", remedy: expect.stringContaining("max_connections") })
  expect((await diagnosePostgres(Promise.resolve({ ...durable, isWritable: false }))).verdict).toBe("failed")
  const plain = await diagnosePostgres(Promise.resolve({ ...durable, isPlain: true }))
  expect(plain).toMatchObject({ verdict: "warning", remedy: expect.stringContaining("sslmode=verify-full") })
})

onPostgres("whether notifications arrive is told, also when they do and when a pooler keeps them away", async () => {
  const look = await readPostgresStatus((await filled()).url)
  const told = async (isPooled: boolean, hasListenUrl: boolean, doArrive = true) =>
    await diagnosePostgres(Promise.resolve({ ...look, isDurable: true, isPooled }), 1, {
      ...{ hasListenUrl, arrive: async () => doArrive },
    })
  for (const [isPooled, hasListenUrl] of [
    [true, true],
    [false, true],
    [false, false],
  ] as const)
    expect((await told(isPooled, hasListenUrl)).seen).toEndWith(" Notifications arrive.")
  expect((await told(true, true, false)).verdict).toBe("warning")
  expect((await told(false, false, false)).remedy).toContain("MAILKIND_DATABASE_LISTEN_URL")
  expect((await told(true, false)).seen).toEndWith("set MAILKIND_DATABASE_LISTEN_URL for them.")
})

onPostgres(
  "a database is as well as it is, whatever is wrong with the address for notifications, which has its own remedy",
  async () => {
    const look = Promise.resolve({
      ...(await readPostgresStatus((await filled()).url)),
      isDurable: true,
      isPooled: true,
    })
    for (const [code, remedy] of [
      ["pooled", "MAILKIND_DATABASE_LISTEN_URL leads to a pooler. Name the address of PostgreSQL itself."],
      ["away", `Correct MAILKIND_DATABASE_LISTEN_URL. If it is right: ${STORE_ERRORS.away.remedy}`],
    ] as const) {
      const arrive = (): Promise<boolean> => Promise.reject(new StoreError(code, "postgres://db:5", "why"))
      const { verdict, seen, ...told } = await diagnosePostgres(look, 1, { hasListenUrl: true, arrive })
      expect([verdict, seen.slice(0, 11), told.remedy]).toEqual(["warning", "PostgreSQL ", remedy])
      expect(seen).toEndWith(` No notification arrives from postgres://db:5: why.`)
    }
  },
)

onPostgres("one that is empty, older, newer or away is told as such", async () => {
  const { url, store } = await filled()
  expect((await seenAt(emptyDatabase())).verdict).toBe("skipped")
  await store.run("DELETE FROM migrations WHERE number > 9")
  expect(await seenAt(url)).toMatchObject({ verdict: "warning", remedy: expect.stringContaining("pg_dump") })
  await store.run("INSERT INTO migrations (number, makes, ran_at_ms) VALUES (999, 'the future', 1)")
  expect((await seenAt(url)).verdict).toBe("failed")
  const away = await seenAt("postgres://jane:secret@127.0.0.1:1/mailkind")
  expect(away).toMatchObject({ verdict: "failed", remedy: expect.stringContaining("Start it") })
  expect(JSON.stringify(away)).not.toMatch(/secret|jane/)
})

onPostgres("one on which a start would be refused has failed, with what to do", async () => {
  const url = emptyDatabase()
  const other = new SQL(url, { max: 1 })
  onTestEnd(() => other.close())
  await other.unsafe("CREATE TABLE recipes (name TEXT)")
  const ascii = emptyDatabase(...asciiDatabase())
  for (const [at, remedy] of [
    [url, STORE_ERRORS.foreign_database.remedy],
    [`${url}?search_path=nowhere`, STORE_ERRORS.rightless.remedy],
    [ascii, STORE_ERRORS.unfit.remedy],
  ] as const)
    expect(await seenAt(at)).toMatchObject({ verdict: "failed", remedy })
})

onPostgres("mails that wait are told with how long the oldest does", async () => {
  const { url, store, accountId } = await filled()
  const outbox = (nowMs: number, hasServer = true) =>
    diagnosePostgresOutbox(
      readPostgresStatus(url).then(status => ({ ...status, clockAtMs: nowMs })),
      hasServer,
    )
  expect(await outbox(0)).toMatchObject({
    verdict: "ok",
    seen: expect.stringContaining("No mail waits in the outbox."),
  })
  await post(store, accountId, "key_1", 0)
  expect((await outbox(HOUR_MS)).verdict).toBe("ok")
  expect(await outbox(HOUR_MS + 1)).toMatchObject({
    verdict: "warning",
    seen: "1 mail waits, the oldest for 60 minutes.",
  })
  expect(await outbox(0, false)).toMatchObject({
    verdict: "warning",
    remedy: expect.stringContaining("MAILKIND_SMTP_URL"),
  })
})

onPostgres("a look writes nothing", async () => {
  const { url } = await filled()
  const client = new SQL(url, { max: 1 })
  onTestEnd(() => client.close())
  const written = async () =>
    (
      await client.unsafe<{ n: string }[]>(
        "SELECT SUM(n_tup_ins + n_tup_upd + n_tup_del) AS n FROM pg_stat_user_tables",
      )
    )[0]?.n
  const before = await written()
  await seenAt(url)
  expect(await written()).toBe(before ?? "")
})
