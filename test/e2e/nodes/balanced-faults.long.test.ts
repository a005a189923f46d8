import { test as bunTest, expect, setDefaultTimeout } from "bun:test"
import { Agent, request } from "node:http"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { bounded } from "../../support/bounded.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { PGBOUNCER } from "../../support/pgbouncer.ts"
import { POSTGRES_PROGRAMS } from "../../support/postgres.ts"
import type { TestServer } from "../../support/test-server.ts"
import { until } from "../../support/until.ts"
import { BalancedSite } from "./balanced-site.ts"
import { MISSING_BALANCER, nodeStates } from "./balancer.ts"

setDefaultTimeout(280_000)

const isMissing = POSTGRES_PROGRAMS === null || PGBOUNCER === null || MISSING_BALANCER !== null

/** The units that an account with a quota has a day. */
const UNITS = 4000
const CLIENTS = 9
const PAUSE_MS = 60
/** Less than a node is frozen for. */
const FROZEN_MS = 30_000
/** How often a starved node is stopped, and for how long: it has a twentieth of its time. */
const STARVED = { stoppedMs: 950, runsMs: 50, times: 12 } as const

/** What came of a load: answers by what they are, such as `503 overloaded`, and `0` for none. */
type Counts = Record<string, number>

/** One request over a connection of an agent: what its answer is, and when it came. */
function ask(
  agent: Agent | false,
  port: number,
  key: string,
): Promise<{ readonly name: string; readonly atMs: number }> {
  const { promise, resolve } = Promise.withResolvers<{ readonly name: string; readonly atMs: number }>()
  const done = (name: string): void => resolve({ name, atMs: performance.now() })
  const headers = { authorization: `Bearer ${key}` }
  const options = { agent, port, host: "127.0.0.1", path: "/v1/check?domain=gmail.com", headers }
  const sent = request(options, answer => {
    const chunks: Buffer[] = []
    answer.on("data", chunk => chunks.push(chunk))
    answer.on("error", () => done("0"))
    answer.on("end", () => done(nameOf(answer.statusCode ?? 0, Buffer.concat(chunks).toString())))
  })
  sent.on("error", () => done("0"))
  sent.end()
  return promise
}

/** HAProxy's own answers are no JSON. */
function nameOf(status: number, body: string): string {
  if (status === 200) return "200"
  return `${status} ${/"code":"(\w+)"/.exec(body)?.[1] ?? "of the balancer"}`
}

/** Checks through the balancer with a key until it is ended. `pauseMs` may be changed meanwhile. */
function startLoad(port: number, key: string) {
  const agent = new Agent({ keepAlive: true })
  const counts: Counts = {}
  const state = { isOver: false, pauseMs: PAUSE_MS }
  const client = async (): Promise<void> => {
    while (!state.isOver) {
      const { name } = await ask(agent, port, key)
      counts[name] = (counts[name] ?? 0) + 1
      if (state.pauseMs > 0) await Bun.sleep(state.pauseMs)
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))
  return {
    counts,
    state,
    end: async () => {
      state.isOver = true
      await bounded(clients, () => JSON.stringify(counts))
      agent.destroy()
    },
  }
}

/**
 * Revokes a key that nodes are asked with all the time, and tells for each when it got the last request that it answered with 200 after that: from when that was
 * sent until it was answered, in milliseconds; below zero when the node never did. Resolves when all refuse the key.
 */
async function noticedMs(site: BalancedSite, nodes: readonly TestServer[]): Promise<readonly string[]> {
  const { text } = await site.newKey(false)
  const served = nodes.map(() => [0, 0] as readonly [sentMs: number, answeredMs: number])
  const isServed = nodes.map(() => false)
  const watch = nodes.map(async (node, at) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let name = ""; name !== "401 key_revoked"; ) {
      const sentMs = performance.now()
      const answer = await ask(agent, node.port, text)
      name = answer.name
      if (name !== "200") continue
      served[at] = [sentMs, answer.atMs]
      isServed[at] = true
    }
    agent.destroy()
  })
  await until(
    () => isServed.every(Boolean),
    () => "the key does not work",
  )
  const revokedAtMs = await site.revoke(text)
  await bounded(Promise.all(watch), () => "a node still takes the key")
  return served.map(([sentMs, answeredMs]) => [sentMs, answeredMs].map(ms => Math.round(ms - revokedAtMs)).join("…"))
}

