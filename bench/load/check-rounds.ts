import { fileURLToPath } from "bun"
import { median } from "../report/rounds.ts"
import { type Program, runToEnd, type ServerProcess } from "../servers/server-process.ts"
import { sendRequest } from "./ask.ts"
import type { LoadReport } from "./run.ts"

const LOAD = fileURLToPath(import.meta.resolve("./main.ts"))

/** Where requests go, and headers of theirs; `authorization` tells who sends them. */
type Sender = {
  readonly path: string
  readonly authorization: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What is posted to a path of a server: bodies in turn. */
export type CheckLoad = Sender & { readonly bodies: readonly string[] }

/** What is asked of it by GET: queries in turn. */
export type QueryLoad = Sender & { readonly queries: readonly string[] }

/** How a round loads a server: over so many connections, and so long after so long a warm-up. */
export type RoundSize = {
  readonly connections: number
  readonly durationS: number
  readonly warmupS: number
  /** Requests a second, sent when they are due; absent: each connection sends its next request when it has its answer. */
  readonly rate?: number
  /** Whether fewer requests than the rate asks for may be sent: the cost of an answer is measured, and not its latency. */
  readonly mayFallBehind?: boolean
}

/** How much a bench of servers under load does. A round loads each server once. */
export type RoundsScale = {
  readonly connections: number
  readonly rounds: number
  readonly roundS: number
  /** Load on each server before the first round; rounds have a short warm-up of their own. */
  readonly warmupS: number
}

/** The scale in words. */
export const describeRounds = ({ connections, rounds, roundS }: RoundsScale): string =>
  `${connections} connections, ${rounds} rounds of ${roundS} s each, order turned each round`

/** What a round found: the load program's report, and the CPU time that an answer cost the server. */
export type CheckRound = LoadReport & { readonly serverCpuUs: number }

/** What a server answers to some bodies: the mean length of an answer in bytes, and how many there are of each category. */
export type CheckAnswers = { readonly bytes: number; readonly categories: Readonly<Record<string, number>> }

/** Asks each body once. Rejects when an answer is no full result. */
export async function checkAnswers(
  server: ServerProcess,
  { path, bodies, authorization }: CheckLoad,
): Promise<CheckAnswers> {
  const url = new URL(path, server.url)
  const categories: Record<string, number> = {}
  let bytes = 0
  for (const body of bodies) {
    const headers = { Authorization: authorization, "Content-Type": "application/json" }
    const answer = await sendRequest({ method: "POST", url, headers, body })
    const result: unknown = JSON.parse(answer.body)
    const isFull = typeof result === "object" && result !== null && "mail" in result && "category" in result
    if (answer.status !== 200 || !isFull) throw new Error(`no full result, but ${answer.status}: ${answer.body}`)
    categories[String(result.category)] = (categories[String(result.category)] ?? 0) + 1
    bytes += Buffer.byteLength(answer.body)
  }
  return { bytes: Math.round(bytes / bodies.length), categories }
}

/** A round in which answers did not come in time is run again so long, if it was shorter. */
const LONG_ROUND_S = 5

/** One run of the load program, in a process of its own, which is bound to a core when the server is. Rejects when an answer is not 200 or a request fails; those that were due and not sent when the time was over are none. */
export async function checkRound(
  server: ServerProcess,
  load: CheckLoad | QueryLoad,
  size: RoundSize,
): Promise<CheckRound> {
  const { connections, durationS, warmupS, rate, mayFallBehind = false } = size
  const { path, authorization, headers = {} } = load
  const url = new URL(path, server.url)
  const [option, lines] = "bodies" in load ? ["--bodies", load.bodies] : ["--queries", load.queries]
  const words = [process.execPath, LOAD, url.href, "--json", option, "-"] as const
  const sent = Object.entries({ Authorization: authorization, ...headers })
  const named = sent.flatMap(([name, value]) => ["--header", `${name}: ${value}`])
  const sizes = ["--connections", connections, "--duration", durationS, "--warmup", warmupS].map(String)
  const command = [...words, ...named, ...sizes, ...(rate === undefined ? [] : ["--rate", String(rate)])] as const
  const timeoutMs = (durationS + warmupS + 10) * 1000
  const cpuBeforeMs = server.cpuMs()
  const program: Program = server.isBound ? { command, core: "load" } : { command }
  const report: LoadReport = JSON.parse(await runToEnd(program, lines.join("\n"), timeoutMs))
  const failures = { ...report.failures, unsent: 0, ...(mayFallBehind ? { skipped: 0 } : {}) }
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0)
  // A machine that is busy with other things may not get to an answer in a short round.
  // Far behind, all answers are to requests that were due in the warm-up.
  const answers = report.answers + (mayFallBehind ? report.warmupAnswers : 0)
  const isUnanswered = failed === failures.unanswered && (failed > 0 || answers === 0)
  if (isUnanswered && durationS < LONG_ROUND_S)
    return await checkRound(server, load, { ...size, durationS: LONG_ROUND_S })
  if (failed > 0 || (report.byStatus["200"] ?? 0) !== report.answers || answers === 0)
    throw new Error(`not every answer was 200: ${JSON.stringify([report.byStatus, failures])}`)
  const cpuUs = (server.cpuMs() - cpuBeforeMs) * 1000
  return { ...report, serverCpuUs: cpuUs / (report.answers + report.warmupAnswers) }
}

/** Answers a second, by round. */
export const perSecond = (rounds: readonly CheckRound[]): readonly number[] => rounds.map(one => one.answersPerSecond)

/** The 99th percentile of latency in milliseconds, by round. */
export const p99 = (rounds: readonly CheckRound[]): readonly number[] => rounds.map(one => one.latencyMs.p99)

/** Processor time of the server in microseconds an answer, by round. */
export const cpuUs = (rounds: readonly CheckRound[]): readonly number[] => rounds.map(one => one.serverCpuUs)

/** The share of a core that the load program took, in the median of all these rounds. */
export const loadCpu = (...subjects: readonly (readonly CheckRound[])[]): number =>
  median(subjects.flat().map(one => one.cpuShare))
