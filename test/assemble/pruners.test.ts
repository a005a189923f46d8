import { test as bunTest, expect, setDefaultTimeout } from "bun:test"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Glob } from "bun"
import { createContext } from "../../src/assemble/context.ts"
import { startServer } from "../../src/assemble/server.ts"
import { DAY_MS, HOUR_MS } from "../../src/base/time.ts"
import { parseSettings } from "../../src/config/settings.ts"
import { createKey } from "../../src/customers/keys/keys.ts"
import { writeConfirmedTime } from "../../src/customers/store/confirmed-time.ts"
import type { SqlValue, Store } from "../../src/customers/store/core/store.ts"
import { inputFileName } from "../../src/jobs/job-files.ts"
import { createSystem } from "../../src/system/system.ts"
import { ROOT } from "../architecture/source-files.ts"
import { engineNow, test } from "../customers/engines.ts"
import { newAccount, openAt, random, tempLog, tempPath, tempPlace } from "../customers/temp-store.ts"
import { freePort } from "../support/free-port.ts"
import { type Answered, askLoopback } from "../support/loopback.ts"
import { until } from "../support/until.ts"

// Whole servers are started.
setDefaultTimeout(60_000)

const QUOTA = 3
const AHEADS = [HOUR_MS, DAY_MS, 365 * DAY_MS]

type Row = { readonly atMs: number; readonly accountId: string; readonly keyId: string; readonly id: string }

/**
 * A row of each table whose rows are deleted for their age, as it is stored at an instant. `units` stands for what deleted accounts used, and
 * `jobs` for finished lists with their files and callbacks.
 */
const ROWS: Readonly<Record<string, (row: Row) => Readonly<Record<string, SqlValue>>>> = {
  admin_acts: ({ atMs, id }) => ({ id, admin_id: "acc_1", act: "key_created", details: "", at_ms: atMs }),
  domain_facts: ({ atMs, id }) => ({
    domain: `${id}.com`,
    homepage: "found",
    homepage_checked_at_ms: atMs,
    found_at_ms: atMs,
  }),
  feedback: ({ atMs, accountId, id }) => ({
    ...{
      id,
      account_id: accountId,
      domain: "example.com",
      current_category: "business",
      reported_category: "personal",
    },
    ...{ status: "received", created_at_ms: atMs },
  }),
  former_suspensions: ({ atMs, id }) => ({ email_hash: id, suspended_at_ms: atMs, kept_at_ms: atMs }),
  free_check_bans: ({ atMs, id }) => ({
    ...{ network_hash: id, strike_count: 1, strikes_since_ms: atMs, ban_count: 0, banned_until_ms: 0 },
    forget_at_ms: atMs + 10 * 60_000,
  }),
  free_check_days: ({ atMs, id }) => ({ client_hash: id, day: dayOf(atMs), used: 1 }),
  free_check_passes: ({ atMs, id }) => ({ hash: id, challenge: id, checks_left: 1, issued_at_ms: atMs }),
  host_sightings: ({ atMs, id }) => ({
    ...{ domain_hash: Number(id.slice(1)), host: "mx.example.net", is_listed: 0, seen_on: dayOf(atMs), batch: 1 },
  }),
  idempotent_requests: ({ atMs, accountId, id }) => ({
    ...{ account_id: accountId, key_hash: id, body_mac: "m", answer: "c", at_ms: atMs },
  }),
  jobs: ({ atMs, accountId, id }) => ({
    ...{
      id: `job_${id}`,
      account_id: accountId,
      key_id: "key_1",
      state: "done",
      format: "csv",
      has_header: 0,
      policy: "b2b",
    },
    ...{ includes_tenant: 0, file_key: "a", created_at_ms: atMs, ended_at_ms: atMs },
  }),
  keys: ({ atMs, accountId, id }) => ({
    ...{ id: `key_${id}`, account_id: accountId, kind: "secret", hash: id, last4: "abcd", name: "key", origins: "" },
    ...{ created_at_ms: atMs, revoked_at_ms: atMs, revoked_by: "owner" },
  }),
  key_networks: ({ atMs, keyId, id }) => ({
    key_id: keyId,
    network_hash: id,
    first_seen_at_ms: atMs,
    last_seen_at_ms: atMs,
  }),
  outbox: ({ atMs, accountId, id }) => ({
    ...{ account_id: accountId, notice: "key_created", subject: id, particulars: "{}", written_at_ms: atMs },
    ...{ due_at_ms: Number.MAX_SAFE_INTEGER, refusal_count: 0, renewal_count: 0 },
  }),
  request_log: ({ atMs, accountId, id }) => ({
    ...{
      account_id: accountId,
      at_ms: atMs,
      seq: Number(id.slice(1)),
      key_id: "key_1",
      route: "check",
      status: 200,
      code: "",
    },
    ...{
      category: "",
      recommendation: "",
      reason: "",
      domain: "",
      took_us: 1,
      units: 1,
      items: 1,
      categories: "",
      skipped: 0,
    },
  }),
  sessions: ({ atMs, accountId, id }) => ({
    ...{ id: `ses_${id}`, hash: id, account_id: accountId, agent: "Firefox", created_at_ms: atMs, seen_at_ms: atMs },
  }),
  sign_in_wrong_codes: ({ atMs, id }) => ({ mailbox_hash: id, day: dayOf(atMs), count: 1 }),
  invitations: ({ atMs, id }) => ({
    ...{ id: `inv_${id}`, link_hash: id, email_hash: id, email_by_link: "e", tier: 0, created_at_ms: atMs },
  }),
  sign_ins: ({ atMs, id }) => ({
    ...{ link_hash: id, browser_hash: id, code_hash: "c", email_by_link: "e", email_by_browser: "e", tries_left: 5 },
    asked_at_ms: atMs,
  }),
  traffic: ({ atMs, id }) => ({ hour: Math.floor(atMs / HOUR_MS), measure: id, count: 1 }),
  units: ({ atMs, id }) => ({ subject: `former/${id}/account`, day: dayOf(atMs), leased: 1 }),
  usage: ({ atMs, accountId, id }) => ({
    account_id: accountId,
    key_id: id,
    day: dayOf(atMs),
    measure: "checks",
    count: 1,
  }),
}

