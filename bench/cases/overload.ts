/**
 * What does a server do that is asked for twice of what it can? It is measured as fast as it goes, then with a quarter of that,
 * then with twice as much for minutes, and then with a quarter again: who comes when it is over must not feel it.
 */

import { fileURLToPath } from "bun"
import { ROUTES } from "../../src/contract/routes.ts"
import { benchAddresses } from "../load/addresses.ts"
import { type CheckLoad, checkAnswers, checkRound } from "../load/check-rounds.ts"
import type { LoadReport } from "../load/run.ts"
import { figure, type Report } from "../report/report.ts"
import { median } from "../report/rounds.ts"
import { HIGH_LIMITS, limitedKey } from "../servers/accounts.ts"
import { statusBytes } from "../servers/process-stats.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "../servers/product.ts"
import { CAN_PIN, type Program, runToEnd, type ServerProcess, startServer } from "../servers/server-process.ts"

/** How much the bench does. */
export type OverloadScale = {
  readonly connections: number
  /** How many requests wait for a free connection; those beyond are given up, as by callers with a deadline. */
  readonly waiting: number
  readonly warmupS: number
  /** How long the capacity is measured, and each calm load. */
  readonly calmS: number
  readonly overloadS: number
}

/** The scale of a figure that may be told. */
export const OVERLOAD_FULL: OverloadScale = { connections: 64, waiting: 16, warmupS: 5, calmS: 10, overloadS: 300 }

const LOAD = fileURLToPath(import.meta.resolve("../load/main.ts"))
const CALM = 1 / 4
const OVER = 2
const LOOKS = 40

/** Runs the bench. Rejects when an answer is neither 200 nor `overloaded`, or a connection fails. */
export async function overloadBench(scale: OverloadScale): Promise<Report> {
  await using directory = await emptyDirectory()
  const authorization = `Bearer ${await limitedKey(directory.path)}`
  await using server = await startServer({
    command: PRODUCT.source,
    environment: { ...productSettings(directory.path), ...HIGH_LIMITS, ...KEEPING_MEMORY },
    core: "server",
  })
  const bodies = benchAddresses().map(email => JSON.stringify({ email }))
  const load = { path: ROUTES.postCheck.path, authorization, bodies }
  await checkAnswers(server, load)
  const { connections, calmS: durationS, warmupS, overloadS } = scale
  const { answersPerSecond: capacity } = await checkRound(server, load, { connections, durationS, warmupS })
  const calm = () => pacedRound(server, load, scale, { rate: capacity * CALM, durationS })
  const before = await calm()
  const looks: number[] = []
  const looking = setInterval(() => looks.push(statusBytes(server.pid, "VmRSS")), (overloadS * 1000) / LOOKS)
  const over = await pacedRound(server, load, scale, { rate: capacity * OVER, durationS: overloadS }).finally(() =>
    clearInterval(looking),
  )
  const after = await calm()
  return reportOf(scale, capacity, { before, over, after }, looks)
}

/** One run of the load program that sends at a rate, whether or not the server keeps up. */
async function pacedRound(
  server: ServerProcess,
  { path, bodies, authorization }: CheckLoad,
  { connections, waiting }: OverloadScale,
  { rate, durationS }: { readonly rate: number; readonly durationS: number },
): Promise<LoadReport> {
  const sizes = ["--connections", connections, "--duration", durationS, "--warmup", 0, "--waiting", waiting]
  const words = [process.execPath, LOAD, new URL(path, server.url).href, "--json", "--bodies", "-"] as const
  const paced = ["--rate", rate.toFixed(2), "--header", `Authorization: ${authorization}`]
  const command = [...words, ...paced, ...sizes.map(String)] as const
  const program: Program = server.isBound ? { command, core: "load" } : { command }
  const report: LoadReport = JSON.parse(await runToEnd(program, bodies.join("\n"), (durationS + 20) * 1000))
  const { refused, closed, unreadable } = report.failures
  const known = goodOf(report) + shedOf(report)
  if (refused + closed + unreadable > 0 || known !== report.answers || known === 0)
    throw new Error(
      `a server under load fails: ${JSON.stringify([report.byStatus, report.byProblem, report.failures])}`,
    )
  return report
}

const goodOf = ({ byStatus }: LoadReport): number => byStatus["200"] ?? 0
const shedOf = ({ byProblem }: LoadReport): number => byProblem["503 overloaded"] ?? 0
const goodPerSecond = (report: LoadReport): number => (goodOf(report) / report.elapsedMs) * 1000

type Rounds = Readonly<Record<"before" | "over" | "after", LoadReport>>

function reportOf(
  { connections, waiting, overloadS }: OverloadScale,
  capacity: number,
  { before, over, after }: Rounds,
  looks: readonly number[],
): Report {
  const quarter = Math.max(1, Math.floor(looks.length / 4))
  const [early, late] = [median(looks.slice(quarter, quarter * 2)), median(looks.slice(-quarter))]
  return {
    bench: "overload",
    description: [
      `POST /v1/check, secret key of a limited account, full result; DNS off; ${connections} connections`,
      `at twice the capacity for ${overloadS} s, sent when due (open loop); ${waiting} wait for a free connection at most, the rest is given up`,
      "latency runs from when a request was due; calm is a quarter of the capacity, before and at once after",
      "memory: the median of the last quarter of the overload by that of the second",
      CAN_PIN ? "server bound to core 0, load to core 1 (taskset)" : "not bound to cores",
    ],
    figures: [
      figure("goodput ÷ capacity", "", goodPerSecond(over) / capacity, "overload_goodput"),
      figure("p99 under overload ÷ calm", "", over.latencyMs.p99 / before.latencyMs.p99, "overload_p99"),
      figure("memory late ÷ early", "", late / early, "overload_memory"),
      figure("p99 at once after ÷ calm before", "", after.latencyMs.p99 / before.latencyMs.p99, "overload_recovery"),
      figure("capacity", "answers/s", capacity),
      figure("goodput", "answers/s", goodPerSecond(over)),
      figure("refused with 503", "answers/s", (shedOf(over) / over.elapsedMs) * 1000),
      figure("given up by callers", "requests/s", (over.failures.skipped / over.elapsedMs) * 1000),
      figure("p99 calm", "ms", before.latencyMs.p99),
      figure("p99 under overload", "ms", over.latencyMs.p99),
      figure("p99 at once after", "ms", after.latencyMs.p99),
      figure("resident memory late", "MB", late / 1e6),
      figure("load program", "of a core", over.cpuShare),
    ],
  }
}
