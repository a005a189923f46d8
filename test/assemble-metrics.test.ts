import { describe, expect, test } from "bun:test"
import { observing, yielding } from "../src/assemble-metrics.ts"
import { OFFLINE, type OutsideAsked } from "../src/assemble-outside.ts"
import { readSettings } from "../src/config/settings.ts"
import { LABELS } from "../src/contract/metrics.ts"
import { realWorld } from "../src/world.ts"
import { post } from "./customers/notices/outbox-rows.ts"
import { newAccount } from "./customers/temp-store.ts"
import { knownLists, testApp } from "./world/app.ts"
import { samplesOf } from "./world/prometheus.ts"

const ASKED: OutsideAsked = {
  ...OFFLINE,
  isDnsAway: () => false,
  told: () => ({
    isBreakerOpen: true,
    questions: { records: 5, no_data: 4, no_name: 3, timed_out: 2, unavailable: 1 },
    answers: { entries: 7, hits: 8, misses: 9 },
    tenants: { entries: 10, hits: 11, misses: 12, tenant: 13, none: 14, failed: 15, breakersOpen: 1 },
  }),
}

/** A house that observes itself; `works` is what it does again and again, by how often. */
async function observed(
  environment: Record<string, string> = { MAILKIND_METRICS_ALLOW: "127.0.0.1" },
  outside = ASKED,
) {
  const house = await testApp({ tier: 0 })
  const read = readSettings(environment)
  if (read.kind === "faulty") throw new Error(read.faults.join())
  const works = new Map<number, () => void>()
  const every = (ms: number, work: () => void) => {
    works.set(ms, work)
    return () => void works.delete(ms)
  }
  const log = () => undefined
  const own = observing({ ...realWorld(), every, clock: house.clock }, read.settings, log, "alone", {
    version: "1",
    bun: "2",
  })
  const lists = { now: () => knownLists, reload: async () => undefined, begin: () => () => undefined }
  const over = own.over({ store: house.store, lists, outside, customers: house.customers })
  return { house, own, over, works, samples: async () => samplesOf((await own.read()).text) }
}

describe("a scrape tells", () => {
  test("how DNS, tenants and their caches stand", async () => {
    const { over, samples } = await observed()
    over.begin()
    const told = await samples()
    expect(
      LABELS.dns_outcome.map(outcome => told.get(`mailkind_dns_questions_total{dns_outcome="${outcome}"}`)),
    ).toEqual([5, 4, 3, 2, 1])
    expect(
      LABELS.tenant_outcome.map(outcome => told.get(`mailkind_tenant_lookups_total{tenant_outcome="${outcome}"}`)),
    ).toEqual([13, 14, 15])
    const names = ["mailkind_dns_up", "mailkind_dns_breaker_open", "mailkind_tenant_breakers_open"]
    expect(names.map(name => told.get(name))).toEqual([1, 1, 1])
    const cache = (name: string, of: string) => told.get(`mailkind_cache_${name}{cache="${of}"}`)
    expect(["entries", "hits_total", "misses_total"].map(name => [cache(name, "dns"), cache(name, "tenants")])).toEqual(
      [
        [7, 10],
        [8, 11],
        [9, 12],
      ],
    )
    await over.end()
  })

  test("that DNS is away where nobody is asked", async () => {
    const { over, samples } = await observed(undefined, OFFLINE)
    over.begin()
    expect((await samples()).get("mailkind_dns_up")).toBe(0)
    await over.end()
  })

  test("what lists hold, and when they were made", async () => {
    const { over, samples } = await observed()
    over.begin()
    const told = await samples()
    const { builtAt, entries } = knownLists.lists.pack
    expect(told.get("mailkind_lists_built_timestamp_seconds")).toBe(Date.parse(builtAt) / 1000)
    for (const set of LABELS.set) expect(told.get(`mailkind_lists_entries{set="${set}"}`)).toBe(entries[set])
    await over.end()
  })

  test("keys, leases and usage as of now, and what is in flight", async () => {
    const { house, own, over, samples } = await observed()
    over.begin()
    expect((await house.ask("GET /v1/check?domain=stripe.com")).status).toBe(200)
    await house.time.tick(3000)
    own.load.enter()
    own.load.takeBody(10_000)
    const told = await samples()
    expect(told.get('mailkind_cache_entries{cache="keys"}')).toBe(1)
    expect(told.get('mailkind_cache_misses_total{cache="keys"}')).toBe(1)
    expect(told.get("mailkind_leases_held")).toBe(1)
    expect(told.get("mailkind_nodes")).toBe(1)
    expect(told.get("mailkind_usage_unwritten")).toBeGreaterThan(0)
    expect(told.get("mailkind_usage_flush_lag_seconds")).toBe(3)
    expect([told.get("mailkind_http_in_flight"), told.get("mailkind_http_body_bytes")]).toEqual([1, 10_000])
    await house.customers.usage.flush()
    expect((await samples()).get("mailkind_usage_flush_lag_seconds")).toBe(0)
    await over.end()
  })

  test("that units could not be leased", async () => {
    const { house, over, samples } = await observed()
    over.begin()
    await house.store.run("DROP TABLE units")
    expect((await house.ask("GET /v1/check?domain=stripe.com")).status).toBe(500)
    expect((await samples()).get("mailkind_quota_store_failures_total")).toBe(1)
    await over.end()
  })

  test("mails by notice and state, and for how long the oldest has waited", async () => {
    const { house, over, works, samples } = await observed()
    const accountId = await newAccount(house.changes, "jane@acme.com")
    await post(house.store, accountId, "key_1", house.clock())
    over.begin()
    await house.time.tick(5000)
    works.get(15_000)?.()
    // What it asks the store is told when the store has answered.
    for (let turn = 0; turn < 50; turn++) await new Promise(resolve => setImmediate(resolve))
    const told = await samples()
    expect(told.get('mailkind_outbox_mails{notice="key_created",mail_state="waiting"}')).toBe(1)
    expect(told.get("mailkind_outbox_oldest_waiting_seconds")).toBe(5)
    await over.end()
  })

  test("what the process takes", async () => {
    const { over, samples } = await observed()
    over.begin()
    const told = await samples()
    for (const name of ["resident_memory_bytes", "heap_bytes", "cpu_seconds_total", "start_time_seconds"])
      expect(told.get(`mailkind_process_${name}{worker="0"}`)).toBeGreaterThan(0)
    await over.end()
  })
})

test("where metrics are off nothing is written down again and again, and the end ends everything", async () => {
  const { over, works } = await observed({})
  over.begin()
  const looks = [...works.keys()]
  expect(looks).toEqual([50])
  await over.end()
  expect(works.size).toBe(0)
  const on = await observed()
  on.over.begin()
  expect(on.works.size).toBe(3)
  await on.over.end()
  expect(on.works.size).toBe(0)
})

test("what is deep gives way while the server has much to do", async () => {
  const { own } = await observed({ MAILKIND_IN_FLIGHT_MAX: "4" })
  const asked = yielding(ASKED, own)
  const told = [1, 2, 3].map(() => {
    own.load.enter()
    return asked.isDnsAway()
  })
  expect(told).toEqual([false, false, true])
  expect(yielding(OFFLINE, own).isDnsAway()).toBe(true)
})
