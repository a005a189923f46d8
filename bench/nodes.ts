/**
 * What do more nodes add, and what does PostgreSQL cost? One load program loads one, two and three nodes over one database, and one
 * and three over SQLite, in turns. All nodes share a core, and so do load program and database, so what is compared is the processor
 * time of an answer, with as many processes taking turns on that core; and the database counts itself what it was asked.
 */

import { availableParallelism } from "node:os"
import { POSTGRES_PROGRAMS } from "../test/world/postgres.ts"
import type { Pace } from "./load/open-loop.ts"
import {
  type CountedLoad,
  type CountedQuiet,
  LoadedNodes,
  NODES_SUBJECT_NAMES,
  NODES_SUBJECTS,
  type NodesRound,
  type NodesScale,
  type NodesSubject,
} from "./nodes-load.ts"
import { nodesReport } from "./nodes-report.ts"
import { type BenchDatabase, startDatabase, startNodes } from "./nodes-started.ts"
import type { Report } from "./report.ts"
import { interleaved } from "./rounds.ts"
import { bound } from "./server-process.ts"

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
  if (programs === null) return { bench: "nodes", says: ["left out: PostgreSQL is not installed"], figures: [] }
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

async function countedQuiet(database: BenchDatabase, forS: number): Promise<CountedQuiet> {
  await database.statements.take()
  const startedAt = performance.now()
  await Bun.sleep(forS * 1000)
  return { statements: await database.statements.take(), tookS: (performance.now() - startedAt) / 1000 }
}
