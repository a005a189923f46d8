import { POSTGRES_PROGRAMS } from "../../support/postgres.ts"
import type { TestServer } from "../../support/test-server.ts"
import { DatabaseCallers, type Keyring, PACES_MS } from "./database-callers.ts"
import { keyringIn, Site } from "./database-site.ts"
import { type Doing, type Found, type LeftOut, residentOf, tookMs } from "./fault.ts"
import { Seconds } from "./seconds.ts"

/** Takes the database away, and gives what brings it back: that resolves when it takes connections again. */
type Outage = (site: Site) => Promise<() => Promise<void>>

const stopped =
  (how: "fast" | "immediate" | "kill"): Outage =>
  async ({ cluster, way }) => {
    await cluster.stop(how)
    const open = way.refuse()
    return async () => {
      await cluster.start()
      await open()
    }
  }

/** Every way in which the database goes away and comes back. */
const OUTAGES = {
  "stopped in good order": stopped("fast"),
  "stopped at once": stopped("immediate"),
  "killed (-9)": stopped("kill"),
  "suspended (SIGSTOP)": async ({ cluster }) => {
    const thaw = cluster.freeze()
    return async () => thaw()
  },
  "behind a network that swallowed all": async ({ way }) => {
    const mend = way.dropData()
    return async () => mend()
  },
  "killed, and failed over to its standby": async site => {
    const standby = site.add(await site.cluster.standby())
    await site.cluster.stop("kill")
    const open = site.way.refuse()
    return async () => {
      await standby.promote()
      site.way.connectTo(standby.port)
      await open()
    }
  },
} as const satisfies Record<string, Outage>

/** Seconds before the outage, of it, and after it. */
const LONG = { before: 3, away: 30, after: 5, units: 20_000 }
const SHORT = { before: 1, away: 3, after: 1, units: 2000 }
const NODES = 2
const LOOK_AGAIN_MS = 20

/** How long until what is refused in the last moment of an outage is served: far longer than promised. */
const BACK_WAIT_MS = 40_000

/** Takes the database away from nodes under steady load, in each way, and tells what callers saw second by second. */
export async function databaseAway({ times, program, isLong }: Doing): Promise<Found | LeftOut> {
  if (POSTGRES_PROGRAMS === null) return { leftOut: "PostgreSQL is not installed" }
  const span = isLong ? LONG : SHORT
  const outages = Object.entries<Outage>(OUTAGES).filter(([name]) => isLong || name === "stopped at once")
  const found: Found[] = []
  for (let time = 0; time < times; time++)
    for (const [name, outage] of outages) found.push(await awayOnce(name, outage, program, span))
  return {
    did: `PostgreSQL was away for ${span.away} s from ${NODES} nodes under load: ${found.map(({ did }) => did).join("; ")}`,
    times: found.length,
    acknowledged: found.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
    breaches: found.flatMap(({ did, breaches }) => breaches.map(description => `${did}: ${description}`)),
    backMs: Math.max(...found.map(({ backMs }) => backMs ?? 0)),
    memory: found.at(-1)?.memory ?? null,
    saw: found.map(({ did, saw }) => `\n${did}\n${saw}`).join("\n"),
  }
}

