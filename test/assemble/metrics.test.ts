import { describe, expect, test } from "bun:test"
import { networkSamples, OFFLINE_NETWORK } from "../../src/assemble/check/network.ts"
import { timeOperations } from "../../src/assemble/customers/store.ts"
import type { Part } from "../../src/assemble/part.ts"
import { skipDeepChecksUnderLoad } from "../../src/assemble/server.ts"
import { METRIC_LABELS } from "../../src/contract/metrics.ts"
import { LOAD_LIMITS } from "../../src/http/admission/load-shedder.ts"
import { createSystem } from "../../src/system/system.ts"
import { post } from "../customers/notices/outbox-rows.ts"
import { newAccount } from "../customers/temp-store.ts"
import { knownLists } from "../support/app.ts"
import { freePort } from "../support/free-port.ts"
import { outcomeOf } from "../support/outcome-of.ts"
import { observedServer } from "./observed-server.ts"

const ASKED: Part = {
  samples: () =>
    networkSamples(false, {
      isBreakerOpen: true,
      queryCounts: { records: 5, no_data: 4, no_name: 3, timed_out: 2, unavailable: 1 },
      answerCache: { entries: 7, hits: 8, misses: 9 },
      tenantStats: { entries: 10, hits: 11, misses: 12, tenant: 13, none: 14, failed: 15, openBreakerCount: 1 },
    }),
}

describe("a scrape tells", () => {
  test("how DNS, tenants and their caches stand", async () => {
    const { over, samples } = await observedServer({ parts: [ASKED] })
    over.start()
    const facts = await samples()
    expect(
      METRIC_LABELS.dns_outcome.map(outcome => facts.get(`mailkind_dns_questions_total{dns_outcome="${outcome}"}`)),
    ).toEqual([5, 4, 3, 2, 1])
    expect(
      METRIC_LABELS.tenant_outcome.map(outcome =>
        facts.get(`mailkind_tenant_lookups_total{tenant_outcome="${outcome}"}`),
      ),
    ).toEqual([13, 14, 15])
    const names = ["mailkind_dns_up", "mailkind_dns_breaker_open", "mailkind_tenant_breakers_open"]
    expect(names.map(name => facts.get(name))).toEqual([1, 1, 1])
    const cache = (name: string, of: string) => facts.get(`mailkind_cache_${name}{cache="${of}"}`)
    expect(["entries", "hits_total", "misses_total"].map(name => [cache(name, "dns"), cache(name, "tenants")])).toEqual(
      [
        [7, 10],
        [8, 11],
        [9, 12],
      ],
    )
    await over.stop()
  })

  test("no outage of DNS where the operator turned it off", async () => {
    const { over, samples } = await observedServer({ parts: [OFFLINE_NETWORK] })
    over.start()
    expect((await samples()).get("mailkind_dns_up")).toBe(1)
    await over.stop()
  })

  test("what lists hold, and when they were made", async () => {
    const { over, samples } = await observedServer({ parts: [ASKED] })
    over.start()
    const facts = await samples()
    const { builtAt, entryCounts } = knownLists.lists.pack
    expect(facts.get("mailkind_lists_built_timestamp_seconds")).toBe(Date.parse(builtAt) / 1000)
    for (const set of METRIC_LABELS.set)
      expect(facts.get(`mailkind_lists_entries{set="${set}"}`)).toBe(entryCounts[set])
    await over.stop()
  })

  test("keys, leases and usage as of now, and what is in flight", async () => {
    const { harness, own, over, samples } = await observedServer({ parts: [ASKED] })
    over.start()
    expect((await harness.ask("GET /v1/check?domain=stripe.com")).status).toBe(200)
    await harness.time.tick(3000)
    own.loadShedder.acquire()
    own.loadShedder.reserveBody(10_000)
    const facts = await samples()
    expect(facts.get('mailkind_cache_entries{cache="keys"}')).toBe(1)
    expect(facts.get('mailkind_cache_misses_total{cache="keys"}')).toBe(1)
    expect(facts.get("mailkind_leases_held")).toBe(1)
    expect(facts.get("mailkind_nodes")).toBe(1)
    expect(facts.get("mailkind_usage_unwritten")).toBeGreaterThan(0)
    expect(facts.get("mailkind_usage_flush_lag_seconds")).toBe(3)
    expect([facts.get("mailkind_http_in_flight"), facts.get("mailkind_http_body_bytes")]).toEqual([1, 10_000])
    await harness.customers.usage.flush()
    expect((await samples()).get("mailkind_usage_flush_lag_seconds")).toBe(0)
    await over.stop()
  })

  test("that units could not be leased", async () => {
    const { harness, over, samples } = await observedServer({ parts: [ASKED] })
    over.start()
    await harness.store.run("DROP TABLE units")
    expect((await harness.ask("GET /v1/check?domain=stripe.com")).status).toBe(500)
    expect((await samples()).get("mailkind_quota_store_failures_total")).toBe(1)
    await over.stop()
  })

  test("mails by notice and state, for how long the oldest has waited, lists by state, and callbacks", async () => {
    const { harness, over, query, samples } = await observedServer({ parts: [ASKED] })
    const accountId = await newAccount(harness.changes, "jane@acme.com")
    await post(harness.store, accountId, "key_1", harness.clock())
    await harness.store.run(
      "INSERT INTO jobs (id, account_id, key_id, state, format, has_header, policy, includes_tenant, created_at_ms) VALUES ('job_1', $1, 'k', 'queued', 'csv', 1, 'b2b', 1, 1)",
      [accountId],
    )
    await harness.store.run(
      "INSERT INTO callbacks (id, account_id, job_id, event, body, happened_at_ms, due_at_ms) VALUES ('msg_1', $1, 'job_1', 'job.stopped', '{}', 1, 1)",
      [accountId],
    )
    over.start()
    await harness.time.tick(5000)
    await query()
    const facts = await samples()
    expect(facts.get('mailkind_outbox_mails{notice="key_created",mail_state="waiting"}')).toBe(1)
    expect(facts.get("mailkind_outbox_oldest_waiting_seconds")).toBe(5)
    expect(facts.get('mailkind_jobs{job_state="queued"}')).toBe(1)
    expect(facts.get("mailkind_callbacks_waiting")).toBe(1)
    expect(facts.get("mailkind_callbacks_given_up")).toBe(0)
    await over.stop()
  })

  test("what the process takes", async () => {
    const { over, samples } = await observedServer({ parts: [ASKED] })
    over.start()
    const facts = await samples()
    for (const name of ["resident_memory_bytes", "heap_bytes", "cpu_seconds_total", "start_time_seconds"])
      expect(facts.get(`mailkind_process_${name}{worker="0"}`)).toBeGreaterThan(0)
    await over.stop()
  })
})

