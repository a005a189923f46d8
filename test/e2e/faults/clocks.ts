import { Database } from "bun:sqlite"
import { renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { integrityOf } from "../../customers/crash.ts"
import { POSTGRES_PROGRAMS } from "../../support/postgres.ts"
import { programsDatabase } from "../../support/postgres-databases.ts"
import { TestServer } from "../../support/test-server.ts"
import { until } from "../../support/until.ts"
import { below, type Doing, type Found, residentOf, untilServed } from "./fault.ts"

const CHILD = [process.execPath, join(import.meta.dir, "clock-child.ts")]
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const QUOTA = 40
const ASKED = QUOTA + 5
const START = Date.UTC(2031, 2, 14, 23, 59, 50)
/** How a clock is set, one after the other, in milliseconds: over midnight (UTC) and back, years ahead and back. */
const STEPS = [0, 20_000, -20_000, 20_000, -3_600_000, DAY_MS, -DAY_MS, 400 * DAY_MS, -400 * DAY_MS, 5000] as const

/** How far a server's clock is ahead when it starts anew, after which it is right again. */
const RESTARTS = [HOUR_MS, DAY_MS, 365 * DAY_MS] as const
/** How far the clock of one of two nodes is ahead: beyond each retention, beyond that of finished lists, and over midnight. */
const NODES_AHEAD = [500 * DAY_MS, 30 * DAY_MS, 26 * HOUR_MS] as const

/**
 * Sets the clock of a server forwards and backwards over midnight while an account asks for more than its quota, starts it with a clock
 * that is ahead, and sets that of one of two nodes ahead.
 */
export async function steppedClock({ times, isLong, random }: Doing): Promise<Found> {
  const isOnNodes = isLong && POSTGRES_PROGRAMS !== null
  const restarts = isLong ? RESTARTS : RESTARTS.slice(0, 1)
  const runs: Run[] = []
  for (let time = 0; time < times; time++) {
    runs.push(await steppedOnce(random, restarts))
    if (isOnNodes) runs.push(await nodeAheadOnce())
  }
  return {
    did: `the clock was set over midnight and back, a day and 400 days ahead and back, with ${ASKED} checks after each step for a quota of ${QUOTA} a day (a clock of its own in the world that the server is given); the server was started with one that was ahead${isOnNodes ? "; of two nodes on PostgreSQL one was 500 days, 30 days and 26 hours ahead" : ""}`,
    times: times * (STEPS.length + 1 + restarts.length + (isOnNodes ? NODES_AHEAD.length : 0)),
    acknowledged: runs.reduce((sum, { admitted }) => sum + admitted, 0),
    breaches: runs.flatMap(({ breaches }) => breaches),
    backMs: Math.max(...runs.map(({ backMs }) => backMs)),
    memory: runs.at(0)?.memory ?? null,
  }
}

type Run = Pick<Found, "breaches" | "memory"> & { readonly admitted: number; readonly backMs: number }

async function steppedOnce(random: () => number, restarts: readonly number[]): Promise<Run> {
  const file = join(tmpdir(), `mailkind-clock-${process.pid}`)
  const right = START - Date.now()
  let offset = right
  set(file, offset)
  const settings = { CLOCK_FILE: file, MAILKIND_TIERS: `4=1000/100/${QUOTA}` }
  await using victim = new TestServer({ program: CHILD, settings })
  await victim.start()
  const before = residentOf(victim)
  const breaches: string[] = []
  const admitted = new Map<number, number>()
  let backMs = 0
  for (const step of [...STEPS, (below(random, 3) - 1) * DAY_MS]) {
    offset += step
    set(file, offset)
    backMs = Math.max(backMs, await answered(victim))
    const day = Math.floor((Date.now() + offset) / DAY_MS)
    const statuses = await Promise.all(Array.from({ length: ASKED }, () => victim.check()))
    const wrong = statuses.filter(status => status !== 200 && status !== 429)
    if (wrong.length > 0) breaches.push(`checks were answered ${wrong.join()}`)
    admitted.set(day, (admitted.get(day) ?? 0) + statuses.filter(status => status === 200).length)
  }
  breaches.push(...wrongCounts(admitted))
  const memory = { before, after: residentOf(victim) }
  set(file, right)
  await untilSaid(victim, "ok")
  const kept = await storedRows(sqliteOf(victim))
  for (const aheadMs of restarts) {
    await victim.stop()
    set(file, right + aheadMs)
    await victim.start()
    breaches.push(...(await doubtBreaches(victim, sqliteOf(victim), kept)))
    const statuses = await Promise.all(Array.from({ length: ASKED }, () => victim.check()))
    if (statuses.includes(200)) breaches.push(`units were given twice by a start ${aheadMs} ms ahead`)
    set(file, right)
    await untilSaid(victim, "ok")
  }
  if ((await victim.stop()) !== 0) breaches.push("it did not end well")
  if (/"level":"error"/.test(victim.log)) breaches.push(`it logged a failure: ${victim.log.slice(-500)}`)
  breaches.push(...integrityOf(victim.database))
  rmSync(file, { force: true })
  return { breaches, memory, backMs, admitted: admitted.values().reduce((sum, count) => sum + count, 0) }
}

/** Two nodes over one database, of which one has a clock that is ahead. */
async function nodeAheadOnce(): Promise<Run> {
  const { url, psql } = await programsDatabase()
  const file = join(tmpdir(), `mailkind-clock-node-${process.pid}`)
  await using stack = new AsyncDisposableStack()
  const lists = stack.use(new TestServer()).directory
  const settings = {
    MAILKIND_TIERS: `4=1000/100/${QUOTA}`,
    MAILKIND_DATABASE_URL: url,
    MAILKIND_JOBS_DIR: join(lists, "jobs"),
  }
  const [good, ahead] = [1, 2].map(() =>
    stack.use(new TestServer({ program: CHILD, settings: { ...settings, CLOCK_FILE: file } })),
  )
  if (good === undefined || ahead === undefined) throw new Error("there are two")
  set(`${file}-right`, 0)
  await good.start({ CLOCK_FILE: `${file}-right` })
  ahead.firstKey = good.firstKey
  const firstDay = Math.floor(Date.now() / DAY_MS)
  const rows: Rows = async sql => psql(sql)
  fillRows(psql, Date.now())
  const kept = await storedRows(rows)
  const breaches: string[] = []
  let admitted = 0
  set(file, NODES_AHEAD[0])
  await ahead.start()
  for (const aheadMs of NODES_AHEAD) {
    set(file, aheadMs)
    breaches.push(...(await doubtBreaches(ahead, rows, kept)))
    const statuses = await Promise.all(Array.from({ length: ASKED }, () => ahead.check()))
    admitted += statuses.filter(status => status === 200).length
    const wrong = statuses.filter(status => status !== 200 && status !== 429)
    if (wrong.length > 0) breaches.push(`checks were answered ${wrong.join()}`)
    if ((await good.ask("GET /v1/health")).body.includes("in_doubt")) breaches.push("the other node is in doubt")
  }
  const days = Math.floor(Date.now() / DAY_MS) - firstDay + 1
  if (admitted > QUOTA * days) breaches.push(`${admitted} were admitted of ${QUOTA} on ${days} days`)
  set(file, 0)
  const backMs = await untilSaid(ahead, "ok")
  for (const node of [ahead, good]) if ((await node.stop()) !== 0) breaches.push("a node did not end well")
  for (const suffix of ["", "-right"]) rmSync(file + suffix, { force: true })
  return { breaches, memory: null, admitted, backMs }
}

/** Asks the database of a server, and gives what it answers as text. */
type Rows = (sql: string) => Promise<string>

const sqliteOf =
  (victim: TestServer): Rows =>
  async sql => {
    using database = new Database(victim.database, { readonly: true })
    return String(database.query(sql).values().flat()[0])
  }

/** Something that a clock that is ahead would delete: what an account did, and a finished list with its owner. */
function fillRows(psql: (sql: string) => string, nowMs: number): void {
  const account = "SELECT id FROM accounts LIMIT 1"
  psql(`INSERT INTO usage (account_id, key_id, day, measure, count)
    SELECT (${account}), 'key_1', ${Math.floor(nowMs / DAY_MS)} - day, 'checks', 1 FROM generate_series(1, 20) AS day`)
  psql(`INSERT INTO sessions (id, hash, account_id, agent, created_at_ms, seen_at_ms)
    VALUES ('ses_1', 'h', (${account}), 'Firefox', ${nowMs}, ${nowMs})`)
  psql(`INSERT INTO outbox (account_id, notice, subject, particulars, written_at_ms, due_at_ms, refusal_count, renewal_count)
    VALUES ((${account}), 'key_created', 'key_1', '{}', ${nowMs}, ${nowMs}, 0, 0)`)
  psql(`INSERT INTO jobs (id, account_id, key_id, state, format, has_header, policy, includes_tenant, created_at_ms, ended_at_ms)
    VALUES ('job_1', (${account}), 'key_1', 'done', 'csv', 0, 'b2b', 0, ${nowMs}, ${nowMs})`)
}

const COUNTED = ["admin_acts", "sessions", "outbox", "usage", "traffic", "request_log", "jobs WHERE state <> 'deleted'"]

/** How many rows there are that a clock that is ahead would delete. Others are added meanwhile. */
async function storedRows(rows: Rows): Promise<readonly number[]> {
  const counts: number[] = []
  for (const table of COUNTED) counts.push(Number(await rows(`SELECT COUNT(*) FROM ${table}`)))
  return counts
}

/** What a server with a wrong clock does not say, and what it has deleted after a while. */
async function doubtBreaches(victim: TestServer, rows: Rows, kept: readonly number[]): Promise<readonly string[]> {
  await untilSaid(victim, "in_doubt")
  await victim.logged(/the clock is in doubt/)
  await Bun.sleep(PRUNED_MS)
  const counts = await storedRows(rows)
  return COUNTED.filter((_, index) => (counts[index] ?? 0) < (kept[index] ?? 0)).map(
    table => `rows of ${table} were deleted`,
  )
}

/** Each piece of background work has been done several times after so long. */
const PRUNED_MS = 1000

/** How long it takes until a server says so of its clock. */
async function untilSaid(victim: TestServer, status: "ok" | "in_doubt"): Promise<number> {
  const startedAt = performance.now()
  await until(
    async () => JSON.parse((await victim.ask("GET /v1/health")).body).clock.status === status,
    () => `the clock is not ${status}`,
  )
  return performance.now() - startedAt
}

/** Too many on any day, and too few on the first: a clock that is set takes none of a day's units away. */
function wrongCounts(admitted: ReadonlyMap<number, number>): readonly string[] {
  const first = admitted.get(Math.floor(START / DAY_MS))
  return [
    ...[...admitted]
      .filter(([, count]) => count > QUOTA)
      .map(([day, count]) => `${count} were admitted of ${QUOTA} on day ${day}`),
    ...(first === QUOTA ? [] : [`of the first day ${first} of ${QUOTA} were admitted`]),
  ]
}

/** Never half a number for who reads it. */
function set(file: string, offset: number): void {
  writeFileSync(`${file}.new`, String(offset))
  renameSync(`${file}.new`, file)
}

/** How long it takes until the server tells that it is well: a check may be over its quota. */
async function answered(victim: TestServer): Promise<number> {
  const startedAt = performance.now()
  const { status } = await victim.ask("GET /v1/health")
  if (status !== 200) await untilServed(victim)
  return performance.now() - startedAt
}
