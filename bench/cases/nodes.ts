/**
 * What does a check cost a node of three that share a PostgreSQL database through PgBouncer and stand behind HAProxy, by what it costs
 * one node alone? Each node is asked for equally many checks a second: one node alone over SQLite, one over PostgreSQL, and the three through
 * the balancer, in turn.
 */

import { LIMITS } from "../../src/contract/limits.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { MISSING_BALANCER, startBalancer } from "../../test/e2e/nodes/balancer.ts"
import { freePort } from "../../test/support/free-port.ts"
import { openPooler, PGBOUNCER } from "../../test/support/pgbouncer.ts"
import { POSTGRES_PROGRAMS, startPostgres } from "../../test/support/postgres.ts"
import { type CheckLoad, type CheckRound, checkRound, cpuUs, p99, type RoundsScale } from "../load/check-rounds.ts"
import { linesOfKind, ORDINARY, take } from "../mix/mix.ts"
import { costFigure, costRatioFigure } from "../report/processor-time.ts"
import { medianFigure, type Report } from "../report/report.ts"
import { interleaved } from "../report/rounds.ts"
import { HIGH_LIMITS, limitedKey } from "../servers/accounts.ts"
import { dnsServerCommand } from "../servers/dns-server-control.ts"
import { cpuMsOf } from "../servers/process-stats.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "../servers/product.ts"
import { CAN_PIN, type ServerProcess, startServer } from "../servers/server-process.ts"

/** How much the bench does: connections, requests a second and answers before the first round are of one node. */
export type NodesScale = Omit<RoundsScale, "warmupS"> & {
  readonly checksRate: number
  readonly batchesRate: number
  readonly warmAnswers: number
}

/** The scale of a figure that may be told. */
export const NODES_FULL: NodesScale = {
  connections: 16,
  rounds: 7,
  roundS: 3,
  checksRate: 1000,
  batchesRate: 20,
  warmAnswers: 10_000,
}

const NODES = 3
const DNS_DELAY_MS = 20
const ROUND_WARMUP_S = 0.5
/** A round counts if so much of the rate was answered in it: a node that is asked less often spends more of its time on its polls. */
const HELD_SHARE = 0.95
/** A batch warms a node as much as so many single checks. */
const BATCH_WARMS = 50
/** On a machine that is busy otherwise a node is warm enough after so many rounds. */
const WARM_ROUNDS_MAX = 20
const ADDRESSES = 200
const BATCHES = 20

/** What is asked. */
const KINDS = {
  listed: "POST of an address at a throw-away domain",
  cached: `POST of one of ${ADDRESSES} addresses whose domains were asked for before`,
  batch: `POST of ${LIMITS.batchItemsMax} such items`,
} as const satisfies Record<string, string>
type Kind = keyof typeof KINDS
const KIND_NAMES = Object.keys(KINDS) as readonly Kind[] // the keys are those of KINDS

const SUBJECTS = {
  alone: "one node over SQLite",
  postgres: "one node over PostgreSQL, asked directly",
  nodes: `${NODES} nodes over PostgreSQL through PgBouncer (transaction mode, which passes on no notification), behind HAProxy by the file of the guide`,
} as const satisfies Record<string, string>
type Subject = keyof typeof SUBJECTS
const SUBJECT_NAMES = Object.keys(SUBJECTS) as readonly Subject[] // the keys are those of SUBJECTS

/** What a round found, the processor time that an answer cost the balancer and the pooler, and whether the rate was held. */
type NodesRound = CheckRound & { readonly balancerUs: number; readonly poolerUs: number; readonly isHeld: boolean }
type KindRounds = Readonly<Record<Subject, readonly NodesRound[]>>

/** What is asked, with the key that it takes, and the processes beside it. */
type Site = {
  readonly server: ServerProcess
  readonly nodesCount: number
  readonly authorization: string
  readonly balancerPid: number | null
  readonly poolerPid: number | null
}

