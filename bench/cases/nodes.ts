import { availableParallelism } from "node:os"
import { POSTGRES_PROGRAMS } from "../../test/support/postgres.ts"
import type { Pace } from "../load/open-loop.ts"
import { type Figure, figure, medianFigure, type Report } from "../report/report.ts"
import { interleaved, median, ratios } from "../report/rounds.ts"
import { bound, CAN_PIN } from "../servers/server-process.ts"
import {
  type CountedLoad,
  LoadedNodes,
  NODES_SUBJECT_NAMES,
  NODES_SUBJECTS,
  type NodesRound,
  type NodesScale,
  type NodesSubject,
  type RestingStatements,
} from "./nodes-load.ts"
import {
  allOf,
  type BenchDatabase,
  STATEMENT_KINDS,
  type StatementCounts,
  startDatabase,
  startNodes,
} from "./nodes-servers.ts"

/**
 * What do more nodes add, and what does PostgreSQL cost? One load program loads one, two and three nodes over one database, and one
 * and three over SQLite, in turns. All nodes share a core, and so do load program and database, so what is compared is the processor
 * time of an answer, with as many processes taking turns on that core; and the database counts itself what it was asked.
 */
/** The scale of a figure that may be told. */
export const NODES_FULL: NodesScale = {
  accounts: 50,
  connectionsPerNode: 32,
  rounds: 5,
  roundS: 2,
  warmupS: 5,
  countedS: 30,
  rate: 1000,
}

const NODES = NODES_SUBJECTS["three nodes"].nodes
const ROUND_WARMUP_S = 0.5
/** On a busy machine requests wait rather than that they are not sent. */
const WAITING_MAX = 100_000
/** How many times as long as before its rounds a node is loaded before statements are counted: until leases have their size. */
const WARM_TIMES = 2
/** After so long all that nodes hold is written, and what they leased and do not use is given back. */
const SETTLED_MS = 5000

/** Runs the bench; where PostgreSQL's programs are not there, it is left out. Rejects when an answer is not 200, a request fails, or what the store has as used is not what was answered. */
export async function nodesBench(scale: NodesScale, programs = POSTGRES_PROGRAMS): Promise<Report> {
  if (programs === null) return { bench: "nodes", description: ["left out: PostgreSQL is not installed"], figures: [] }
  using _ = bound(process.pid, "load")
  await using database = await startDatabase()
  await using nodes = await startNodes(database.url, NODES, scale.accounts)
  await using peers = await startNodes(null, NODES, scale.accounts)
  const all = { postgres: new LoadedNodes(nodes, database), sqlite: new LoadedNodes(peers, database) }
  const measure = (name: NodesSubject, durationS: number, warmupS: number): Promise<NodesRound> => {
    const { nodes: count, engine } = NODES_SUBJECTS[name]
    return all[engine].load(count, { connections: scale.connectionsPerNode * count, durationS, warmupS, pace: null })
  }
  for (const each of Object.values(all)) await each.warm(scale.connectionsPerNode, scale.warmupS)
  const rounds = await interleaved(NODES_SUBJECT_NAMES, scale.rounds, name =>
    measure(name, scale.roundS, ROUND_WARMUP_S),
  )
  const connections = scale.connectionsPerNode * NODES
  const counted = (pace: Pace | null) =>
    countedLoad(database, scale, forS => all.postgres.load(NODES, { connections, durationS: forS, warmupS: 0, pace }))
  const fast = await counted(null)
  // What was leased for as fast as it goes would do for long.
  await Bun.sleep(SETTLED_MS)
  const modest = await counted({ perSecond: scale.rate, waitingMax: WAITING_MAX })
  await Bun.sleep(SETTLED_MS)
  const quiet = await countedQuiet(database, scale.countedS)
  await Promise.all([all.postgres.expectMetered(), all.sqlite.expectMetered()])
  return nodesReport(scale, { cores: availableParallelism(), rounds, fast, modest, quiet })
}

/** What the database is asked for a load that has gone on for a while: what was held before is written in it, and what is held after is not. */
async function countedLoad(
  database: BenchDatabase,
  { warmupS, countedS }: NodesScale,
  load: (forS: number) => Promise<NodesRound>,
): Promise<CountedLoad> {
  await load(warmupS * WARM_TIMES)
  await database.statements.take()
  const round = await load(countedS)
  return { round, statements: await database.statements.take() }
}

async function countedQuiet(database: BenchDatabase, forS: number): Promise<RestingStatements> {
  await database.statements.take()
  const startedAt = performance.now()
  await Bun.sleep(forS * 1000)
  return { statements: await database.statements.take(), tookS: (performance.now() - startedAt) / 1000 }
}

type Rounds = Readonly<Record<NodesSubject, readonly NodesRound[]>>

/** What the bench found. */
type NodesFound = {
  readonly cores: number
  readonly rounds: Rounds
  readonly fast: CountedLoad
  readonly modest: CountedLoad
  readonly quiet: RestingStatements
}

const NODES_COUNT = NODES_SUBJECTS["three nodes"].nodes

