/**
 * How much of a bare server's throughput does POST /v1/check keep? Both run in processes of their own and are loaded in
 * turn by the same program, with the same requests; the floor's answer has the length of the product's mean answer.
 */

import { fileURLToPath } from "bun"
import { ROUTES } from "../src/contract/routes.ts"
import { benchAddresses } from "./addresses.ts"
import { ask } from "./load/ask.ts"
import type { LoadReport } from "./load/run.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "./product.ts"
import { figure, medianFigure, type Report } from "./report.ts"
import { interleaved, median } from "./rounds.ts"
import { CAN_PIN, type Program, runToEnd, type ServerProcess, startServer } from "./server-process.ts"

/** How much the bench does. A round loads each server once. */
export type HttpScale = {
  readonly connections: number
  readonly rounds: number
  readonly roundS: number
  /** Load on each server before the first round; rounds have a short warm-up of their own. */
  readonly warmupS: number
}

/** The scale of a figure that may be told. */
export const HTTP_FULL: HttpScale = { connections: 64, rounds: 7, roundS: 2, warmupS: 5 }

const FLOOR = fileURLToPath(import.meta.resolve("./floor.ts"))
const LOAD = fileURLToPath(import.meta.resolve("./load/main.ts"))
const ROUND_WARMUP_S = 0.3
/** Above this share of a core the load program may be what limits the floor, and the ratio flatters us. */
const LOAD_CPU_MAX = 0.95

/** Runs the bench on the server that `command` starts. Rejects when an answer is not 200 or a request fails. */
export async function httpBench(scale: HttpScale, command: Program["command"] = PRODUCT.source): Promise<Report> {
  await using directory = await emptyDirectory()
  await using product = await startServer({
    command,
    environment: { ...productSettings(directory.path), ...KEEPING_MEMORY },
    core: "server",
  })
  const authorization = `Bearer ${await product.key()}`
  const bodies = benchAddresses().map(email => JSON.stringify({ email }))
  const answers = await answersTo(bodies, product, authorization)
  const floorCommand = [process.execPath, FLOOR, String(answers.bytes)] as const
  await using floor = await startServer({ command: floorCommand, environment: KEEPING_MEMORY, core: "server" })
  const servers = { product, floor }
  const measure = (name: keyof Rounds, roundS = scale.roundS, warmupS = ROUND_WARMUP_S): Promise<Round> =>
    roundOn(servers[name], authorization, bodies, [scale.connections, roundS, warmupS])
  for (const name of ["product", "floor"] as const) await measure(name, scale.warmupS, 0)
  return reportOf(scale, await interleaved(["product", "floor"], scale.rounds, name => measure(name)), answers)
}

type Round = LoadReport & { readonly serverCpuUs: number }
type Rounds = Readonly<Record<"product" | "floor", readonly Round[]>>

/** Asks each body once: their mean length in bytes, and how many answers there are of each category. */
async function answersTo(bodies: readonly string[], server: ServerProcess, authorization: string) {
  const url = new URL(ROUTES.postCheck.path, server.url)
  const categories: Record<string, number> = {}
  let bytes = 0
  for (const body of bodies) {
    const headers = { Authorization: authorization, "Content-Type": "application/json" }
    const answer = await ask({ method: "POST", url, headers, body })
    const result: unknown = JSON.parse(answer.body)
    const isFull = typeof result === "object" && result !== null && "mail" in result && "category" in result
    if (answer.status !== 200 || !isFull) throw new Error(`no full result, but ${answer.status}: ${answer.body}`)
    categories[String(result.category)] = (categories[String(result.category)] ?? 0) + 1
    bytes += Buffer.byteLength(answer.body)
  }
  return { bytes: Math.round(bytes / bodies.length), categories }
}

/** One run of the load program, in a process of its own, with the CPU time that an answer cost the server. */
async function roundOn(
  server: ServerProcess,
  authorization: string,
  bodies: readonly string[],
  [connections, durationS, warmupS]: readonly [number, number, number],
): Promise<Round> {
  const url = new URL(ROUTES.postCheck.path, server.url)
  const program = [process.execPath, LOAD, url.href, "--json", "--bodies", "-"] as const
  const sizes = ["--connections", connections, "--duration", durationS, "--warmup", warmupS].map(String)
  const command = [...program, "--header", `Authorization: ${authorization}`, ...sizes] as const
  const timeoutMs = (durationS + warmupS + 10) * 1000
  const cpuBeforeMs = server.cpuMs()
  const report: LoadReport = JSON.parse(await runToEnd({ command, core: "load" }, bodies.join("\n"), timeoutMs))
  const failed = Object.values(report.failures).reduce((sum, count) => sum + count, 0)
  if (failed > 0 || report.byStatus["200"] !== report.answers || report.answers === 0)
    throw new Error(`not every answer was 200: ${JSON.stringify([report.byStatus, report.failures])}`)
  const cpuUs = (server.cpuMs() - cpuBeforeMs) * 1000
  return { ...report, serverCpuUs: cpuUs / (report.answers + report.warmupAnswers) }
}

function reportOf(
  scale: HttpScale,
  { product, floor }: Rounds,
  answers: Awaited<ReturnType<typeof answersTo>>,
): Report {
  const perSecond = (reports: readonly Round[]) => reports.map(report => report.answersPerSecond)
  const p99 = (reports: readonly Round[]) => reports.map(report => report.latencyMs.p99)
  const cpuUs = (reports: readonly Round[]) => reports.map(report => report.serverCpuUs)
  const ratios = perSecond(product).map((rate, round) => rate / (floor[round]?.answersPerSecond ?? Number.NaN))
  const cpu = [...product, ...floor].map(report => report.cpuShare)
  const mix = Object.entries(answers.categories).map(([category, count]) => `${count} ${category}`)
  return {
    bench: "http",
    says: [
      `POST /v1/check, secret key, full result; ${mix.join(", ")}; DNS off; answers of ${answers.bytes} bytes`,
      `${scale.connections} connections, ${scale.rounds} rounds of ${scale.roundS} s each, order turned each round`,
      "both keep freed memory for ten seconds, as `bun run start` does",
      CAN_PIN ? "servers bound to core 0, load to core 1 (taskset)" : "not bound to cores",
      ...(median(cpu) > LOAD_CPU_MAX ? ["the load program was the limit: the ratio is too kind"] : []),
    ],
    figures: [
      medianFigure("product ÷ floor", "", ratios, "http"),
      medianFigure("product", "answers/s", perSecond(product)),
      medianFigure("floor", "answers/s", perSecond(floor)),
      medianFigure("product p99", "ms", p99(product)),
      medianFigure("floor p99", "ms", p99(floor)),
      medianFigure("product CPU", "µs/answer", cpuUs(product)),
      medianFigure("floor CPU", "µs/answer", cpuUs(floor)),
      figure("load program", "of a core", median(cpu)),
    ],
  }
}
