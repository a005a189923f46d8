import { test as bunTest, expect, setDefaultTimeout } from "bun:test"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { createKey, revokeLeakedKey } from "../../../src/customers/keys/keys.ts"
import { readHeartbeats } from "../../../src/customers/nodes/live-nodes.ts"
import { SERVER_ACTOR } from "../../../src/customers/store/change-log/actor.ts"
import { bounded } from "../../support/bounded.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { PGBOUNCER } from "../../support/pgbouncer.ts"
import { POSTGRES_PROGRAMS } from "../../support/postgres.ts"
import type { TestServer } from "../../support/test-server.ts"
import { keyringIn, Site } from "../faults/database-site.ts"

setDefaultTimeout(180_000)

const isMissing = POSTGRES_PROGRAMS === null || PGBOUNCER === null
const test = (name: string, work: () => Promise<void>) =>
  bunTest.skipIf(isMissing)(`${name}${isMissing ? " [postgresql or pgbouncer: not installed]" : ""}`, work)

/** The units that the account with a quota has a day. */
const UNITS = 1000
const NODES = 2
/** Long enough for charges to be under way in every moment, and for a lease to be used up. */
const CLIENTS = 4
const ASK_AGAIN_MS = 10
/** Often enough that units stay reserved, and rarely enough that some are left after seconds. */
const SLOWLY_MS = 400

async function started() {
  const site = await Site.start(PROGRAM, NODES, UNITS, true)
  onTestEnd(() => site[Symbol.asyncDispose]())
  const store = await site.open()
  const keyring = await keyringIn(store, 10)
  await store.close()
  return { site, keyring }
}

/** Checks with one key at all nodes until they are ended, and counts. What is neither served nor refused for the quota must be a clear refusal. */
function charges(nodes: readonly TestServer[], key: string, pauseMs = ASK_AGAIN_MS) {
  const seen = { admitted: 0, exceeded: 0, refused: 0, unclear: [] as string[] }
  let isOver = false
  const ask = async (node: TestServer): Promise<void> => {
    while (!isOver) {
      const { status, headers, body } = await node.ask("GET /v1/check?domain=gmail.com", { key })
      if (status === 200) seen.admitted++
      else if (status === 429) seen.exceeded++
      else if (status === 503 && headers["retry-after"] !== undefined && JSON.parse(body).code === "overloaded")
        seen.refused++
      else seen.unclear.push(`${status} ${body}`)
      await Bun.sleep(pauseMs)
    }
  }
  const clients = nodes.flatMap(node => Array.from({ length: CLIENTS }, () => ask(node)))
  const end = async () => {
    isOver = true
    await Promise.all(clients)
    return seen
  }
  return { seen, end }
}

/** Asks again until what a node answers to a key is this status. */
function untilStatus(node: TestServer, key: string, wanted: number): Promise<void> {
  let last = 0
  const asking = async (): Promise<void> => {
    for (;;) {
      last = await node.check(key)
      if (last === wanted) return
      await Bun.sleep(ASK_AGAIN_MS)
    }
  }
  return bounded(asking(), () => `the last answer was ${last}`)
}

/** Resolves when it is so. */
function untilSo(isSo: () => boolean, description: () => string): Promise<void> {
  const waiting = async (): Promise<void> => {
    while (!isSo()) await Bun.sleep(ASK_AGAIN_MS)
  }
  return bounded(waiting(), description)
}

const random = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count))

test("behind a pooler that passes on no notification every node refuses a revoked key", async () => {
  const { site, keyring } = await started()
  const [key = ""] = keyring.unseen
  for (const node of site.nodes) expect(await node.check(key)).toBe(200)
  const store = await site.open()
  const log = { store, clock: Date.now, notify: () => undefined, actor: SERVER_ACTOR }
  const sinceMs = performance.now()
  expect(await revokeLeakedKey(log, key)).toMatchObject({ kind: "revoked" })
  await Promise.all(site.nodes.map(node => untilStatus(node, key, 401)))
  console.log(
    `behind a pooler a revocation was seen by ${NODES} nodes after ${Math.round(performance.now() - sinceMs)} ms`,
  )
  await store.close()
})

