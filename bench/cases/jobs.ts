/**
 * How fast does a server check a whole list, beside `classify` of the same file, what does it hold meanwhile, and what do live
 * requests notice of the lists of others?
 */

import { rm } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "bun"
import type { JobState } from "../../src/contract/jobs.ts"
import type { JobBody } from "../../src/contract/jobs-schema.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { type CheckLoad, type CheckRound, checkAnswers, checkRound, p99 } from "../load/check-rounds.ts"
import { seeded } from "../load/seeded-random.ts"
import { writeLines, writeMix } from "../mix/files.ts"
import { linesOfKind, ORDINARY, take } from "../mix/mix.ts"
import { costFigure, costRatioFigure } from "../report/processor-time.ts"
import { figure, medianFigure, type Report } from "../report/report.ts"
import { interleaved, ratios } from "../report/rounds.ts"
import { HIGH_LIMITS, limitedKey, limitedKeys } from "../servers/accounts.ts"
import { askDnsServer } from "../servers/dns-server-control.ts"
import { CHECKOUT, emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "../servers/product.ts"
import { residentLooks, restingBytes } from "../servers/resting-memory.ts"
import { CAN_PIN, runMeasured, type ServerProcess, startServer } from "../servers/server-process.ts"

/** How much the bench does. A round checks one list with names of its own by the server and by `classify`. */
export type JobsScale = {
  readonly rounds: number
  readonly rows: number
  readonly domains: number
  /** How long the server is left alone before the first list, to see what it holds. */
  readonly quietMs: number
  /** Accounts that have a list checked beside live requests, and its rows: enough for a round. */
  readonly lists: number
  readonly listRows: number
  readonly liveRounds: number
  readonly liveS: number
  /** Live requests a second. */
  readonly liveRate: number
}

/** The scale of a figure that may be told. */
export const JOBS_FULL: JobsScale = {
  rounds: 1,
  rows: 1_000_000,
  domains: 300_000,
  quietMs: 5000,
  lists: 10,
  listRows: 300_000,
  liveRounds: 7,
  liveS: 6,
  liveRate: 300,
}

const DNS_SERVER = fileURLToPath(import.meta.resolve("../servers/dns-server.ts"))
const DNS_DELAY_MS = 20
const LIST_TIMEOUT_MS = 1_800_000
const POLL_MS = 100
const LIVE_CONNECTIONS = 16
const LIVE_ADDRESSES = 200

/** Runs the bench. Rejects when a list is not checked to its end, its results are not those of `classify`, or a live request fails. */
export async function jobsBench(scale: JobsScale): Promise<Report> {
  await using dns = await startServer({
    command: [process.execPath, DNS_SERVER, "--delay-ms", String(DNS_DELAY_MS)],
    core: "load",
  })
  const list = await wholeLists(scale, dns)
  const live = { "with DNS": await liveRounds(scale, dns.url.host), "DNS off": await liveRounds(scale, "off") }
  return reportOf(scale, list, live)
}

/** A list, checked by the server or by `classify`. */
type ListRun = { readonly ms: number; readonly cpuMs: number; readonly questions: number; readonly peakBytes: number }

type ListRuns = {
  readonly runs: Readonly<Record<"server" | "classify", readonly ListRun[]>>
  readonly idleBytes: number
}

async function wholeLists(scale: JobsScale, dns: ServerProcess): Promise<ListRuns> {
  await using directory = await emptyDirectory()
  const key = await limitedKey(directory.path)
  const environment = { ...productSettings(directory.path), ...HIGH_LIMITS, MAILKIND_DNS_SERVERS: dns.url.host }
  await using server = await startServer({
    command: PRODUCT.source,
    environment: { ...environment, ...KEEPING_MEMORY },
    core: "server",
  })
  const idleBytes = await restingBytes(server, scale.quietMs)
  const counted = async (work: () => Promise<Omit<ListRun, "questions">>): Promise<ListRun> => {
    const before = Number(await askDnsServer(dns.url, "count"))
    const run = await work()
    return { ...run, questions: Number(await askDnsServer(dns.url, "count")) - before }
  }
  const found: Record<"server" | "classify", ListRun[]> = { server: [], classify: [] }
  for (let round = 0; round < scale.rounds; round++) {
    const input = join(directory.path, "list.csv")
    const [byServer, byClassify] = [join(directory.path, "of-server.csv"), join(directory.path, "of-classify.csv")]
    await writeLines(input, "csv", scale.rows, listOf(scale, round))
    const runs = {
      server: () => counted(() => checkedByServer(server, key, input, byServer, scale.rows)),
      classify: () => counted(() => checkedByClassify(environment, input, byClassify)),
    }
    const order = round % 2 === 0 ? (["server", "classify"] as const) : (["classify", "server"] as const)
    for (const subject of order) found[subject].push(await runs[subject]())
    await expectSame(byServer, byClassify)
  }
  return { runs: found, idleBytes }
}

/** Addresses in which each domain comes up early or late, and the early ones recur, as in lists of customers. */
function* listOf({ rows, domains }: JobsScale, round: number): Generator<string, never> {
  const random = seeded(round + 1)
  for (let row = 0, seen = 0; ; row++) {
    const isNew = seen * rows <= row * domains
    const at = isNew ? seen++ : Math.floor(random() ** 3 * seen)
    // Half of the domains have a known provider's mail hosts, which are not asked about.
    yield `person${row}@${at % 2 === 0 ? "suite-" : ""}quay${at}-freight${round}.com`
  }
}

async function checkedByServer(
  server: ServerProcess,
  key: string,
  input: string,
  out: string,
  rows: number,
): Promise<Omit<ListRun, "questions">> {
  const lists = new Lists(server, key)
  const startedAt = performance.now()
  const cpuBeforeMs = server.cpuMs()
  const looks = await residentLooks(server, async () => {
    const id = await lists.upload(input)
    const { state, reason, rows: counted } = await lists.once(id, "ended")
    if (state !== "done" || counted.done !== rows) throw new Error(`the list is ${state}: ${reason}`)
    await lists.download(id, out)
    await lists.delete(id)
  })
  const cpuMs = server.cpuMs() - cpuBeforeMs
  return { ms: performance.now() - startedAt, cpuMs, peakBytes: Math.max(...looks) }
}

async function checkedByClassify(
  environment: Readonly<Record<string, string>>,
  input: string,
  out: string,
): Promise<Omit<ListRun, "questions">> {
  await rm(out, { force: true })
  const startedAt = performance.now()
  const { cpuMs, peakBytes } = await runMeasured(
    { command: [...CHECKOUT, "classify", input, "--jobs", "1", "--out", out], environment, core: "server" },
    LIST_TIMEOUT_MS,
  )
  return { ms: performance.now() - startedAt, cpuMs, peakBytes }
}

/** The lists of an account at a server. */
class Lists {
  readonly #server: ServerProcess
  readonly #key: string

  constructor(server: ServerProcess, key: string) {
    this.#server = server
    this.#key = key
  }

  async upload(file: string): Promise<string> {
    const response = await this.#send("POST", `${ROUTES.postJob.path}?format=csv&workspace=false`, Bun.file(file))
    const { id } = (await response.json()) as JobBody // the contract says so
    return id
  }

  /** The list as soon as its check has begun, or has ended. */
  async once(id: string, moment: "begun" | "ended"): Promise<JobBody> {
    const waiting: readonly JobState[] = moment === "begun" ? ["queued"] : ["queued", "running"]
    const endsAt = performance.now() + LIST_TIMEOUT_MS
    while (performance.now() < endsAt) {
      const response = await this.#send("GET", ROUTES.getJob.path.replace(":id", id))
      const job = (await response.json()) as JobBody // the contract says so
      if (!waiting.includes(job.state)) return job
      await Bun.sleep(POLL_MS)
    }
    throw new Error(`a list has not ${moment} in time`)
  }

  async download(id: string, out: string): Promise<void> {
    await Bun.write(out, await this.#send("GET", ROUTES.getJobResults.path.replace(":id", id)))
  }

  async delete(id: string): Promise<void> {
    await this.#send("DELETE", ROUTES.deleteJob.path.replace(":id", id))
  }

  async #send(method: string, path: string, body: Blob | null = null): Promise<Response> {
    const headers = { Authorization: `Bearer ${this.#key}` }
    const response = await Bun.fetch(new URL(path, this.#server.url), { method, headers, body })
    if (!response.ok) throw new Error(`${method} of a list: ${response.status} ${await response.text()}`)
    return response
  }
}

async function expectSame(one: string, other: string): Promise<void> {
  const compared = await Bun.$`cmp ${one} ${other}`.nothrow().quiet()
  if (compared.exitCode !== 0) throw new Error(`the server's results differ from those of classify: ${compared.stdout}`)
}

type LiveRounds = Readonly<Record<"alone" | "beside", readonly CheckRound[]>>

/** Rounds of live requests at a steady rate, alone and while lists of other accounts are checked. */
async function liveRounds(scale: JobsScale, dnsServers: string): Promise<LiveRounds> {
  await using directory = await emptyDirectory()
  const authorization = `Bearer ${await limitedKey(directory.path)}`
  const keys = await limitedKeys(directory.path, scale.lists)
  await using server = await startServer({
    command: PRODUCT.source,
    environment: {
      ...productSettings(directory.path),
      ...HIGH_LIMITS,
      ...KEEPING_MEMORY,
      MAILKIND_DNS_SERVERS: dnsServers,
    },
    core: "server",
  })
  const list = join(directory.path, "list.csv")
  await writeMix(list, "csv", scale.listRows)
  const load: CheckLoad = {
    path: ROUTES.postCheck.path,
    authorization,
    bodies: take(linesOfKind(ORDINARY), LIVE_ADDRESSES).map(email => JSON.stringify({ email })),
  }
  await checkAnswers(server, load)
  const measure = () =>
    checkRound(server, load, {
      connections: LIVE_CONNECTIONS,
      durationS: scale.liveS,
      warmupS: 1,
      rate: scale.liveRate,
    })
  await measure()
  return await interleaved(["alone", "beside"], scale.liveRounds, async name =>
    name === "alone" ? await measure() : await besideLists(server, keys, list, measure),
  )
}

/** What is measured while each of these accounts has the list checked. */
async function besideLists<T>(
  server: ServerProcess,
  keys: readonly string[],
  list: string,
  measure: () => Promise<T>,
): Promise<T> {
  const accounts = keys.map(key => new Lists(server, key))
  const ids = await Promise.all(accounts.map(lists => lists.upload(list)))
  await Promise.any(accounts.map((lists, at) => lists.once(ids[at] ?? "", "begun")))
  const found = await measure()
  await Promise.all(accounts.map((lists, at) => lists.delete(ids[at] ?? "")))
  return found
}

function reportOf(
  scale: JobsScale,
  { runs: { server, classify }, idleBytes }: ListRuns,
  live: Readonly<Record<string, LiveRounds>>,
): Report {
  const costOf = (runs: readonly ListRun[]) => runs.map(({ cpuMs }) => (cpuMs * 1000) / scale.rows)
  const perSecond = (runs: readonly ListRun[]) => runs.map(({ ms }) => (scale.rows / ms) * 1000)
  const questions = (runs: readonly ListRun[]) => runs.map(run => run.questions / scale.domains)
  const above = (runs: readonly ListRun[]) => runs.map(({ peakBytes }) => (peakBytes - idleBytes) / 1e6)
  return {
    bench: "jobs",
    description: [
      `a CSV list of ${scale.rows} rows at ${scale.domains} domains, which no list before had; half have mail hosts of their own; a DNS server that answers after ${DNS_DELAY_MS} ms`,
      "server: POST /v1/jobs, until its results are downloaded and it is deleted; classify: the same file, --jobs 1, its start included; both give the same bytes",
      `${scale.rounds} rounds of each, order turned each round; ${CAN_PIN ? "each bound to core 0 (taskset), the DNS server to core 1" : "not bound to cores"}`,
      "memory: the most that is seen in looks each tenth of a second, above what the server holds before its first list",
      `live: ${scale.liveRate} checks a second, ${scale.liveRounds} rounds of ${scale.liveS} s, alone and while ${scale.lists} other accounts have a list of ${scale.listRows} rows of the realistic mix checked`,
    ],
    figures: [
      costRatioFigure("classify ÷ server, processor time", costOf(classify), costOf(server), "jobs_rows"),
      costFigure("server, processor time", "µs/row", costOf(server)),
      costFigure("classify, processor time", "µs/row", costOf(classify)),
      medianFigure("server ÷ classify, by the clock", "", ratios(perSecond(server), perSecond(classify))),
      medianFigure("server", "rows/s", perSecond(server)),
      medianFigure("classify", "rows/s", perSecond(classify)),
      medianFigure("server, questions", "a domain", questions(server)),
      medianFigure("classify, questions", "a domain", questions(classify)),
      figure("the server when nobody asks", "MB", idleBytes / 1e6),
      medianFigure("server, most memory above that", "MB", above(server), "jobs_memory"),
      ...Object.entries(live).flatMap(([name, { alone, beside }]) => [
        medianFigure(`live p99 beside lists ÷ alone, ${name}`, "", ratios(p99(beside), p99(alone)), "jobs_live"),
        medianFigure(`live p99 alone, ${name}`, "ms", p99(alone)),
        medianFigure(`live p99 beside lists, ${name}`, "ms", p99(beside)),
      ]),
    ],
  }
}