/** Runs the bench. Rejects when an answer is not 200, a node answers nothing, or a server that it needs is not installed. */
export async function nodesBench(scale: NodesScale): Promise<Report> {
  const isMissing = POSTGRES_PROGRAMS === null || PGBOUNCER === null || MISSING_BALANCER !== null
  if (isMissing) throw new Error("PostgreSQL, PgBouncer or HAProxy is not installed")
  await using stack = new AsyncDisposableStack()
  const dnsServer = dnsServerCommand(DNS_DELAY_MS)
  const dns = stack.use(await startServer({ command: dnsServer.command, core: "load" }))
  const sites = await startSites(stack, dns.url.host)
  const size = (kind: Kind, { nodesCount }: Site) => ({
    connections: scale.connections * nodesCount,
    rate: (kind === "batch" ? scale.batchesRate : scale.checksRate) * nodesCount,
  })
  const measure = (kind: Kind, subject: Subject) =>
    measured(sites[subject], kind, {
      ...size(kind, sites[subject]),
      ...{ durationS: scale.roundS, warmupS: ROUND_WARMUP_S, mayFallBehind: true },
    })
  const warmUp = async (kind: Kind, subject: Subject): Promise<void> => {
    let left = (scale.warmAnswers * sites[subject].nodesCount) / (kind === "batch" ? BATCH_WARMS : 1)
    for (let round = 0; round < WARM_ROUNDS_MAX && left > 0; round++) left -= answersOf(await measure(kind, subject))
  }
  const rounds: Partial<Record<Kind, KindRounds>> = {}
  for (const kind of KIND_NAMES) {
    for (const subject of SUBJECT_NAMES) await warmUp(kind, subject)
    rounds[kind] = await interleaved(SUBJECT_NAMES, scale.rounds, subject => measure(kind, subject))
  }
  return reportOf(scale, rounds as Required<typeof rounds>, dnsServer.description) // every kind was measured
}

/** Starts the servers that are compared, and what they need. */
async function startSites(stack: AsyncDisposableStack, dnsHost: string): Promise<Readonly<Record<Subject, Site>>> {
  const onEnd = (end: () => unknown): void => stack.defer(async () => void (await end()))
  const start = async (settings: Readonly<Record<string, string>> = {}) => {
    const { path } = stack.use(await emptyDirectory())
    const own = { ...HIGH_LIMITS, ...settings, MAILKIND_DNS_SERVERS: dnsHost }
    const environment = { ...productSettings(path), ...KEEPING_MEMORY, ...own }
    const newKey = async (): Promise<string> => `Bearer ${await limitedKey(path, settings)}`
    return {
      newKey,
      start: async () => stack.use(await startServer({ command: PRODUCT.source, environment, core: "server" })),
    }
  }
  const database = async () => {
    const cluster = await startPostgres()
    stack.defer(cluster.remove)
    return cluster
  }
  const alone = await start()
  const direct = await start({ MAILKIND_DATABASE_URL: (await database()).url("postgres") })
  const cluster = await database()
  const pooler = await openPooler(cluster.port, {}, onEnd)
  const url = new URL(cluster.url("postgres"))
  url.port = String(pooler.port)
  const nodes: ServerProcess[] = []
  const ports = Array.from({ length: NODES }, freePort)
  const places = await Promise.all(
    ports.map(port =>
      start({
        MAILKIND_DATABASE_URL: url.href,
        MAILKIND_PORT: String(port),
        MAILKIND_TRUSTED_PROXIES: "127.0.0.1",
        MAILKIND_NODE_URL: `http://127.0.0.1:${port}`,
      }),
    ),
  )
  const authorization = (await places[0]?.newKey()) ?? ""
  for (const place of places) nodes.push(await place.start())
  const balancer = await startBalancer(ports, onEnd)
  const one = async ({ newKey, start }: typeof alone): Promise<Site> => {
    const authorization = await newKey()
    return { server: await start(), nodesCount: 1, authorization, balancerPid: null, poolerPid: null }
  }
  return {
    alone: await one(alone),
    postgres: await one(direct),
    nodes: {
      server: together(nodes, balancer.port),
      nodesCount: NODES,
      ...{ authorization, balancerPid: balancer.pid, poolerPid: pooler.pid },
    },
  }
}

/** Nodes behind a port, as one server. */
function together(nodes: readonly ServerProcess[], port: number): ServerProcess {
  const [first] = nodes
  if (first === undefined) throw new Error("there are nodes")
  return {
    ...first,
    url: new URL(`http://127.0.0.1:${port}/`),
    cpuMs: () => nodes.reduce((sum, node) => sum + node.cpuMs(), 0),
  }
}

