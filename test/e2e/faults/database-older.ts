import { join } from "node:path"
import { POSTGRES_PROGRAMS, startPostgres } from "../../support/postgres.ts"
import type { TestServer } from "../../support/test-server.ts"
import { OPERATED } from "./database-callers.ts"
import { Site } from "./database-site.ts"
import { type Doing, type Found, type LeftOut, residentOf, tookMs } from "./fault.ts"

const NODES = 2
const UNITS = 1000
const CORRECTED = "corrected-of-faults.com"

/** How long it may take until a node goes by what it finds: it looks every two seconds, and holds keys for some more. */
const NOTICED_MS_MAX = 10_000
const LOOK_AGAIN_MS = 20

/**
 * Puts an older copy of the database in the place of one that nodes work on, and has others write there before any node looks, so
 * that its change log is as long as that which is gone. What came after the copy is lost, and nothing else: each node goes by it.
 */
export async function olderDatabase({ times, program }: Doing): Promise<Found | LeftOut> {
  if (POSTGRES_PROGRAMS === null) return { leftOut: "PostgreSQL is not installed" }
  const found: { readonly backMs: number; readonly breaches: readonly string[] }[] = []
  let memory = { before: 0, after: 0 }
  for (let time = 0; time < times; time++) {
    await using site = await Site.start(program, NODES, UNITS)
    const before = residentIn(site)
    found.push(await restored(site))
    memory = { before, after: residentIn(site) }
  }
  const backMs = Math.max(...found.map(each => each.backMs))
  return {
    did: `${NODES} nodes found a copy of their database that had been made before a revocation, a new key and a correction: each went by the copy after ${Math.round(backMs)} ms at most`,
    ...{ times, acknowledged: 0, breaches: found.flatMap(({ breaches }) => breaches), backMs, memory },
  }
}

async function restored(site: Site): Promise<{ readonly backMs: number; readonly breaches: readonly string[] }> {
  const [operator] = site.nodes
  if (operator === undefined) throw new Error("there are nodes")
  await operator.run("account", "create", OPERATED, "--tier", "4")
  const old = await keyOf(operator)
  const copy = join(site.cluster.directory, "copy.sql")
  site.cluster.program("pg_dump", "--file", copy, site.cluster.url("postgres"))
  await operator.run("key", "revoke", old.id)
  const young = await keyOf(operator)
  await corrected(operator)
  const held = await Promise.all(site.nodes.map(node => untilSeen(node, old.key, young.key, [401, 200, "relay"])))
  const other = site.add(await startPostgres())
  other.program("psql", "--quiet", "--dbname", other.url("postgres"), "--file", copy)
  await site.cluster.stop("kill")
  // As many changes as were lost: by its number alone the log would pass for that which is gone.
  const store = await site.open(other)
  await store.run("UPDATE change_head SET id = id + 2")
  await store.run(
    "INSERT INTO changes (id, kind, subject, at_ms) SELECT id - 1, 'own_lists_changed', 'x', 1 FROM change_head",
  )
  await store.run(
    "INSERT INTO changes (id, kind, subject, at_ms) SELECT id, 'own_lists_changed', 'y', 1 FROM change_head",
  )
  await store.close()
  site.way.connectTo(other.port)
  const seen = site.nodes.map(node => untilSeen(node, old.key, young.key, [200, 401, "unknown"]))
  let gone: readonly (string | null)[] = []
  const backMs = await tookMs(async () => {
    gone = await Promise.all(seen)
  })
  return { backMs, breaches: [...held, ...gone].filter(description => description !== null) }
}

async function keyOf(node: TestServer): Promise<{ readonly id: string; readonly key: string }> {
  const made = await node.run("key", "create", "--account", OPERATED)
  return made as { id: string; key: string } // as documented
}

/** Has a report of a domain accepted. */
async function corrected(node: TestServer): Promise<void> {
  const headers = { "Content-Type": "application/json" }
  const body = JSON.stringify({ domain: CORRECTED, expected_category: "relay" })
  const taken = await node.ask("POST /v1/feedback", { key: node.firstKey, headers, body })
  await node.run("feedback", "accept", String(JSON.parse(taken.body).id))
}

type Seen = readonly [old: number, young: number, category: string]

/** Waits until a node answers so by the two keys and of the domain; gives what it answered else, in a sentence. */
async function untilSeen(node: TestServer, old: string, young: string, wanted: Seen): Promise<string | null> {
  const until = performance.now() + NOTICED_MS_MAX
  for (;;) {
    const seen = [await node.check(old), await node.check(young), await categoryAt(node)]
    if (seen.join() === wanted.join()) return null
    if (performance.now() > until) return `a node answered ${seen.join(", ")} and not ${wanted.join(", ")}`
    await Bun.sleep(LOOK_AGAIN_MS)
  }
}

async function categoryAt(node: TestServer): Promise<string> {
  const { status, body } = await node.ask(`GET /v1/check?domain=${CORRECTED}`, { key: node.firstKey })
  return status === 200 ? JSON.parse(body).category : String(status)
}

const residentIn = ({ nodes }: Site): number => nodes.reduce((sum, node) => sum + residentOf(node), 0)
