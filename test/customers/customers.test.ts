import { expect, test } from "bun:test"
import type { Log } from "../../src/base/log.ts"
import { HOUR_MS, type RunInterval } from "../../src/base/time.ts"
import { parseSettings } from "../../src/config/settings.ts"
import { createCustomersService } from "../../src/customers/customers.ts"
import { createKey, revokeKey } from "../../src/customers/keys/keys.ts"
import { digestSettings } from "../../src/customers/nodes/equal-settings.ts"
import { deleteNode, readHeartbeats, writeHeartbeat } from "../../src/customers/nodes/live-nodes.ts"
import { LocalRateLimiter } from "../../src/customers/quota/rate/local-rate-limiter.ts"
import { rateSubject } from "../../src/customers/quota/rate/rate-subject.ts"
import { insertRequests } from "../../src/customers/request-log/request-rows.ts"
import type { AttributedLog } from "../../src/customers/store/change-log/change-log.ts"
import type { OpenStore, SqlValue } from "../../src/customers/store/core/store.ts"
import { createSystem, type System } from "../../src/system/system.ts"
import { bounded } from "../support/bounded.ts"
import { trustedTime } from "../support/clock.ts"
import { pollOver } from "../support/database-poll.ts"
import { onTestEnd } from "../support/on-test-end.ts"
import { onPostgres } from "./engines.ts"
import { CHECK } from "./request-log/logged-store.ts"
import { newAccount, random, tempLog, tempPath, tempPlace, tempStore } from "./temp-store.ts"

type OverOptions = {
  /** Settings, as texts; absent: none. */
  readonly given?: Readonly<Record<string, string>>
  readonly log?: Log
  readonly polled?: ReturnType<typeof pollOver>
  /** What the trusted clock says. */
  readonly trusted?: () => number
}

/** What serves customers over a store, with its poll, which the test runs. */
async function customersOver(
  store: OpenStore,
  system: System,
  { given = {}, log = () => undefined, polled = pollOver(store), trusted = Date.now }: OverOptions = {},
) {
  const read = parseSettings(given)
  if (read.kind !== "read") throw new Error(read.faults.join())
  const { settings } = read
  const context = { trustedTime: trustedTime(trusted), userAgent: "test", system, settings, log, store, ...polled }
  return { customers: await createCustomersService(context), poll: polled.poll, settings }
}

/** A secret key of a new account. */
async function newKey(log: AttributedLog, expiresAtMs: number | null = null) {
  const made = await createKey(log, random, {
    restrictions: { expiresAtMs, unitsPerDay: null, requestsPerSecond: null, networks: [] },
    accountId: await newAccount(log),
    kind: "secret",
    name: null,
    origins: [],
  })
  if (made.kind !== "created") throw new Error(made.kind)
  return made
}

onPostgres("what another node changes is learnt from its notification, without looking from time to time", async () => {
  const place = tempPlace()
  const [ours, theirs] = [await tempStore(place), await tempStore(place)]
  const log = tempLog(theirs)
  const made = await newKey(log)
  // No time passes for whoever wants to look again.
  const world = { ...createSystem(), clock: () => 9_000, runInterval: () => () => undefined }
  const { customers, poll } = await customersOver(ours, world)
  const listening = Promise.withResolvers<void>()
  ours.onChange(() => listening.resolve())
  await bounded(listening.promise, () => "nobody listens")
  customers.start()
  poll.start()
  onTestEnd(customers.stop)
  onTestEnd(() => poll.stop())
  expect(await customers.keys.lookup(made.text)).toMatchObject({ kind: "active" })
  await revokeKey(log, made.key.id, "owner")
  const refused = async (): Promise<void> => {
    while ((await customers.keys.lookup(made.text)).kind !== "revoked")
      await new Promise(resolve => setImmediate(resolve))
  }
  await bounded(refused(), () => "the key is still active")
})

onPostgres("a process that was stopped asks what has changed before it uses a key that it has cached", async () => {
  const place = tempPlace()
  const [ours, theirs] = [await tempStore(place), await tempStore(place)]
  const log = tempLog(theirs)
  const made = await newKey(log)
  let nowMs = 9_000
  // Neither a timer nor a notification tells it anything.
  const world = { ...createSystem(), clock: () => nowMs, runInterval: () => () => undefined }
  const { customers } = await customersOver(ours, world, { polled: pollOver(ours, world.clock) })
  onTestEnd(customers.stop)
  expect(await customers.keys.lookup(made.text)).toMatchObject({ kind: "active" })
  await revokeKey(log, made.key.id, "owner")
  expect(await customers.keys.lookup(made.text)).toMatchObject({ kind: "active" })
  nowMs += 1_000
  expect(await customers.keys.lookup(made.text)).toMatchObject({ kind: "revoked" })
})

test("a key expires by the trusted time, whatever the clock of this host says", async () => {
  const store = await tempStore()
  const log = tempLog(store)
  const expiresAtMs = log.clock() + HOUR_MS / 2
  const { text } = await newKey(log, expiresAtMs)
  const time = { hostMs: log.clock() + HOUR_MS, trustedMs: expiresAtMs - 1 }
  const world = { ...createSystem(), clock: () => time.hostMs }
  const { customers } = await customersOver(store, world, { trusted: () => time.trustedMs })
  onTestEnd(customers.stop)
  expect(await customers.keys.lookup(text)).toMatchObject({ kind: "active" })
  time.hostMs = log.clock()
  time.trustedMs = expiresAtMs
  expect(await customers.keys.lookup(text)).toMatchObject({ kind: "expired" })
})