test("a standby that is promoted amid charges behind a pooler: the quota is exact, and refusals are clear meanwhile", async () => {
  const { site, keyring } = await started()
  const standby = site.add(await site.cluster.standby())
  const { seen, end } = charges(site.nodes, keyring.metered)
  await untilSo(
    () => seen.admitted > UNITS / 10,
    () => JSON.stringify(seen),
  )
  await site.cluster.stop("kill")
  const open = site.way.refuse()
  await untilSo(
    () => seen.refused > CLIENTS,
    () => JSON.stringify(seen),
  )
  await standby.promote()
  site.way.connectTo(standby.port)
  await open()
  // Every node serves again, to the end of the quota.
  const before = seen.exceeded
  await untilSo(
    () => seen.exceeded > before + NODES * CLIENTS,
    () => JSON.stringify(seen),
  )
  await Promise.all(site.nodes.map(node => untilStatus(node, keyring.metered, 429)))
  const { admitted, unclear } = await end()
  expect(unclear).toEqual([])
  expect(admitted).toBeLessThanOrEqual(UNITS)
  // What a node had reserved when it lost the database is at most a hundredth each.
  expect(admitted).toBeGreaterThanOrEqual(UNITS - (NODES * UNITS) / 100 - NODES * CLIENTS)
})

for (const hasChanged of [true, false])
  test(`nodes go on over a database that is restored to an earlier state, ${hasChanged ? "which lacks changes" : "which lacks charges alone"}: nothing of what it lacks is used`, async () => {
    const { site, keyring } = await started()
    const first = charges(site.nodes, keyring.metered)
    await untilSo(
      () => first.seen.admitted >= UNITS / 4,
      () => JSON.stringify(first.seen),
    )
    const { admitted: early } = await first.end()
    // Unused units are given back within seconds: the backup has those that were used.
    await untilLeased(site, early)
    const backup = site.add(await site.cluster.copy())
    // Until the end nodes have units reserved that the backup does not know.
    const later = charges(site.nodes, keyring.metered, SLOWLY_MS)
    const lost = hasChanged ? await newKey(site) : null
    if (lost !== null) for (const node of site.nodes) expect(await node.check(lost)).toBe(200)
    // A heartbeat is among what the backup lacks: the next one comes within seconds.
    await untilBeaten(site)
    await later.end()
    await site.cluster.stop("fast")
    site.way.connectTo(backup.port)
    const isTold = ({ log }: TestServer): boolean => log.includes("the database is in an earlier state")
    await untilSo(
      () => site.nodes.every(isTold),
      () => site.nodes.map(({ log }) => log.slice(-500)).join("\n"),
    )
    if (lost !== null) await Promise.all(site.nodes.map(node => untilStatus(node, lost, 401)))
    const last = charges(site.nodes, keyring.metered)
    await untilSo(
      () => last.seen.exceeded > NODES * CLIENTS,
      () => JSON.stringify(last.seen),
    )
    await Promise.all(site.nodes.map(node => untilStatus(node, keyring.metered, 429)))
    const { admitted, unclear } = await last.end()
    expect(unclear).toEqual([])
    expect(admitted).toBeLessThanOrEqual(UNITS - early)
    expect(admitted).toBeGreaterThanOrEqual(UNITS - early - (NODES * UNITS) / 100 - NODES * CLIENTS)
  })

/** Resolves when so many units are leased in the database. */
async function untilLeased(site: Site, wanted: number): Promise<void> {
  const store = await site.open()
  let leased = -1
  const waiting = async (): Promise<void> => {
    while (leased !== wanted) {
      leased = (await store.one<{ leased: number }>("SELECT MAX(leased) AS leased FROM units"))?.leased ?? 0
      await Bun.sleep(ASK_AGAIN_MS)
    }
  }
  await bounded(waiting(), () => `${leased} units are leased, not ${wanted}`)
  await store.close()
}

/** Resolves when every node has written another heartbeat. */
async function untilBeaten(site: Site): Promise<void> {
  const store = await site.open()
  const beats = async () => new Map((await readHeartbeats(store)).map(({ id, beat }) => [id, beat]))
  const before = await beats()
  const waiting = async (): Promise<void> => {
    for (;;) {
      const now = await beats()
      if (before.entries().every(([id, beat]) => (now.get(id) ?? 0) > beat)) return
      await Bun.sleep(ASK_AGAIN_MS)
    }
  }
  await bounded(waiting(), () => "a node writes no heartbeat")
  await store.close()
}

async function newKey(site: Site): Promise<string> {
  const store = await site.open()
  const log = { store, clock: Date.now, notify: () => undefined, actor: SERVER_ACTOR }
  const account = await store.one<{ id: string }>("SELECT id FROM accounts WHERE tier = 4 ORDER BY id LIMIT 1")
  const made = await createKey(log, random, { accountId: account?.id ?? "", kind: "secret", name: null, origins: [] })
  await store.close()
  if (made.kind !== "created") throw new Error(made.kind)
  return made.text
}