const dayOf = (atMs: number): number => Math.floor(atMs / DAY_MS)

/** A statement that deletes rows, and what it compares when it does so by an instant, an hour or a day that it is given. */
const PRUNES = /(["`])\s*DELETE FROM (\w+)((?:(?!\1)[\s\S])*)\1/g
const BY_AGE = /\b(?:\w+_ms|day|hour|seen_on) (?:<|<=|>=) \$\d/

bunTest(
  "each statement that deletes by age is in a file that takes a trusted instant, and its table is walked here",
  async () => {
    const tables = new Set(["jobs", "outbox"]) // A list is deleted by a change of its state, and the statement of mails is composed.
    for (const path of new Glob("src/{customers,jobs}/**/*.ts").scanSync(ROOT)) {
      const source = await Bun.file(join(ROOT, path)).text()
      const statements = [...source.matchAll(PRUNES)].filter(([, , , rest = ""]) => BY_AGE.test(rest))
      const found = statements.map(([, , table = ""]) => table)
      if (found.length > 0) expect([path, /Trusted(?:Instant|Time)/.test(source)]).toEqual([path, true])
      for (const table of found) tables.add(table)
    }
    expect([...tables].sort()).toEqual(Object.keys(ROWS).sort())
  },
)

test("no pruner deletes, and no day's units are given twice, by a clock that is ahead; log, health and metric say so", async () => {
  const isFile = engineNow() === "sqlite"
  const place = isFile ? join(dirname(tempPath()), "mailkind.sqlite") : tempPlace()
  const jobs = join(dirname(isFile ? place : tempPath()), "jobs")
  const nowMs = isFile ? Date.UTC(2026, 2, 3, 12) : Date.now()
  await using server = await startedServer({ place, jobs, nowMs, aheadMs: HOUR_MS })
  const { counts, state, runAll, ask, metrics, log } = server
  for (const aheadMs of AHEADS) {
    state.aheadMs = aheadMs
    await runAll()
    await ask("/v1/check?domain=gmail.com", QUOTA + 1)
    expect([aheadMs, await counts(), existsSync(server.listFile)]).toEqual([aheadMs, eachHas(2), true])
    expect(JSON.parse((await ask("/v1/health")).body)).toMatchObject({ clock: { status: "in_doubt" } })
    expect(await metrics()).toContain("\nmailkind_clock_trusted 0\n")
  }
  expect(server.admitted() / QUOTA).toBeLessThanOrEqual(server.daysCount())
  const doubts = log().filter(({ msg }) => msg === "the clock is in doubt")
  expect(doubts).toMatchObject([
    {
      level: "warn",
      fault: "clock_in_doubt",
      why: expect.stringMatching(/^The clock is 3[56]\d\d seconds ahead of /),
    },
  ])
  state.aheadMs = 0
  await runAll()
  expect(JSON.parse((await ask("/v1/health")).body)).toMatchObject({ clock: { status: "ok" } })
  expect(await metrics()).toContain("\nmailkind_clock_trusted 1\n")
  let found = ""
  const isPruned = async (): Promise<boolean> => {
    await runAll()
    found = await counts()
    return found === eachHas(1) && !existsSync(server.listFile)
  }
  await until(isPruned, () => `what is too old is not deleted: ${found}`)
  expect(log().map(({ msg }) => msg)).toContain("the clock is no longer in doubt")
  expect(log().filter(({ level }) => level === "error")).toEqual([])
})

test("a row has the trusted time, and what a caller is told to wait goes by it, while the clock of the host is in doubt", async () => {
  const isFile = engineNow() === "sqlite"
  const place = isFile ? join(dirname(tempPath()), "mailkind.sqlite") : tempPlace()
  const jobs = join(dirname(isFile ? place : tempPath()), "jobs")
  const nowMs = isFile ? Date.UTC(2026, 2, 3, 12) : Date.now()
  await using server = await startedServer({ place, jobs, nowMs, aheadMs: 0 })
  await server.runAll()
  for (const aheadMs of [14 * HOUR_MS, -14 * HOUR_MS]) {
    server.state.aheadMs = aheadMs
    await server.runAll()
    const refused = await server.ask("/v1/check?domain=gmail.com", QUOTA + 1)
    const waitMs = Number(refused.headers["retry-after"]) * 1000
    const error = (atMs: number): number => Math.abs(atMs - nowMs)
    expect(refused.status).toBe(429)
    expect(error((dayOf(nowMs) + 1) * DAY_MS - waitMs)).toBeLessThan(60_000)
    await server.runAll()
    expect(error(await server.lastUsedAtMs())).toBeLessThan(60_000)
  }
  expect(server.log().map(({ why }) => why)).toContainEqual(expect.stringMatching(/^The clock is 14 hours ahead of /))
})

const eachHas = (count: number): string =>
  Object.keys(ROWS)
    .map(table => `${table} ${count}`)
    .join(", ")

type Started = { readonly place: string; readonly jobs: string; readonly nowMs: number; readonly aheadMs: number }

/** A server over a database with an old and a young row in each table. Its background work runs when `runAll` is called. */
async function startedServer({ place, jobs, nowMs, aheadMs }: Started) {
  const store = await openAt(place, () => nowMs)
  const log = tempLog(store)
  const accountId = await newAccount(log, "owner@example.com", 0)
  const key = await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
  if (key.kind !== "created") throw new Error(key.kind)
  await fill(store, { accountId, keyId: key.key.id }, nowMs)
  // What the server before has left.
  await writeConfirmedTime(store, { confirmedAtMs: nowMs, heldMs: 0 }, 0)
  const listFile = join(jobs, inputFileName("job_r1"))
  mkdirSync(jobs, { recursive: true })
  writeFileSync(listFile, "")
  const state = { aheadMs, admitted: 0, days: new Set<number>() }
  const works: (() => void)[] = []
  const lines: string[] = []
  const startedMs = performance.now()
  const truth = (): number => nowMs + Math.floor(performance.now() - startedMs)
  const system = {
    ...createSystem(),
    clock: () => truth() + state.aheadMs,
    runInterval: (_: number, work: () => void) => {
      works.push(work)
      return () => undefined
    },
    writeStderr: (text: string) => void lines.push(text),
  }
  const metricsPort = freePort()
  const read = parseSettings({
    ...(place.startsWith("postgres:") ? { MAILKIND_DATABASE_URL: place } : {}),
    ...{
      MAILKIND_DATA_DIR: dirname(jobs),
      MAILKIND_JOBS_DIR: jobs,
      MAILKIND_PORT: "0",
      MAILKIND_TIERS: `0=1000/100/${QUOTA}`,
    },
    ...{ MAILKIND_DNS_SERVERS: "127.0.0.1:9", MAILKIND_DNS_CANARIES: "off", MAILKIND_IDENTITY_URL: "off" },
    ...{ MAILKIND_LISTS_REFRESH_HOURS: "off", MAILKIND_METRICS: `127.0.0.1:${metricsPort}` },
  })
  if (read.kind === "faulty") throw new Error(read.faults.join())
  const running = await startServer(createContext(system, read.settings), "alone", new Promise(() => undefined))
  if (running === null) throw new Error("it was not asked to stop")
  const counts = async (): Promise<string> => {
    const found = await Promise.all(Object.keys(ROWS).map(async table => `${table} ${await countOf(store, table)}`))
    return found.join(", ")
  }
  return {
    ...{ state, listFile, counts },
    lastUsedAtMs: async () =>
      (await store.one<{ readonly atMs: number }>('SELECT MAX(last_used_at_ms) AS "atMs" FROM keys'))?.atMs ?? 0,
    /** Each piece of work three times, since some of it goes on where it stood. */
    runAll: async () => {
      for (let time = 0; time < 3; time++) {
        for (const work of works) work()
        await Bun.sleep(50)
      }
    },
    metrics: async () => (await askLoopback(`http://127.0.0.1:${metricsPort}/metrics`)).body,
    ask: async (path: string, times = 1): Promise<Answered> => {
      let response: Answered | null = null
      for (let time = 0; time < times; time++) {
        state.days.add(dayOf(truth()))
        response = await askLoopback(`${running.address}${path}`, { headers: { "X-API-Key": key.text } })
        if (path.startsWith("/v1/check") && response.status === 200) state.admitted++
      }
      if (response === null) throw new Error("nothing was asked")
      return response
    },
    admitted: () => state.admitted,
    daysCount: () => state.days.size,
    log: (): readonly Record<string, unknown>[] =>
      lines
        .join("")
        .split("\n")
        .filter(Boolean)
        .map(line => JSON.parse(line)),
    [Symbol.asyncDispose]: async () => {
      await running.stop()
      await store.close()
    },
  }
}

/** Which rows of a table are those of the test, where a server adds others. */
const OWN_ROWS: Readonly<Record<string, string>> = {
  admin_acts: "admin_id = 'acc_1'",
  key_networks: "network_hash LIKE 'r%'",
  keys: "id LIKE 'key_r%'",
  units: "subject LIKE 'former/%'",
  jobs: "state <> 'deleted'",
  usage: "key_id LIKE 'r%'",
  traffic: "measure LIKE 'r_'",
  outbox: "subject LIKE 'r%'",
  request_log: "key_id = 'key_1'",
}

async function countOf(store: Store, table: string): Promise<number> {
  const row = await store.one<{ count: number }>(
    `SELECT COUNT(*) AS count FROM ${table} WHERE ${OWN_ROWS[table] ?? "1 = 1"}`,
  )
  return row?.count ?? 0
}

async function fill(store: Store, owner: Pick<Row, "accountId" | "keyId">, nowMs: number): Promise<void> {
  for (const [table, rowOf] of Object.entries(ROWS))
    for (const [id, atMs] of [
      ["r1", nowMs - 600 * DAY_MS],
      ["r2", nowMs - 60_000],
    ] as const) {
      const row = rowOf({ atMs, ...owner, id })
      const columns = Object.keys(row)
      const places = columns.map((_, index) => `$${index + 1}`)
      await store.run(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places.join(", ")})`, Object.values(row))
    }
}