onPostgres("that a node came or went is learnt from its notification, and its share is taken at once", async () => {
  const place = tempPlace()
  const [ours, theirs] = [await tempStore(place), await tempStore(place)]
  await writeHeartbeat(theirs, { id: "node_1", startId: "node_1" }, { url: "http://10.0.0.11:8080" })
  const world = { ...createSystem(), runInterval: () => () => undefined }
  const logged: [string, unknown][] = []
  const { customers, poll, settings } = await customersOver(ours, world, {
    given: { MAILKIND_DATABASE_URL: place, MAILKIND_DATA_DIR: tempPath("data") },
    log: (_, description, fields) => void logged.push([description, fields]),
  })
  const atOnce = (caller: string): number => {
    let count = 0
    while (customers.rates.admit(rateSubject("caller", caller), { perSecond: 0.001, burst: 12 }).waitS === 0) count++
    return count
  }
  // It knows of the other before it serves; the other knows of it when it does.
  expect([customers.nodesCount(), atOnce("a"), (await readHeartbeats(theirs)).length]).toEqual([2, 6, 1])
  customers.start()
  poll.start()
  const counted = async (wanted: number): Promise<void> => {
    const waiting = async (): Promise<void> => {
      while (customers.nodesCount() !== wanted) await new Promise(resolve => setImmediate(resolve))
    }
    await bounded(waiting(), () => `it counts ${customers.nodesCount()} nodes, not ${wanted}`)
  }
  const listening = Promise.withResolvers<void>()
  ours.onChange(() => listening.resolve())
  await bounded(listening.promise, () => "nobody listens")
  const digests = digestSettings({ ...settings, MAILKIND_TIERS: ["1=1/1/1"] })
  await writeHeartbeat(theirs, { id: "node_2", startId: "node_2" }, { url: "http://10.0.0.12:8080", settings: digests })
  await counted(3)
  expect([atOnce("b"), customers.inFlight.tryAcquire("a", 1), customers.inFlight.tryAcquire("a", 1)]).toEqual([
    4,
    true,
    false,
  ])
  for (const id of ["node_1", "node_2"]) await deleteNode(theirs, { id, startId: id })
  await counted(1)
  expect(atOnce("c")).toBe(12)
  await poll.stop()
  await customers.stop()
  expect(await readHeartbeats(theirs)).toEqual([])
  expect(logged).toContainEqual([
    "the number of nodes that share the limits has changed",
    { nodes: 3, came: "http://10.0.0.12:8080" },
  ])
  const differs: [string, unknown] = [
    "settings differ from those of another node",
    expect.objectContaining({ settings: "MAILKIND_TIERS" }),
  ]
  expect(logged.filter(([description]) => description === differs[0])).toEqual([differs])
  expect(JSON.stringify(logged)).not.toContain("node_")
})

test("where the database is a file nobody else has it, and no statement is asked about nodes", async () => {
  const store = await tempStore(tempPath())
  const requests: string[] = []
  const watched = {
    ...store,
    all: <Row>(sql: string, params?: readonly SqlValue[]) => {
      requests.push(sql)
      return store.all<Row>(sql, params)
    },
  }
  const works: (() => void)[] = []
  const every = (_: number, work: () => void) => {
    works.push(work)
    return () => undefined
  }
  const world = { ...createSystem(), runInterval: every }
  const { customers, poll } = await customersOver(watched, world)
  customers.start()
  poll.start()
  for (const work of works) work()
  expect([customers.nodesCount(), customers.rates instanceof LocalRateLimiter]).toEqual([1, true])
  await poll.stop()
  await customers.stop()
  expect(requests.filter(sql => sql.includes("nodes"))).toEqual([])
})

test("whoever writes logged requests keeps all logs within MAILKIND_REQUEST_LOG_BYTES_MAX", async () => {
  const store = await tempStore(tempPath())
  const everySecond: (() => void)[] = []
  const runInterval: RunInterval = (everyMs, run) => {
    if (everyMs === 1000) everySecond.push(run)
    return () => undefined
  }
  const { customers } = await customersOver(
    store,
    { ...createSystem(), runInterval },
    { given: { MAILKIND_REQUEST_LOG_BYTES_MAX: "1048576" } },
  )
  customers.start()
  onTestEnd(customers.stop)
  const accountId = await newAccount(tempLog(store))
  const rows = Array.from({ length: 8000 }, (_, n) => {
    const atMs = Date.now() - n
    return { request: { accountId, ...CHECK }, atMs, seq: atMs, skippedCount: 0 }
  })
  await store.transaction(inner => insertRequests(inner, rows))
  const told = (name: string): number => customers.samples().find(([metric]) => metric === name)?.[1] ?? 0
  const trimmed = async (): Promise<void> => {
    while (told("mailkind_request_log_bytes") === 0 || told("mailkind_request_log_bytes") > 1_048_576) {
      customers.requestLog?.record({ accountId, ...CHECK })
      for (const run of everySecond) run()
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  await bounded(trimmed(), () => `the logs take ${told("mailkind_request_log_bytes")} bytes`)
  const count = await store.one<{ count: number }>("SELECT COUNT(*) AS count FROM request_log")
  expect(count?.count).toBeLessThan(6250)
  expect(told("mailkind_request_log_bytes_max")).toBe(1_048_576)
})
