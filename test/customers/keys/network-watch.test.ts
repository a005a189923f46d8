import { expect, test } from "bun:test"
import { DAY_MS } from "../../../src/base/time.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import { createKey } from "../../../src/customers/keys/keys.ts"
import { NetworkWatch, pruneNetworks } from "../../../src/customers/keys/network-watch.ts"
import { widerNetworks } from "../../../src/customers/quota/client-networks.ts"
import { trustedAt } from "../../support/clock.ts"
import { outboxRows } from "../notices/outbox-rows.ts"
import { newAccount, random, tempLog, tempPlace, tempStore, writtenAt } from "../temp-store.ts"

const HOUR_MS = 3_600_000

async function setUp() {
  const path = tempPlace()
  const log = tempLog(await tempStore(path))
  const accountId = await newAccount(log)
  const made = await createKey(log, random, { accountId, kind: "secret", name: "Shop", origins: [] })
  if (made.kind !== "created") throw new Error(made.kind)
  const process = async () => {
    const store = await tempStore(path)
    const networkOf = (client: string) => widerNetworks(client).at(-1)?.name ?? null
    return new NetworkWatch({ store, clock: log.clock, networkOf, hashKey: async () => "the key" })
  }
  const [here, there] = [await process(), await process()]
  /** The key is used from these clients, in one process. */
  const use = async (watch: NetworkWatch, ...clients: readonly string[]) => {
    for (const client of clients) watch.record(made.key.id, client)
    while ((await watch.flush()) > 0);
  }
  const mails = async () =>
    (await outboxRows(log.store))
      .filter(({ notice }) => notice === "key_new_network")
      .map(({ particulars }) => JSON.parse(particulars))
  const rows = () => log.store.all<{ key_id: string; last_seen_at_ms: number }>("SELECT * FROM key_networks")
  return { path, log, key: made.key, here, there, process, use, mails, rows }
}

test("the first use from a new network is told, not in the first hour, and never again of that network", async () => {
  const { log, key, here, there, process, use, mails } = await setUp()
  const startMs = log.now
  await use(here, "192.0.2.1")
  log.now = startMs + HOUR_MS - 1
  await use(here, "198.51.100.1")
  expect(await mails()).toEqual([])
  log.now = startMs + HOUR_MS
  await use(here, "192.0.2.77", "198.51.100.9")
  expect(await mails()).toEqual([])
  await use(there, "203.0.113.5")
  expect(await mails()).toEqual([{ kind: "secret", name: "Shop", last4: key.last4, atMs: log.now }])
  log.now += 2 * DAY_MS
  for (const watch of [here, there, await process()]) await use(watch, "203.0.113.200", "192.0.2.1")
  expect(await mails()).toHaveLength(1)
})

test("a key causes at most one such mail a day, in whichever process its networks are seen", async () => {
  const { log, here, there, use, mails } = await setUp()
  await use(here, "192.0.2.1")
  log.now += HOUR_MS
  await Promise.all([use(here, "10.0.0.1", "10.0.1.1"), use(there, "10.0.2.1", "10.0.0.1")])
  expect(await mails()).toHaveLength(1)
  log.now += DAY_MS - 1
  await use(there, "10.0.3.1")
  expect(await mails()).toHaveLength(1)
  log.now += 1
  await use(there, "10.0.4.1")
  expect(await mails()).toHaveLength(2)
})

test("a network is an IPv4 /24 or an IPv6 /48, and a client without an address is none", async () => {
  const { here, use, rows } = await setUp()
  await use(here, "192.0.2.1", "192.0.2.254", "2001:db8:1:1", "2001:db8:1:ffff", "unreadable behind 10.0.0.1", "")
  expect(await rows()).toHaveLength(2)
  await use(here, "192.0.3.1", "2001:db8:2:1")
  expect(await rows()).toHaveLength(4)
})

test("no network is stored in words, and two keys of one network have different hashes", async () => {
  const { path, log, key, here, use } = await setUp()
  const { accountId } = key
  const other = await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
  if (other.kind !== "created") throw new Error(other.kind)
  await use(here, "203.0.113.5")
  here.record(other.key.id, "203.0.113.5")
  await here.flush()
  const hashes = await log.store.all<{ network_hash: string }>("SELECT network_hash FROM key_networks")
  expect(new Set(hashes.map(({ network_hash }) => network_hash)).size).toBe(2)
  expect(writtenAt(path)).not.toContain("203.0.113")
})

test("a key has a bounded number of networks, and beyond that no mails", async () => {
  const { log, here, use, mails, rows } = await setUp()
  await use(here, ...Array.from({ length: LIMITS.seenNetworksPerKeyMax + 50 }, (_, at) => `10.0.${at}.1`))
  expect(await rows()).toHaveLength(LIMITS.seenNetworksPerKeyMax)
  log.now += DAY_MS
  await use(here, "192.0.2.1")
  expect(await mails()).toEqual([])
})

test("networks that were not seen for long are deleted, and those in use stay", async () => {
  const { log, here, use, rows } = await setUp()
  await use(here, "192.0.2.1", "198.51.100.1")
  log.now += 2 * DAY_MS
  await use(here, "192.0.2.1")
  const [seenMs, endMs] = [log.now, log.now + (LIMITS.seenNetworkDays - 1) * DAY_MS]
  expect(await pruneNetworks(log.store, trustedAt(endMs), 100)).toBe(1)
  expect((await rows()).map(row => row.last_seen_at_ms)).toEqual([seenMs])
})

test("uses of a deleted or a publishable key are forgotten", async () => {
  const { log, key, here, rows } = await setUp()
  const { accountId } = key
  const pub = await createKey(log, random, {
    accountId,
    kind: "publishable",
    name: null,
    origins: ["https://a.example"],
  })
  here.record(pub.kind === "created" ? pub.key.id : "", "192.0.2.1")
  here.record("key_x", "192.0.2.1")
  while ((await here.flush()) > 0);
  expect(await rows()).toEqual([])
})

test("of a key with very many requests some clients are looked at in every tenth of a second, of others all", async () => {
  const { log, here } = await setUp()
  const looksAt = (keyId: string, count: number) =>
    Array.from({ length: count }, () => here.isDue(keyId)).filter(Boolean).length
  for (let window = 0; window < 3; window++) {
    expect([looksAt("key_busy", 1000), looksAt("key_calm", 20)]).toEqual([20, 20])
    log.now += 100
  }
  // A clock that is set back does not end the watch.
  log.now -= DAY_MS
  expect(looksAt("key_busy", 1000)).toBe(20)
})

test("the uses from five thousand networks wait for a flush, and further ones come again", async () => {
  const { log } = await setUp()
  const store = { ...log.store, transaction: async () => undefined as never }
  const watch = new NetworkWatch({
    store,
    clock: log.clock,
    networkOf: client => client,
    hashKey: async () => "the key",
  })
  const recordAll = () => {
    for (let at = 0; at < 5100; at++) watch.record("key_1", `network ${at}`)
  }
  const flushed = async (): Promise<number> => {
    for (let total = 0; ; ) {
      const count = await watch.flush()
      if (count === 0) return total
      total += count
    }
  }
  recordAll()
  expect(await flushed()).toBe(5000)
  recordAll()
  expect(await flushed()).toBe(100)
})
