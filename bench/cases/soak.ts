/**
 * Does a server stay as it is however long it is asked? Millions of mixed requests are sent to one server: what it answers,
 * and what it holds after each million when nobody asks.
 */

import { join } from "node:path"
import { openSqlite } from "../../src/customers/store/sqlite-store.ts"
import { createSystem } from "../../src/system/system.ts"
import { endpointOf } from "../load/request-bytes.ts"
import { type LoadReport, runLoad } from "../load/run.ts"
import { figure, medianFigure, type Report } from "../report/report.ts"
import { median } from "../report/rounds.ts"
import { HIGH_LIMITS, limitedKey } from "../servers/accounts.ts"
import { addAccounts, KEYS_PER_ACCOUNT } from "../servers/many-accounts.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "../servers/product.ts"
import { type RestingMemory, residentLooks, restingMemory } from "../servers/resting-memory.ts"
import { CAN_PIN, type ServerProcess, startServer } from "../servers/server-process.ts"
import { SOAK_KINDS, type SoakCallers } from "./soak-kinds.ts"
import { answersOf, expectAnswers, soakRequests } from "./soak-requests.ts"

/** How much the bench does: parts of some loads each, after each of which the server is left alone. */
export type SoakScale = {
  readonly parts: number
  readonly loads: number
  /** Requests of a load, which opens connections of its own. */
  readonly requests: number
  readonly connections: number
  /** Accounts beside the one that most requests come from. */
  readonly accounts: number
  /** How long the server is left alone before it is looked at; as long again, it is looked at. */
  readonly quietMs: number
}

/** The scale of a figure that may be told: five million requests. */
export const SOAK_FULL: SoakScale = {
  parts: 5,
  loads: 10,
  requests: 100_000,
  connections: 64,
  accounts: 1500,
  quietMs: 6000,
}

const LOAD_TIMEOUT_MS = 120_000
/** The load program stands for a proxy, behind which there are many clients. */
export const BEHIND_PROXY = { MAILKIND_TRUSTED_PROXIES: "127.0.0.1" }

/** Runs the bench. Rejects when a request fails, or an answer comes that should not, or as often as it should not. */
export async function soakBench(scale: SoakScale): Promise<Report> {
  await using directory = await emptyDirectory()
  const callers = await callersIn(directory.path, scale.accounts)
  await using server = await startServer({
    command: PRODUCT.source,
    environment: { ...productSettings(directory.path), ...HIGH_LIMITS, ...KEEPING_MEMORY, ...BEHIND_PROXY },
    core: "server",
  })
  const next = soakRequests(server.url, callers)
  const parts: Part[] = []
  for (let part = 0; part < scale.parts; part++) {
    const reports: LoadReport[] = []
    const looks = await residentLooks(server, async () => {
      for (let load = 0; load < scale.loads; load++) reports.push(await loaded(server, scale, next(scale.requests)))
    })
    // The median: a garbage collector makes it swing by a fifth, so that one look tells of its moment and not of the server.
    parts.push({ reports, underLoadBytes: median(looks), held: await restingMemory(server, scale.quietMs) })
  }
  const answers = answersOf(parts.flatMap(({ reports }) => reports))
  expectAnswers(answers)
  return reportOf(scale, parts, answers)
}

/** What a server was asked, and what it held afterwards. */
type Part = { readonly reports: readonly LoadReport[]; readonly underLoadBytes: number; readonly held: RestingMemory }

/** An account with high limits and many others in a directory, and their keys. */
export async function callersIn(directory: string, accounts: number): Promise<SoakCallers> {
  const { clock, random } = createSystem()
  const key = await limitedKey(directory)
  const store = await openSqlite(join(directory, "mailkind.sqlite"), clock)
  const keys = await addAccounts(store, random, accounts, accounts * KEYS_PER_ACCOUNT).finally(store.close)
  return { key, keys }
}

/** Sends the requests. Rejects when one has no answer. */
export async function loaded(
  { url }: ServerProcess,
  { connections }: Pick<SoakScale, "connections">,
  requests: readonly Uint8Array[],
): Promise<LoadReport> {
  const report = await runLoad({
    endpoints: [endpointOf(url)],
    requests,
    connections,
    pace: null,
    warmupMs: 0,
    durationMs: LOAD_TIMEOUT_MS,
    requestsMax: requests.length,
  })
  if (report.answers !== requests.length)
    throw new Error(`${requests.length} requests, but ${report.answers} answers: ${JSON.stringify(report.failures)}`)
  return report
}

function reportOf(scale: SoakScale, parts: readonly Part[], answers: Readonly<Record<string, number>>): Report {
  const { connections, accounts, quietMs } = scale
  const requests = scale.loads * scale.requests
  const [first, second, last] = [parts[0], parts[1], parts.at(-1)]
  if (first === undefined || second === undefined || last === undefined) throw new Error("a soak has two parts")
  const p99 = ({ reports }: Part) => reports.map(report => report.latencyMs.p99)
  const perSecond = ({ reports }: Part) => reports.map(report => report.answersPerSecond)
  return {
    bench: "soak",
    description: [
      `${parts.length * requests} requests over ${connections} connections, which are opened anew after each ${scale.requests}; DNS off; an account with high limits and ${accounts} others`,
      ...Object.entries(answers).map(([answer, count]) => `${count} × ${answer}: of a thousand ${kindsOf(answer)}`),
      `resident memory in each part of ${requests}: the median of looks while it is sent; the first is the one in which a server warms up`,
      `left alone after each, from ${quietMs / 1000} s after the last answer and for as long again: the least that was seen`,
      CAN_PIN ? "server bound to core 0 (taskset)" : "not bound to cores",
      "it keeps freed memory for ten seconds, as `bun run start` does; the load program is the bench itself",
    ],
    figures: [
      figure("memory in the last part ÷ in the second", "", last.underLoadBytes / second.underLoadBytes, "soak_memory"),
      ...parts.map((part, at) => figure(`resident memory in part ${at + 1}`, "MB", part.underLoadBytes / 1e6)),
      ...parts.map(({ held }, at) => figure(`left alone after part ${at + 1}`, "MB", held.residentBytes / 1e6)),
      figure("private memory after the first part", "MB", first.held.privateBytes / 1e6),
      figure("private memory at the end", "MB", last.held.privateBytes / 1e6),
      figure("the most that it ever held", "MB", last.held.peakBytes / 1e6),
      figure("more descriptors at the end", "", last.held.descriptors - first.held.descriptors, "soak_descriptors"),
      figure("descriptors at the end", "", last.held.descriptors),
      figure("sockets among them", "", last.held.sockets),
      figure("CPU at the end when nobody asks", "of a core", last.held.cpuShare),
      medianFigure("p99 of the first part", "ms", p99(first)),
      medianFigure("p99 of the last part", "ms", p99(last)),
      medianFigure("first part", "answers/s", perSecond(first)),
      medianFigure("last part", "answers/s", perSecond(last)),
      figure("load program", "of a core", median(parts.flatMap(({ reports }) => reports.map(one => one.cpuShare)))),
    ],
  }
}

/** The kinds of request that are answered so, with their shares. */
const kindsOf = (answer: string): string =>
  Object.entries(SOAK_KINDS)
    .filter(([, kind]) => kind.answer === answer)
    .map(([message, { share }]) => `${share} ${message}`)
    .join(", ")