/** What is done to a site amid load. It resolves when all is as before. */
type Fault = {
  readonly does: (site: BalancedSite) => Promise<unknown>
  /** How many nodes may have lost the units that they had reserved, a hundredth each. */
  readonly losses: number
  /** Answers other than 200 and 429 that are promised meanwhile. */
  readonly promised: readonly string[]
}

const first = ({ nodes }: BalancedSite): TestServer => {
  const [node] = nodes
  if (node === undefined) throw new Error("there are nodes")
  return node
}

const downUntil = (site: BalancedSite, state: "DOWN" | "UP"): Promise<void> =>
  until(
    async () => (await nodeStates(site.balancer)).get("a") === state,
    () => `the first node does not become ${state}`,
  )

/** Has a key be revoked while the first node is frozen, which has requests with that key to answer when it wakes. */
async function frozen(site: BalancedSite): Promise<void> {
  const node = first(site)
  const { text } = await site.newKey(false)
  for (const one of site.nodes) expect(await one.check(text)).toBe(200)
  process.kill(node.pid, "SIGSTOP")
  const fromMs = performance.now()
  await downUntil(site, "DOWN")
  const revokedAtMs = await site.revoke(text)
  const waiting = Array.from({ length: 20 }, () => ask(false, node.port, text))
  console.log(
    `while one node is frozen, the others last took a revoked key after ${(await noticedMs(site, site.nodes.slice(1))).join(", ")} ms`,
  )
  await Bun.sleep(FROZEN_MS - (performance.now() - fromMs))
  process.kill(node.pid, "SIGCONT")
  const wokenAtMs = performance.now()
  const after = await Promise.all(waiting)
  console.log(
    `a node that woke ${Math.round(wokenAtMs - revokedAtMs)} ms after a revocation answered ${JSON.stringify(tally(after.map(({ name }) => name)))} to waiting requests within ${Math.round(Math.max(...after.map(({ atMs }) => atMs)) - wokenAtMs)} ms`,
  )
  expect(tally(after.map(({ name }) => name))).toEqual({ "401 key_revoked": after.length })
  await downUntil(site, "UP")
}