test("a disk that does not answer is asked once, and others are asked again", async () => {
  const asked: string[] = []
  const { files } = createSystem()
  const diskSpace = (path: string) => {
    asked.push(path)
    return path === "/backups" ? new Promise<never>(() => undefined) : Promise.resolve({ freeBytes: 1, sizeBytes: 2 })
  }
  const { over, query, samples } = await observedServer({
    environment: {
      MAILKIND_METRICS: `127.0.0.1:${freePort()}`,
      MAILKIND_DATA_DIR: "/data",
      MAILKIND_BACKUP_DIR: "/backups",
    },
    outside: { files: { ...files, diskSpace } },
  })
  over.start()
  // What was asked at the start has not answered yet.
  await query()
  await query()
  expect(asked.toSorted()).toEqual(["/backups", "/data", "/data", "/data/jobs", "/data/jobs"])
  const facts = await samples()
  const told = (directory: string) =>
    ["free", "size"].map(what => facts.get(`mailkind_disk_${what}_bytes{directory="${directory}"}`))
  expect([told("data"), told("backups")]).toEqual([
    [1, 2],
    [0, 0],
  ])
  await over.stop()
})

test("an operation on the database counts with its time, also one that fails", async () => {
  const { harness, own, samples } = await observedServer()
  const times = [0, 40, 100, 103, 200, 400]
  const timed = timeOperations({ stopwatch: () => times.shift() ?? 0 }, harness.store, own.meter)
  await timed.run("UPDATE accounts SET tier = tier")
  await timed.transaction(async inner => void (await inner.all("SELECT id FROM accounts")))
  expect(await outcomeOf(timed.one("SELECT nothing FROM nowhere"))).toThrow()
  const facts = await samples()
  const bucket = (le: string) => facts.get(`mailkind_database_operation_duration_seconds_bucket{le="${le}"}`)
  expect(["0.0025", "0.01", "0.025", "0.1", "0.25", "+Inf"].map(bucket)).toEqual([0, 1, 1, 2, 3, 3])
  expect(facts.get("mailkind_database_operation_duration_seconds_sum")).toBeCloseTo(0.243)
})

test("where metrics are off nothing is written down again and again, and the end ends everything", async () => {
  const { over, works } = await observedServer({ environment: {} })
  over.start()
  const looks = [...works.keys()]
  expect(looks).toEqual([50])
  await over.stop()
  expect(works.size).toBe(0)
  const on = await observedServer({ parts: [ASKED] })
  on.over.start()
  expect(on.works.size).toBe(3)
  await on.over.stop()
  expect(on.works.size).toBe(0)
})

test("what is deep gives way while the server has much to do", async () => {
  const { own } = await observedServer({ environment: {} })
  const query = skipDeepChecksUnderLoad({ queryDns: null, isDnsUnavailable: () => false }, own.loadShedder)
  const half = LOAD_LIMITS.inFlightMax / 2
  for (let count = 2; count < half; count++) own.loadShedder.acquire()
  const facts = [1, 2, 3].map(() => {
    own.loadShedder.acquire()
    return query.isDnsUnavailable()
  })
  expect(facts).toEqual([false, false, true])
  expect(skipDeepChecksUnderLoad(OFFLINE_NETWORK, own.loadShedder).isDnsUnavailable()).toBe(true)
})
