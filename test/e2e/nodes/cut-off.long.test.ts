import { expect, setDefaultTimeout, test } from "bun:test"
import { askLoopback } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { POSTGRES_PROGRAMS } from "../../support/postgres.ts"
import { startTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts"
import { until } from "../../support/until.ts"
import { MISSING_BALANCER, nodeStates, startBalancer } from "./balancer.ts"
import { type ApiRequest, createCluster, type Load, reporterKeys, startLoad } from "./cluster.ts"

setDefaultTimeout(240_000)

/** What is missing for these tests. */
const MISSING_FOR_CUT_OFF: readonly string[] = [
  ...(MISSING_BALANCER === null ? [] : [MISSING_BALANCER]),
  ...(POSTGRES_PROGRAMS === null ? ["PostgreSQL is not installed"] : []),
]

/** How the way to the database can be cut. Each gives what mends it. */
const CUTS: Readonly<Record<string, (way: TcpProxy) => () => unknown>> = {
  refused: way => way.refuse(),
  swallowed: way => way.dropData(),
}

const CHECK: ApiRequest = ["POST /v1/check", { email: "jane@acme-widgets-of-nodes.com" }]
const READ: ApiRequest = ["GET /v1/usage"]
const CALLERS = [CHECK, CHECK, CHECK, CHECK, CHECK, CHECK, READ, READ]

/** What came of a cut: the answers of three parts of time, how long until the node was unready, and until it was ready again. */
type CutOff = {
  /** From the cut until the balancer had taken the node out, and from then on until `lastsMs` were over. */
  readonly before: Answers
  readonly after: Answers
  readonly healths: readonly number[]
  readonly unreadyMs: number
  readonly readyAgainMs: number
}
type Answers = Readonly<Record<number, number>>

/** The statuses other than 200 among some answers, and how many there are of all. */
function refusals(...parts: readonly Answers[]): { readonly refused: number; readonly all: number } {
  const counts = parts.flatMap(part => Object.entries(part))
  const sum = (some: readonly (readonly [string, number])[]): number =>
    some.reduce((total, [, count]) => total + count, 0)
  return { refused: sum(counts.filter(([status]) => status !== "200")), all: sum(counts) }
}

/** Cuts one of three nodes behind the balancer off from the database for so long, and mends it. */
async function cutOff(cut: (way: TcpProxy) => () => unknown, lastsMs: number): Promise<CutOff> {
  const { nodes, newKey, databaseUrl } = await createCluster(3, { MAILKIND_TRUSTED_PROXIES: "127.0.0.1" })
  const way = await startTcpProxy(Number(databaseUrl.port))
  onTestEnd(way.stop)
  const detour = new URL(databaseUrl)
  detour.port = String(way.port)
  const ports = nodes.map(({ port }) => port)
  for (const [at, { port, serve }] of nodes.entries()) {
    const own = { MAILKIND_NODE_URL: `http://127.0.0.1:${port}` }
    await serve([], undefined, at === 0 ? { ...own, MAILKIND_DATABASE_URL: detour.href } : own)
  }
  const balancer = await startBalancer(ports)
  const keys = await reporterKeys({ newKey })
  const startCallers = (): Load => startLoad([balancer.port], keys, CALLERS)
  const [cutPort = 0, otherPort = 0] = ports
  const first = startCallers()
  await first.goesOn(30)
  const mend = cut(way)
  const from = performance.now()
  await untilReady(cutPort, 503)
  const unreadyMs = performance.now() - from
  const healths = [await healthOf(cutPort), await healthOf(otherPort, "?ready=1")]
  await until(
    async () => [...(await nodeStates(balancer)).values()].join() === "DOWN,UP,UP",
    () => "the balancer does not take the node out",
  )
  const before = await first.end()
  const second = startCallers()
  while (performance.now() - from < lastsMs) await second.goesOn(1)
  await second.goesOn(10)
  const after = await second.end()
  await mend()
  const mendedAt = performance.now()
  await untilReady(cutPort, 200)
  return { before, after, healths, unreadyMs, readyAgainMs: performance.now() - mendedAt }
}

const healthOf = async (port: number, query = ""): Promise<number> =>
  (await askLoopback(`http://127.0.0.1:${port}/v1/health${query}`)).status

async function untilReady(port: number, status: number): Promise<void> {
  await until(
    async () => (await healthOf(port, "?ready=1")) === status,
    () => `it does not become ${status}`,
  )
}

const NAMED = MISSING_FOR_CUT_OFF.length === 0 ? "" : ` (skipped: ${MISSING_FOR_CUT_OFF.join(", ")})`
const LASTS_MS = 60_000

for (const [how, cut] of Object.entries(CUTS))
  test.skipIf(MISSING_FOR_CUT_OFF.length > 0)(
    `of the requests of a minute in which one of three nodes is cut off (${how}), one in a hundred is refused at most${NAMED}`,
    async () => {
      const { before, after, healths, unreadyMs, readyAgainMs } = await cutOff(cut, LASTS_MS)
      // Its own health stays well, and so does the readiness of the others; it gets no requests while it is not ready.
      expect(healths).toEqual([200, 200])
      expect(refusals(after).refused).toBe(0)
      const { refused, all } = refusals(before, after)
      console.log(
        `${how}: ${refused} of ${all} requests refused; unready after ${Math.round(unreadyMs)} ms, ready again after ${Math.round(readyAgainMs)} ms`,
      )
      expect(refused / all).toBeLessThanOrEqual(0.01)
    },
  )