function tally(names: readonly string[]): Counts {
  const counts: Counts = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** Gives the first node a twentieth of its time, and tells when it notices a revocation meanwhile. */
async function starved(site: BalancedSite): Promise<void> {
  const { pid } = first(site)
  const state = { isOver: false }
  const starving = async (): Promise<void> => {
    while (!state.isOver) {
      process.kill(pid, "SIGSTOP")
      await Bun.sleep(STARVED.stoppedMs)
      process.kill(pid, "SIGCONT")
      await Bun.sleep(STARVED.runsMs)
    }
  }
  const all = starving()
  const noticed: string[] = []
  try {
    for (let time = 0; time < STARVED.times; time++) noticed.push(...(await noticedMs(site, [first(site)])))
  } finally {
    state.isOver = true
    await all
  }
  console.log(`a starved node last took revoked keys after ${noticed.join(", ")} ms`)
  await downUntil(site, "UP")
}

const FAULTS: Readonly<Record<string, Fault>> = {
  "a node is killed": {
    does: async site => {
      await first(site).kill()
      await downUntil(site, "DOWN")
      await first(site).start()
      await downUntil(site, "UP")
    },
    losses: 1,
    promised: [],
  },
  "a node is frozen for half a minute": { does: frozen, losses: 0, promised: [] },
  "a node is starved of processor time": { does: starved, losses: 0, promised: [] },
  "the connections of a node to the pooler are cut": {
    does: async site => {
      for (let time = 0; time < 5; time++) {
        site.firstWay.connectTo(site.poolerPort)
        await Bun.sleep(300)
      }
    },
    losses: 1,
    promised: ["503 overloaded"],
  },
  "the pooler is killed and started again": {
    does: site => site.restartPooler(),
    losses: 3,
    promised: ["503 overloaded"],
  },
  "a node is taken out by the balancer and put in again": {
    does: async site => {
      await site.balancer.say("disable health nodes/a")
      await site.balancer.say("set server nodes/a state maint")
      await Bun.sleep(1000)
      await site.balancer.say("set server nodes/a state ready")
      await site.balancer.say("enable health nodes/a")
      await downUntil(site, "UP")
    },
    losses: 0,
    promised: [],
  },
  "a standby is promoted": {
    does: async site => {
      const standby = await site.database.standby()
      onTestEnd(standby.remove)
      await Bun.sleep(1000)
      await site.database.stop("kill")
      await Bun.sleep(3000)
      await standby.promote()
      site.databaseWay.connectTo(standby.port)
      await Bun.sleep(2000)
    },
    losses: 3,
    promised: ["503 overloaded"],
  },
}

for (const [name, fault] of Object.entries(FAULTS))
  bunTest.skipIf(isMissing)(
    `behind a balancer and a pooler, ${name}: the quota is exact, no error but the promised ones comes, and every node refuses a revoked key${isMissing ? " [postgresql, pgbouncer or haproxy: not installed]" : ""}`,
    async () => {
      const site = await BalancedSite.start(PROGRAM, UNITS)
      const metered = await site.newKey(true)
      const load = startLoad(site.balancer.port, metered.text)
      await until(
        () => (load.counts["200"] ?? 0) > UNITS / 50,
        () => JSON.stringify(load.counts),
      )
      await fault.does(site)
      const noticed = [await noticedMs(site, site.nodes), await noticedMs(site, site.nodes)].flat()
      // Now to the end of the quota, at every node.
      load.state.pauseMs = 0
      let askedDirectly = 0
      const isExceeded = async (node: TestServer): Promise<boolean> => {
        const status = await node.check(metered.text)
        if (status === 200) askedDirectly++
        return status === 429
      }
      for (const node of site.nodes)
        await until(
          () => isExceeded(node),
          () => JSON.stringify(load.counts),
        )
      await load.end()
      const { 200: balanced = 0, "429 quota_exceeded": exceeded = 0, ...others } = load.counts
      const admitted = balanced + askedDirectly
      const retried = await retries(site)
      const charged = await site.charged(metered.accountId)
      console.log(
        `${name}: of ${UNITS} units ${charged} charged, ${admitted} answered with 200, ${exceeded} refused for the quota, others ${JSON.stringify(others)}, ${retried} repeated by the balancer; later revoked keys were last taken after ${noticed.join(", ")} ms`,
      )
      expect(Object.keys(others).filter(one => !fault.promised.includes(one))).toEqual([])
      expect(charged).toBe(UNITS)
      expect(admitted).toBeLessThanOrEqual(UNITS)
      // What the balancer repeats may have been charged twice.
      expect(admitted).toBeGreaterThanOrEqual(UNITS - fault.losses * (UNITS / 100) - retried)
    },
  )

/** How often the balancer has sent a request again. */
async function retries({ balancer }: BalancedSite): Promise<number> {
  const [head = "", ...rows] = (await balancer.say("show stat")).split("\n")
  const column = head.split(",").indexOf("wretr")
  const backend = rows.map(row => row.split(",")).find(([name, server]) => name === "nodes" && server === "BACKEND")
  return Number(backend?.[column] ?? Number.NaN)
}

bunTest.skipIf(isMissing)(
  `behind a pooler two administrators change one key at once: each has what he names, one of two who saw the same is refused, and every node goes by it${isMissing ? " [postgresql, pgbouncer or haproxy: not installed]" : ""}`,
  async () => {
    const site = await BalancedSite.start(PROGRAM, UNITS)
    const [one, other] = [first(site), site.nodes[1] ?? first(site)]
    const { id: key, text } = await site.newKey(true)
    await Promise.all(
      site.nodes.map(node =>
        until(
          async () => (await node.check(text)) === 200,
          () => "it does not work",
        ),
      ),
    )
    const update = (node: TestServer, ...words: readonly string[]) =>
      node.command("key", "update", key, ...words, "--json")
    const both = await Promise.all([update(one, "--units-per-day", "7"), update(other, "--requests-per-second", "2")])
    expect(both.map(({ code }) => code)).toEqual([0, 0])
    const shown = (await one.run("key", "show", key)) as { readonly version: string } // as documented
    expect(shown).toMatchObject({ units_per_day: 7, requests_per_second: 2 })
    const seen = ["--seen", shown.version]
    const rivals = await Promise.all([
      update(one, "--network", "10.0.0.0/8", ...seen),
      update(other, "--network", "192.168.0.0/16", ...seen),
    ])
    expect(rivals.map(({ code }) => code).toSorted()).toEqual([0, 4])
    // Neither network is ours.
    for (const node of site.nodes)
      await until(
        async () => (await node.check(text)) === 403,
        () => "it still works",
      )
    const revoked = await Promise.all([one, other].map(node => node.command("key", "revoke", key)))
    expect(revoked.map(({ code }) => code)).toEqual([0, 0])
    for (const node of site.nodes)
      await until(
        async () => (await node.check(text)) === 401,
        () => "it still works",
      )
  },
)