/** Tells it. */
function nodesReport(scale: NodesScale, { cores, rounds, fast, modest, quiet }: NodesFound): Report {
  const { accounts, connectionsPerNode, rounds: count, roundS, countedS, rate } = scale
  const cpu = (name: NodesSubject): readonly number[] => rounds[name].map(round => round.nodesCpuUs)
  const speed = (name: NodesSubject): readonly number[] => rounds[name].map(round => round.answersPerSecond)
  return {
    bench: "nodes",
    description: [
      `POST /v1/check, secret keys of ${accounts} limited accounts in turn, full result; DNS off; each unit that was answered is counted in the store, which is looked at`,
      `${connectionsPerNode} connections a node, ${count} rounds of ${roundS} s each, order turned each round`,
      CAN_PIN
        ? "all nodes bound to core 0, which they share, database and load program to core 1 (taskset)"
        : `nodes, database and load program share ${cores} cores`,
      "so more nodes do not answer more here, and take turns on their core, which costs what it costs over SQLite too: CPU is that of the nodes alone",
      "projected: as many as the nodes would answer with a core for each and others for database and load program",
      `statements as PostgreSQL counts them (pg_stat_statements), BEGIN and COMMIT too, while three nodes are loaded for ${countedS} s, as fast as it goes and with ${rate} requests a second, having been so for a while`,
      `at rest: three nodes that nobody asks for ${countedS} s`,
    ],
    figures: [
      medianFigure(
        "CPU of three nodes ÷ three over SQLite",
        "",
        ratios(cpu("three nodes"), cpu("three SQLite nodes")),
        "nodes_cpu",
      ),
      medianFigure("CPU of three nodes ÷ one", "", ratios(cpu("three nodes"), cpu("one node"))),
      medianFigure("CPU of two nodes ÷ one", "", ratios(cpu("two nodes"), cpu("one node"))),
      medianFigure("answers of three nodes ÷ one", "", ratios(speed("three nodes"), speed("one node"))),
      medianFigure("CPU of a node ÷ SQLite", "", ratios(cpu("one node"), cpu("SQLite node")), "nodes_engine"),
      figure("statements", "/1000 requests", perThousand(fast, allOf(fast.statements)), "nodes_statements"),
      figure(`statements at ${rate}/s`, "/1000 requests", perThousand(modest, allOf(modest.statements))),
      ...NODES_SUBJECT_NAMES.flatMap(name => subjectFigures(name, rounds[name])),
      ...countedFigures("as fast as it goes", fast),
      ...countedFigures(`at ${rate}/s`, modest),
      ...quietFigures(quiet),
    ],
  }
}

function subjectFigures(name: NodesSubject, rounds: readonly NodesRound[]): readonly Figure[] {
  const { nodes, engine } = NODES_SUBJECTS[name]
  const cpu = rounds.map(round => round.nodesCpuUs)
  const databaseMs = rounds.map(round => round.databaseCpuUs) // µs an answer are ms a thousand
  return [
    medianFigure(
      name,
      "answers/s",
      rounds.map(round => round.answersPerSecond),
    ),
    medianFigure(`${name} CPU`, "µs/answer", cpu),
    figure(`${name} projected`, "answers/s", (nodes * 1e6) / median(cpu)),
    ...(engine === "sqlite" ? [] : [medianFigure(`${name}: database CPU`, "ms/1000 answers", databaseMs)]),
    medianFigure(
      `${name} p50`,
      "ms",
      rounds.map(round => round.latencyMs.p50),
    ),
    medianFigure(
      `${name} p99`,
      "ms",
      rounds.map(round => round.latencyMs.p99),
    ),
    figure(`load program on ${name}`, "of a core", median(rounds.map(round => round.cpuShare))),
  ]
}

function countedFigures(message: string, { round, statements, ...counted }: CountedLoad): readonly Figure[] {
  return [
    ...STATEMENT_KINDS.filter(kind => statements[kind] > 0).map(kind =>
      figure(`${kind}, ${message}`, "/1000 requests", perThousand({ round, statements, ...counted }, statements[kind])),
    ),
    figure(`CPU of three nodes, ${message}`, "µs/answer", round.nodesCpuUs),
    figure(`database CPU, ${message}`, "ms/1000 answers", round.databaseCpuUs),
    figure(`p50, ${message}`, "ms", round.latencyMs.p50),
    figure(`p99, ${message}`, "ms", round.latencyMs.p99),
  ]
}

function quietFigures({ statements, tookS }: RestingStatements): readonly Figure[] {
  const perNode = (count: number): number => count / tookS / NODES_COUNT
  const facts = (kind: keyof StatementCounts): Figure =>
    figure(`${kind}, at rest`, "/s and node", perNode(statements[kind]))
  return [
    figure("statements at rest", "/s and node", perNode(allOf(statements))),
    ...STATEMENT_KINDS.filter(kind => statements[kind] > 0).map(facts),
  ]
}

const perThousand = ({ round }: CountedLoad, count: number): number =>
  (count * 1000) / (round.answers + round.warmupAnswers)
