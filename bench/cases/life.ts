/**
 * Is a server after a month what it was on its first day? Thirty days pass for one server, many times as fast as for others:
 * mixed requests come all the time, and each day brings other lists, a new account, a new key, and the end of the key of the day before.
 */

import { statSync } from "node:fs"
import { fileURLToPath } from "bun"
import { DAY_MS } from "../../src/base/time.ts"
import type { LoadReport } from "../load/run.ts"
import { lowerHalfMean } from "../report/processor-time.ts"
import { figure, type Report } from "../report/report.ts"
import { median } from "../report/rounds.ts"
import { HIGH_LIMITS } from "../servers/accounts.ts"
import { emptyDirectory, KEEPING_MEMORY, PROGRAM, productSettings } from "../servers/product.ts"
import { type RestingMemory, restingMemory } from "../servers/resting-memory.ts"
import { CAN_PIN, runToEnd, type ServerProcess, startServer } from "../servers/server-process.ts"
import { growingList, refreshed } from "./refresh.ts"
import { BEHIND_PROXY, callersIn, loaded } from "./soak.ts"
import { answersOf, expectAnswers, soakRequests } from "./soak-requests.ts"

/** How much the bench does. */
export type LifeScale = {
  readonly days: number
  /** How long a day of the server takes. */
  readonly dayMs: number
  /** Requests of a load; loads are sent until the day is over. */
  readonly requests: number
  readonly connections: number
  /** Accounts beside the one that most requests come from. */
  readonly accounts: number
  /** How long the server is left alone at the end of a day before it is looked at; as long again, it is looked at. */
  readonly quietMs: number
}

/** The scale of a figure that may be told: half an hour and several million requests. */
export const LIFE_FULL: LifeScale = {
  days: 30,
  dayMs: 45_000,
  requests: 20_000,
  connections: 64,
  accounts: 1500,
  quietMs: 4000,
}

const PROGRAM_WITH_FAST_CLOCK = fileURLToPath(import.meta.resolve("../servers/fast-clock.ts"))
const COMMAND_TIMEOUT_MS = 60_000

/** Runs the bench. Rejects when a request fails, or an answer comes that should not, or as often as it should not. */
export async function lifeBench(scale: LifeScale): Promise<Report> {
  await using directory = await emptyDirectory()
  using lists = growingList()
  const callers = await callersIn(directory.path, scale.accounts)
  await using server = await startServer({
    command: [process.execPath, PROGRAM_WITH_FAST_CLOCK, "serve"],
    environment: {
      ...productSettings(directory.path),
      ...HIGH_LIMITS,
      ...KEEPING_MEMORY,
      ...BEHIND_PROXY,
      BENCH_CLOCK_SPEED: String(DAY_MS / scale.dayMs),
    },
    core: "server",
  })
  const next = soakRequests(server.url, callers)
  const changes = new DailyChanges(server, directory.path, lists.url)
  const days: Day[] = []
  while (days.length < scale.days) {
    const endsAt = performance.now() + scale.dayMs
    const changed = changes.ofDay(days.length)
    // A change that fails is told when the day is over.
    changed.catch(() => undefined)
    const reports: LoadReport[] = []
    while (performance.now() < endsAt) reports.push(await loaded(server, scale, next(scale.requests)))
    await changed
    days.push({ reports, held: await restingMemory(server, scale.quietMs), storeBytes: storeBytes(directory.path) })
  }
  const answers = answersOf(days.flatMap(({ reports }) => reports))
  expectAnswers(answers)
  return reportOf(scale, days, answers)
}

/** What came on a day, and what the server and its database held at its end. */
type Day = { readonly reports: readonly LoadReport[]; readonly held: RestingMemory; readonly storeBytes: number }

/** What an operator does in a day, with the commands of the product. */
class DailyChanges {
  readonly #server: ServerProcess
  readonly #directory: string
  readonly #lists: string
  #keyId: string | null = null

  constructor(server: ServerProcess, directory: string, lists: string) {
    this.#server = server
    this.#directory = directory
    this.#lists = lists
  }

  async ofDay(day: number): Promise<void> {
    const [swap] = await refreshed(this.#server, this.#directory, this.#lists, 1)
    if (swap?.takenMs == null) throw new Error(`the server has not taken the lists of day ${day + 1}`)
    const email = `customer${day}@life.example`
    await this.#run(["account", "create", email])
    await this.#run(["key", "create", "--account", email])
    if (this.#keyId !== null) await this.#run(["key", "revoke", this.#keyId])
    this.#keyId = /\bkey_\w+/.exec(await this.#run(["key", "list", "--account", email]))?.[0] ?? null
    if (this.#keyId === null) throw new Error("a new account lists no key")
  }

  #run(words: readonly string[]): Promise<string> {
    const environment = productSettings(this.#directory)
    return runToEnd({ command: [...PROGRAM, ...words], environment }, "", COMMAND_TIMEOUT_MS)
  }
}

/** The database with what it has not yet taken from its log. */
const storeBytes = (directory: string): number =>
  ["", "-wal"].reduce(
    (sum, end) => sum + (statSync(`${directory}/mailkind.sqlite${end}`, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )

function reportOf(scale: LifeScale, days: readonly Day[], answers: Readonly<Record<string, number>>): Report {
  const [first, second, last] = [days[0], days[1], days.at(-1)]
  if (first === undefined || second === undefined || last === undefined) throw new Error("a life has two days")
  const requests = Object.values(answers).reduce((sum, count) => sum + count, 0)
  const p99 = ({ reports }: Day): number => lowerHalfMean(reports.map(({ latencyMs }) => latencyMs.p99))
  const grownBytes = last.storeBytes - second.storeBytes
  const requestsSince = requests - first.reports.length * scale.requests - second.reports.length * scale.requests
  return {
    bench: "life",
    description: [
      `${days.length} days of ${scale.dayMs / 1000} s each for the server; ${requests} mixed requests over ${scale.connections} connections, which are opened anew after each ${scale.requests}; DNS off`,
      "each day: lists that hold another name, an account, a key, and the key of the day before revoked, with the product's commands",
      `every answer was the one expected; left alone at the end of a day, from ${scale.quietMs / 1000} s on and for as long again: the least that was seen`,
      "a server is warm at the end of the second day, with which the last one is compared",
      CAN_PIN ? "server bound to core 0 (taskset)" : "not bound to cores",
    ],
    figures: [
      figure(
        "memory after the last day ÷ after the second",
        "",
        last.held.residentBytes / second.held.residentBytes,
        "life_memory",
      ),
      figure("memory after the first day", "MB", first.held.residentBytes / 1e6),
      figure("after the second", "MB", second.held.residentBytes / 1e6),
      figure("median of all days", "MB", median(days.map(({ held }) => held.residentBytes)) / 1e6),
      figure("after the last", "MB", last.held.residentBytes / 1e6),
      figure(
        "more descriptors than after the second day",
        "",
        last.held.descriptors - second.held.descriptors,
        "life_descriptors",
      ),
      figure("p99 of the second day", "ms", p99(second)),
      figure("p99 of the last day", "ms", p99(last)),
      figure("requests", "", requests),
      figure("database after the first day", "MB", first.storeBytes / 1e6),
      figure("database after the last day", "MB", last.storeBytes / 1e6),
      figure("it grew, a million requests since the second day", "MB", grownBytes / requestsSince),
    ],
  }
}
