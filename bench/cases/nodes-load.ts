import { ROUTES } from "../../src/contract/routes.ts"
import { benchAddresses } from "../load/addresses.ts"
import { checkAnswers } from "../load/check-rounds.ts"
import type { Pace } from "../load/open-loop.ts"
import { endpointOf, requestBytes } from "../load/request-bytes.ts"
import { type LoadReport, runLoad } from "../load/run.ts"
import type { ServerProcess } from "../servers/server-process.ts"
import type { BenchDatabase, BenchNodes, StatementCounts } from "./nodes-servers.ts"

/** How much the bench does. */
export type NodesScale = {
  /** Accounts with a key each, by which requests come in turn. */
  readonly accounts: number
  readonly connectionsPerNode: number
  readonly rounds: number
  readonly roundS: number
  readonly warmupS: number
  /** For how long statements are counted: at full speed, at a modest rate, and when nobody asks. */
  readonly countedS: number
  /** The modest rate: requests a second to all nodes together. */
  readonly rate: number
}

/** What is loaded in turn: how many nodes, and over what. */
export const NODES_SUBJECTS = {
  "one node": { nodes: 1, engine: "postgres" },
  "two nodes": { nodes: 2, engine: "postgres" },
  "three nodes": { nodes: 3, engine: "postgres" },
  "SQLite node": { nodes: 1, engine: "sqlite" },
  "three SQLite nodes": { nodes: 3, engine: "sqlite" },
} as const
export type NodesSubject = keyof typeof NODES_SUBJECTS
/** Their names. */
export const NODES_SUBJECT_NAMES = Object.keys(NODES_SUBJECTS) as readonly NodesSubject[] // the keys are those of NODES_SUBJECTS

/** What a load found, and what it cost: the processor time that an answer took of the nodes and of the database. */
export type NodesRound = LoadReport & { readonly nodesCpuUs: number; readonly databaseCpuUs: number }

/** A load on three nodes, and what the database was asked for it. */
export type CountedLoad = { readonly round: NodesRound; readonly statements: StatementCounts }

/** What nodes ask the database when nobody asks them. */
export type RestingStatements = { readonly statements: StatementCounts; readonly tookS: number }

type Sizes = {
  readonly connections: number
  readonly durationS: number
  readonly warmupS: number
  /** Null: as fast as it goes. Else as many requests as are due in that time, all of which are sent, on a busy machine later. */
  readonly pace: Pace | null
}

/** How many times as long as it should a load at a rate may take. */
const LATE_MAX = 5

const BODIES = benchAddresses().map(email => JSON.stringify({ email }))

/** Servers over one store that are loaded, the requests for them, and how many they have answered. */
export class LoadedNodes {
  readonly #nodes: BenchNodes
  readonly #database: BenchDatabase
  readonly #requests: readonly Uint8Array[]
  #answered = 0

  constructor(nodes: BenchNodes, database: BenchDatabase) {
    this.#nodes = nodes
    this.#database = database
    const url = new URL(ROUTES.postCheck.path, nodes.servers[0]?.url)
    // One `Host` for all, as a load balancer may send it.
    this.#requests = BODIES.flatMap(body =>
      nodes.keys.map(key => {
        const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" }
        return requestBytes({ method: "POST", url, headers, body })
      }),
    )
  }

  /** Asks each server each body once, and then loads it alone: a node that has answered less is slower. */
  async warm(connections: number, durationS: number): Promise<void> {
    const authorization = `Bearer ${this.#nodes.keys[0]}`
    for (const server of this.#nodes.servers) {
      await checkAnswers(server, { path: ROUTES.postCheck.path, bodies: BODIES, authorization })
      this.#answered += BODIES.length
      await this.#loadOn([server], { connections, durationS, warmupS: 0, pace: null })
    }
  }

  /** Loads the first `count` servers, the connections spread evenly over them. */
  load(count: number, sizes: Sizes): Promise<NodesRound> {
    return this.#loadOn(this.#nodes.servers.slice(0, count), sizes)
  }

  async #loadOn(
    [first, ...others]: readonly ServerProcess[],
    { connections, durationS, warmupS, pace }: Sizes,
  ): Promise<NodesRound> {
    if (first === undefined) throw new Error("there is a server")
    const cpuMs = (): readonly [number, number] => [cpuMsOf([first, ...others]), this.#database.cpuMs()]
    const before = cpuMs()
    const report = await runLoad({
      endpoints: [endpointOf(first.url), ...others.map(({ url }) => endpointOf(url))],
      requests: this.#requests,
      connections,
      pace,
      warmupMs: warmupS * 1000,
      durationMs: durationS * 1000 * (pace === null ? 1 : LATE_MAX),
      requestsMax: pace === null ? null : pace.perSecond * durationS,
    })
    const after = cpuMs()
    const failed = Object.values(report.failures).reduce((sum, each) => sum + each, 0)
    if (failed > 0 || report.byStatus["200"] !== report.answers || report.answers === 0)
      throw new Error(`not every answer was 200: ${JSON.stringify([report.byStatus, report.failures])}`)
    const answers = report.answers + report.warmupAnswers
    this.#answered += answers
    const [nodesCpuUs = Number.NaN, databaseCpuUs = Number.NaN] = after.map(
      (ms, at) => ((ms - (before[at] ?? Number.NaN)) * 1000) / answers,
    )
    return { ...report, nodesCpuUs, databaseCpuUs }
  }

  /** Rejects unless the store has every answer as a unit used, and no other. */
  async expectMetered(): Promise<void> {
    const used = await this.#nodes.unitsUsed()
    if (used !== this.#answered) throw new Error(`${this.#answered} checks were answered, but ${used} units were used`)
  }
}

const cpuMsOf = (servers: readonly ServerProcess[]): number => servers.reduce((sum, server) => sum + server.cpuMs(), 0)