async function awayOnce(name: string, outage: Outage, program: readonly string[], span: typeof LONG): Promise<Found> {
  await using site = await Site.start(program, NODES, span.units)
  const store = await site.open()
  const perSecond = (1000 / PACES_MS.unseen) * NODES
  const keyring = await keyringIn(store, perSecond * (span.before + span.away + span.after) * 2 + 100)
  await store.close()
  const seconds = new Seconds(Object.keys(PACES_MS))
  const callers = new DatabaseCallers(site.nodes, keyring, seconds)
  callers.begin()
  await Bun.sleep(span.before * 1000)
  const before = residentIn(site)
  const logged = site.nodes.map(({ log }) => log.length)
  const goneAt = performance.now()
  seconds.mark("it goes")
  const end = await outage(site)
  await Bun.sleep(span.away * 1000)
  await end()
  seconds.mark("it is back")
  const backMs = await tookMs(() => Promise.all(site.nodes.map(node => untilBack(callers, node))))
  seconds.mark("all is served")
  await Bun.sleep(span.after * 1000)
  await callers.end()
  const breaches = [...callers.breaches, ...(await lostOf(site, callers))]
  const served = seconds.count("metered", "served")
  const admitted = served + (await drained(site.nodes, keyring, span.units - served))
  const refusedMs = Math.round((seconds.firstRefusedAt ?? Number.NaN) - goneAt)
  const slowestMs = seconds.slowestMs(Object.keys(PACES_MS).filter(kind => kind !== "command"))
  const lines = site.nodes.map(({ log }, at) => log.slice(logged[at]).trimEnd().split("\n"))
  if (admitted > span.units) breaches.push(`${admitted} units of a quota of ${span.units} were admitted`)
  return {
    did: `${name} (first refused after ${refusedMs} ms, slowest answer ${slowestMs} ms, all served ${Math.round(backMs)} ms after it took connections, at most ${Math.max(...lines.map(each => each.length))} log lines a node, ${admitted} of ${span.units} units admitted)`,
    ...{ times: 1, breaches, backMs, saw: `${seconds.text()}\nthe log begins: ${lines[0]?.[0] ?? ""}` },
    acknowledged: callers.reports.size + callers.keys.size + revokedOf(callers).length,
    memory: { before, after: residentIn(site) },
  }
}

async function untilBack(callers: DatabaseCallers, node: TestServer): Promise<void> {
  const until = performance.now() + BACK_WAIT_MS
  while (!(await callers.isServed(node))) {
    if (performance.now() > until) throw new Error(`a node does not serve again; its log: ${node.log.slice(-2000)}`)
    await Bun.sleep(LOOK_AGAIN_MS)
  }
}

/** What was acknowledged and is not there, and what is there twice, in sentences. */
async function lostOf(site: Site, { reports, keys }: DatabaseCallers): Promise<string[]> {
  const lost: string[] = []
  const rows = await rowsIn(site)
  for (const [domain, id] of reports) {
    const kept = rows.get(domain)?.join() ?? "nothing"
    if (kept !== id) lost.push(`the report ${id} is kept as ${kept}`)
  }
  for (const node of site.nodes)
    for (const [id, { text, state }] of keys) {
      const wanted = { active: 200, asked: null, revoked: 401 }[state]
      const status = wanted === null ? null : await node.check(text)
      if (status !== wanted) lost.push(`${id} was acknowledged as ${state} and is answered ${status}`)
    }
  return lost
}

/** The ids of the reports of each domain. */
async function rowsIn(site: Site): Promise<ReadonlyMap<string, readonly string[]>> {
  const store = await site.open()
  const rows = await store.all<{ id: string; domain: string }>("SELECT id, domain FROM feedback")
  await store.close()
  const ids = new Map<string, string[]>()
  for (const { id, domain } of rows) ids.set(domain, [...(ids.get(domain) ?? []), id])
  return ids
}

const revokedOf = ({ keys }: DatabaseCallers) =>
  keys
    .values()
    .filter(({ state }) => state === "revoked")
    .toArray()

/** Uses the rest of the quota at all nodes until each refuses, and gives how many units that were. */
async function drained(nodes: readonly TestServer[], { metered }: Keyring, left: number): Promise<number> {
  let admitted = 0
  const drain = async (node: TestServer): Promise<void> => {
    for (;;) {
      const status = await node.check(metered)
      if (status === 429) return
      if (status !== 200 || admitted > left)
        throw new Error(`${admitted} units of ${left} were left, and then ${status}`)
      admitted++
    }
  }
  await Promise.all(nodes.flatMap(node => Array.from({ length: CLIENTS }, () => drain(node))))
  return admitted
}

const CLIENTS = 15

const residentIn = ({ nodes }: Site): number => nodes.reduce((sum, node) => sum + residentOf(node), 0)