/** One round of a kind. */
async function measured(site: Site, kind: Kind, size: Parameters<typeof checkRound>[2]): Promise<NodesRound> {
  const cpuMs = () => [site.balancerPid, site.poolerPid].map(pid => (pid === null ? 0 : cpuMsOf(pid)))
  const [balancerBefore = 0, poolerBefore = 0] = cpuMs()
  const round = await checkRound(site.server, loadOf(kind, site.authorization), size)
  const [balancer = 0, pooler = 0] = cpuMs()
  const answers = answersOf(round)
  return {
    ...round,
    balancerUs: ((balancer - balancerBefore) * 1000) / answers,
    poolerUs: ((pooler - poolerBefore) * 1000) / answers,
    isHeld: answers >= HELD_SHARE * (size.rate ?? 0) * (size.durationS + size.warmupS),
  }
}

const answersOf = ({ answers, warmupAnswers }: CheckRound): number => answers + warmupAnswers

/** What is sent of a kind. */
function loadOf(kind: Kind, authorization: string): CheckLoad {
  if (kind === "batch") {
    const { batchItemsMax } = LIMITS
    const lines = take(linesOfKind(ORDINARY), BATCHES * batchItemsMax)
    const items = (at: number) => lines.slice(at * batchItemsMax, (at + 1) * batchItemsMax)
    const bodies = Array.from({ length: BATCHES }, (_, at) => JSON.stringify({ items: items(at) }))
    return { path: ROUTES.postBatch.path, authorization, bodies }
  }
  const lines = take(linesOfKind(kind === "listed" ? "disposable" : ORDINARY), ADDRESSES)
  return { path: ROUTES.postCheck.path, authorization, bodies: lines.map(email => JSON.stringify({ email })) }
}

/** The rounds in which each subject held the rate, or all where there are none. */
function heldRounds(found: KindRounds): { readonly rounds: KindRounds; readonly held: number } {
  const isHeld = found.nodes.map((_, round) => SUBJECT_NAMES.every(subject => found[subject][round]?.isHeld))
  const held = isHeld.filter(Boolean).length
  if (held === 0) return { rounds: found, held }
  const kept = (subject: Subject) => found[subject].filter((_, round) => isHeld[round])
  return { rounds: { alone: kept("alone"), postgres: kept("postgres"), nodes: kept("nodes") }, held }
}

function reportOf(
  { connections, rounds, roundS, checksRate, batchesRate }: NodesScale,
  found: Readonly<Record<Kind, KindRounds>>,
  dns: string,
): Report {
  const counted = KIND_NAMES.map(kind => ({ kind, ...heldRounds(found[kind]) }))
  return {
    bench: "nodes",
    description: [
      ...KIND_NAMES.map(kind => `${kind}: ${KINDS[kind]}`),
      ...SUBJECT_NAMES.map(subject => `${subject}: ${SUBJECTS[subject]}`),
      `each node is asked for ${checksRate} checks or ${batchesRate} batches a second over ${connections} connections; the DNS server answers after ${DNS_DELAY_MS} ms; ${dns}`,
      `costs are the nodes' processor time; ${rounds} rounds of ${roundS} s each, order turned each round`,
      `rounds in which all held the rate, which alone count where there are any: ${counted.map(({ kind, held }) => `${held} ${kind}`).join(", ")}`,
      CAN_PIN ? "nodes bound to core 0, load and DNS to core 1 (taskset)" : "not bound to cores",
    ],
    figures: counted.flatMap(({ kind, rounds: { alone, postgres, nodes } }) => {
      const subjects = Object.entries({ alone, postgres, nodes })
      return [
        costRatioFigure(`${kind}, nodes ÷ alone`, cpuUs(nodes), cpuUs(alone), "nodes_cost"),
        costRatioFigure(`${kind}, postgres ÷ alone`, cpuUs(postgres), cpuUs(alone)),
        ...subjects.map(([subject, rounds]) => costFigure(`${kind}, ${subject}`, "µs/answer", cpuUs(rounds))),
        ...Object.entries({ HAProxy: "balancerUs", PgBouncer: "poolerUs" } as const).map(([name, cost]) =>
          costFigure(
            `${kind}, ${name}`,
            "µs/answer",
            nodes.map(round => round[cost]),
          ),
        ),
        ...subjects.map(([subject, rounds]) => medianFigure(`${kind}, ${subject}: p99`, "ms", p99(rounds))),
      ]
    }),
  }
}
