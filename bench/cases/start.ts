/**
 * How long does the server take from the start of its process to the first healthy answer, what does it hold when nobody asks it anything,
 * and what do its first checks cost, before the runtime has compiled what they run?
 */

import { ROUTES } from "../../src/contract/routes.ts"
import { sendRequest } from "../load/ask.ts"
import { linesOfKind, ORDINARY, take } from "../mix/mix.ts"
import { costFigure } from "../report/processor-time.ts"
import { medianFigure, type Report } from "../report/report.ts"
import { interleaved } from "../report/rounds.ts"
import { HIGH_LIMITS, limitedKey } from "../servers/accounts.ts"
import { statusBytes } from "../servers/process-stats.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "../servers/product.ts"
import { type Program, type ServerProcess, startServer } from "../servers/server-process.ts"

/** How much the bench does: so many fresh processes of each kind, and so many that are left alone for so long and are then asked so many checks. */
export type StartScale = {
  readonly rounds: number
  readonly idleRounds: number
  readonly idleS: number
  readonly checks: number
}

/** The scale of a figure that may be told. A server collects 20 seconds after its start what that has left. */
export const START_FULL: StartScale = { rounds: 9, idleRounds: 5, idleS: 22, checks: 1000 }

/** What is started: its name in the table, and its command. */
export type Starters = Readonly<Record<string, Program["command"] | null>>

/** What a process held and cost. */
type FirstChecks = {
  readonly residentBytes: number
  readonly privateBytes: number
  /** Processor time from its start to the first check, in milliseconds. */
  readonly startCpuMs: number
  readonly checkCpuUs: number
}

const ADDRESSES = 200
const CONNECTIONS = 16
const MB = 1_000_000

/** Runs the bench on each command, in an empty directory and in one where it has run before. A null command is told as not built. */
export async function startBench(scale: StartScale, starters: Starters = PRODUCT): Promise<Report> {
  await using warm = await emptyDirectory()
  const authorization = `Bearer ${await limitedKey(warm.path)}`
  const measures = new Map<string, () => Promise<number>>()
  const idles = new Map<string, () => Promise<FirstChecks>>()
  for (const [name, command] of Object.entries(starters)) {
    if (command === null) continue
    await millisecondsOf(command, warm.path)
    measures.set(`${name}, empty directory`, async () => {
      await using empty = await emptyDirectory()
      return await millisecondsOf(command, empty.path)
    })
    measures.set(`${name}, warm directory`, () => millisecondsOf(command, warm.path))
    idles.set(name, () => firstChecksOf(command, warm.path, authorization, scale))
  }
  const rounds = await interleaved([...measures.keys()], scale.rounds, name => measures.get(name)?.() ?? Number.NaN)
  const idle = await interleaved([...idles.keys()], scale.idleRounds, name => idles.get(name)?.())
  const missing = Object.keys(starters).filter(name => starters[name] === null)
  return {
    bench: "start",
    description: [
      `from the start of the process to 200 on /v1/health; ${scale.rounds} fresh processes each, in turn`,
      `idle: after ${scale.idleS} s without a request, ${scale.idleRounds} fresh processes each, in turn; then ${scale.checks} checks over ${CONNECTIONS} connections`,
      "resident memory has the pages of the program's file that were read, private memory has none of them",
      ...missing.map(name => `${name}: not built (bun run build)`),
    ],
    figures: [
      ...Object.entries(rounds).map(([name, values]) => medianFigure(name, "ms", values, "start")),
      ...Object.entries(idle).flatMap(([name, values]) => idleFigures(name, scale, values.filter(isMeasured))),
    ],
  }
}

const isMeasured = (value: FirstChecks | undefined): value is FirstChecks => value !== undefined

const idleFigures = (name: string, { checks }: StartScale, values: readonly FirstChecks[]) => [
  medianFigure(
    `${name}, idle, resident`,
    "MB",
    values.map(({ residentBytes }) => residentBytes / MB),
    "start_memory",
  ),
  medianFigure(
    `${name}, idle, private`,
    "MB",
    values.map(({ privateBytes }) => privateBytes / MB),
  ),
  costFigure(
    `${name}, until the first check`,
    "ms",
    values.map(({ startCpuMs }) => startCpuMs),
  ),
  costFigure(
    `${name}, first ${checks} checks`,
    "µs/check",
    values.map(({ checkCpuUs }) => checkCpuUs),
    "start_checks",
  ),
]

async function millisecondsOf(command: Program["command"], directory: string): Promise<number> {
  const startedAt = performance.now()
  await using server = await startServer({ command, environment: productSettings(directory) })
  const { status } = await sendRequest({ method: "GET", url: new URL("/v1/health", server.url), headers: {}, body: "" })
  const tookMs = performance.now() - startedAt
  if (status !== 200) throw new Error(`the server started, but its health is ${status}`)
  return tookMs
}

async function firstChecksOf(
  command: Program["command"],
  directory: string,
  authorization: string,
  { idleS, checks }: StartScale,
): Promise<FirstChecks> {
  const environment = { ...productSettings(directory), ...HIGH_LIMITS, ...KEEPING_MEMORY }
  await using server = await startServer({ command, environment, core: "server" })
  await Bun.sleep(idleS * 1000)
  const [residentBytes, privateBytes] = [statusBytes(server.pid, "VmRSS"), statusBytes(server.pid, "RssAnon")]
  const startCpuMs = server.cpuMs()
  await sendChecks(server, authorization, checks)
  return { residentBytes, privateBytes, startCpuMs, checkCpuUs: ((server.cpuMs() - startCpuMs) * 1000) / checks }
}

/** Sends single checks over connections that stay open. Rejects when an answer is not 200. */
async function sendChecks(server: ServerProcess, authorization: string, count: number): Promise<void> {
  const addresses = take(linesOfKind(ORDINARY), ADDRESSES)
  const url = new URL(ROUTES.postCheck.path, server.url)
  const headers = { Authorization: authorization, "Content-Type": "application/json" }
  let sent = 0
  const send = async (): Promise<void> => {
    while (sent < count) {
      const body = JSON.stringify({ email: addresses[sent++ % addresses.length] })
      const answer = await Bun.fetch(url, { method: "POST", headers, body })
      if (answer.status !== 200) throw new Error(`a first check was answered with ${answer.status}`)
      await answer.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, send))
}
