import { allOf, STATEMENT_KINDS, type StatementCounts } from "./counted-statements.ts"
import {
  type CountedLoad,
  type CountedQuiet,
  NODES_SUBJECT_NAMES,
  NODES_SUBJECTS,
  type NodesRound,
  type NodesScale,
  type NodesSubject,
} from "./nodes-load.ts"
import { type Figure, figure, medianFigure, type Report } from "./report.ts"
import { median, ratios } from "./rounds.ts"
import { CAN_PIN } from "./server-process.ts"

type Rounds = Readonly<Record<NodesSubject, readonly NodesRound[]>>

/** What the bench found. */
export type NodesFound = {
  readonly cores: number
  readonly rounds: Rounds
  readonly fast: CountedLoad
  readonly modest: CountedLoad
  readonly quiet: CountedQuiet
}

const NODES = NODES_SUBJECTS["three nodes"].nodes

/** Tells it. */
export function nodesReport(scale: NodesScale, { cores, rounds, fast, modest, quiet }: NodesFound): Report {
  const { accounts, connectionsPerNode, rounds: count, roundS, countedS, rate } = scale
  const cpu = (name: NodesSubject): readonly number[] => rounds[name].map(round => round.nodesCpuUs)
  const speed = (name: NodesSubject): readonly number[] => rounds[name].map(round => round.answersPerSecond)
  return {
    bench: "nodes",
    says: [
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

function countedFigures(says: string, { round, statements, ...counted }: CountedLoad): readonly Figure[] {
  return [
    ...STATEMENT_KINDS.filter(kind => statements[kind] > 0).map(kind =>
      figure(`${kind}, ${says}`, "/1000 requests", perThousand({ round, statements, ...counted }, statements[kind])),
    ),
    figure(`CPU of three nodes, ${says}`, "µs/answer", round.nodesCpuUs),
    figure(`database CPU, ${says}`, "ms/1000 answers", round.databaseCpuUs),
    figure(`p50, ${says}`, "ms", round.latencyMs.p50),
    figure(`p99, ${says}`, "ms", round.latencyMs.p99),
  ]
}

function quietFigures({ statements, tookS }: CountedQuiet): readonly Figure[] {
  const perNode = (count: number): number => count / tookS / NODES
  const told = (kind: keyof StatementCounts): Figure =>
    figure(`${kind}, at rest`, "/s and node", perNode(statements[kind]))
  return [
    figure("statements at rest", "/s and node", perNode(allOf(statements))),
    ...STATEMENT_KINDS.filter(kind => statements[kind] > 0).map(told),
  ]
}

const perThousand = ({ round }: CountedLoad, count: number): number =>
  (count * 1000) / (round.answers + round.warmupAnswers)
