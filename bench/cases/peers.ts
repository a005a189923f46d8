/**
 * What does the product ask, take of the processor and hold beside other programs that do a part of its work? Paths by programs: a check of a
 * listed, a cached and a cold name and a batch by servers, and a list by `classify`, all in turn. A peer that cannot be had is left out, and why.
 */

import { rm } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "bun"
import type { DomainLists } from "../../src/check/domain-lookup.ts"
import { LIMITS } from "../../src/contract/limits.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { type CheckLoad, type CheckRound, checkRound } from "../load/check-rounds.ts"
import { writeMix } from "../mix/files.ts"
import { linesOfKind, type MixKind, ORDINARY, take } from "../mix/mix.ts"
import { costFigure } from "../report/processor-time.ts"
import { type Figure, medianFigure, type Report } from "../report/report.ts"
import { interleaved } from "../report/rounds.ts"
import { HIGH_LIMITS, limitedKey } from "../servers/accounts.ts"
import { askDnsServer, dnsServerCommand } from "../servers/dns-server-control.ts"
import { findPeer, PEER_NAMES, PEER_PATHS, PEERS, type PeerName, type PeerPath, takesPath } from "../servers/peers.ts"
import { statusBytes } from "../servers/process-stats.ts"
import { CHECKOUT, emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "../servers/product.ts"
import { CAN_PIN, type Program, runToEnd, type ServerProcess, startServer } from "../servers/server-process.ts"

/** How much the bench does. A round loads each server on each of its paths for so long, and classifies so many lines by each program. */
export type PeersScale = {
  readonly peers: readonly PeerName[]
  readonly rounds: number
  readonly roundS: number
  /** Answers of each server before its first round on a path, where an answer is a single check; the runtime compiles code that runs often. */
  readonly warmAnswers: number
  /** Checks of cold names a second: what is not kept up with is not measured. */
  readonly coldRate: number
  readonly lines: number
}

/** The scale of a figure that may be told. */
export const PEERS_FULL: PeersScale = {
  peers: PEER_NAMES,
  rounds: 7,
  roundS: 1,
  warmAnswers: 30_000,
  coldRate: 1000,
  lines: 1_000_000,
}

const PRODUCT_NAME = "mailkind"
type Subject = PeerName | typeof PRODUCT_NAME
type ServedPath = Exclude<PeerPath, "lines">

const DNS_DELAY_MS = 20
const CONNECTIONS = { listed: 64, cached: 64, cold: 64, batch: 4 } as const satisfies Record<ServedPath, number>
/**
 * What warms one path as much as an answer of a single check. A batch has many items. The code of a cold name is compiled up to some 20 000 answers:
 * after 6000 an answer costs half as much again.
 */
const WARM_SHARES = { listed: 1, cached: 1, cold: 2 / 3, batch: 1 / 50 } as const satisfies Record<ServedPath, number>
/** A slow peer is warm enough after so many rounds. */
const WARM_ROUNDS_MAX = 20
const ROUND_WARMUP_S = 0.3
const ADDRESSES = 200
const BATCHES = 20
const LINES_TIMEOUT_MS = 600_000
const PRINT_COST = fileURLToPath(import.meta.resolve("../servers/print-cost.ts"))

const PATHS: { readonly [P in PeerPath]: string } = {
  listed: "POST of an address at a throw-away domain",
  cached: `POST of one of ${ADDRESSES} addresses whose domains were asked for before`,
  cold: "POST of an address at a domain that nobody asked for",
  batch: `POST of ${LIMITS.batchItemsMax} such items of ordinary domains that were asked for before`,
  lines: "a text of the realistic mix, from the start of the process to its end, lists alone",
}

/** What a round found of a program: processor time of an answer or a line, and what the process held at its end, or at most. */
type PeerRound = {
  readonly answers: number
  readonly costUs: number
  readonly questions: number
  readonly residentBytes: number
  readonly privateBytes: number
}

/** Runs the bench. Rejects when the product fails, or a peer that was found. */
export async function peersBench(scale: PeersScale, lists: DomainLists): Promise<Report> {
  await using directory = await emptyDirectory()
  const namesFile = join(directory.path, "names")
  await Bun.write(namesFile, [...lists.pack.names()].join("\n"))
  const dnsServer = dnsServerCommand(DNS_DELAY_MS)
  await using dns = await startServer({ command: dnsServer.command, core: "load" })
  await using programs = new AsyncDisposableStack()
  const commands = new Map<Subject, Program["command"]>()
  const missing: string[] = []
  for (const name of scale.peers) {
    const found = await findPeer(name, directory.path, namesFile)
    if (found.kind === "found") commands.set(name, found.command)
    else missing.push(`left out: ${name}, since ${found.why}`)
  }
  const servers = new Map<Subject, ServerProcess>()
  for (const [name, command] of commands) {
    if (PEERS[name as PeerName].paths.every(path => path === "lines")) continue // only peers are in it yet
    const program = {
      command: [...command, "serve", dns.url.host],
      environment: KEEPING_MEMORY,
      core: "server",
    } as const
    servers.set(name, programs.use(await startServer(program)))
  }
  const dataDirectory = await emptyDirectory()
  programs.use(dataDirectory)
  const authorization = `Bearer ${await limitedKey(dataDirectory.path)}`
  const environment = { ...productSettings(dataDirectory.path), ...HIGH_LIMITS, ...KEEPING_MEMORY }
  servers.set(
    PRODUCT_NAME,
    programs.use(
      await startServer({
        command: PRODUCT.source,
        environment: { ...environment, MAILKIND_DNS_SERVERS: dns.url.host },
        core: "server",
      }),
    ),
  )
  commands.set(PRODUCT_NAME, [...CHECKOUT, "classify"])
  const input = join(directory.path, "lines.txt")
  await writeMix(input, "text", scale.lines)
  const bench = new PeersBench(scale, { dns, servers, commands, authorization, input })
  return {
    bench: "peers",
    description: [
      ...PEER_PATHS.map(path => `${path}: ${PATHS[path]}${path === "lines" ? `, ${scale.lines} lines` : ""}`),
      `${PRODUCT_NAME}: secret key of a limited account, full results; the DNS server answers after ${DNS_DELAY_MS} ms; ${dnsServer.description}`,
      ...scale.peers.filter(name => commands.has(name)).map(describePeer),
      ...missing,
      `processor time of the process; ${scale.rounds} rounds of ${scale.roundS} s each, order turned each round; cold: ${scale.coldRate} a second`,
      `before its first round on a path each server gives ${scale.warmAnswers} answers (cold ${Math.round(scale.warmAnswers * WARM_SHARES.cold)}, batch ${Math.round(scale.warmAnswers * WARM_SHARES.batch)}), or as many as it can in ${WARM_ROUNDS_MAX} rounds: code is compiled meanwhile`,
      "resident and private: what the process of a server has at the end of a round; of lines, the most that it ever had resident",
      CAN_PIN ? "programs bound to core 0, load and DNS to core 1 (taskset)" : "not bound to cores",
    ],
    figures: await bench.figures(),
  }
}

const describePeer = (name: PeerName): string =>
  `${name}: ${PEERS[name].description}${PEERS[name].package === null ? "" : ` (${PEERS[name].package})`}`

type PeersBenchDeps = {
  readonly dns: ServerProcess
  readonly servers: ReadonlyMap<Subject, ServerProcess>
  readonly commands: ReadonlyMap<Subject, Program["command"]>
  readonly authorization: string
  readonly input: string
}

class PeersBench {
  readonly #scale: PeersScale
  readonly #deps: PeersBenchDeps
  /** Domains that were asked for so far. */
  #coldCount = 0

  constructor(scale: PeersScale, deps: PeersBenchDeps) {
    this.#scale = scale
    this.#deps = deps
  }

  async figures(): Promise<readonly Figure[]> {
    const { rounds } = this.#scale
    const figures: Figure[] = []
    for (const path of PEER_PATHS) {
      const subjects: Subject[] = [PRODUCT_NAME]
      for (const name of this.#deps.commands.keys())
        if (name !== PRODUCT_NAME && takesPath(name, path)) subjects.push(name)
      if (path !== "lines") for (const name of subjects) await this.#warmUp(name, path)
      const found = await interleaved(subjects, rounds, name =>
        path === "lines" ? this.#lines(name) : this.#served(name, path),
      )
      for (const name of subjects) figures.push(...figuresOf(path, name, found[name]))
    }
    return figures
  }

  async #warmUp(name: Subject, path: ServedPath): Promise<void> {
    let left = this.#scale.warmAnswers * WARM_SHARES[path]
    for (let round = 0; round < WARM_ROUNDS_MAX && left > 0; round++) left -= (await this.#served(name, path)).answers
  }

  async #served(name: Subject, path: ServedPath): Promise<PeerRound> {
    const { servers, dns } = this.#deps
    const server = servers.get(name)
    if (server === undefined) throw new Error(`there is no server of ${name}`)
    const size = { connections: CONNECTIONS[path], durationS: this.#scale.roundS, warmupS: ROUND_WARMUP_S }
    const before = Number(await askDnsServer(dns.url, "count"))
    const round = await checkRound(
      server,
      this.#load(path, size),
      path === "cold" ? { ...size, rate: this.#scale.coldRate } : size,
    )
    const questions = Number(await askDnsServer(dns.url, "count")) - before
    return {
      answers: answersOf(round),
      costUs: round.serverCpuUs,
      questions: questions / answersOf(round),
      residentBytes: statusBytes(server.pid, "VmRSS"),
      privateBytes: statusBytes(server.pid, "RssAnon"),
    }
  }

  #load(path: ServedPath, { durationS, warmupS }: { readonly durationS: number; readonly warmupS: number }): CheckLoad {
    const { authorization } = this.#deps
    const single = { path: ROUTES.postCheck.path, authorization }
    if (path === "batch") {
      const { batchItemsMax } = LIMITS
      const lines = take(linesOfKind(ORDINARY), BATCHES * batchItemsMax)
      const items = (at: number) => lines.slice(at * batchItemsMax, (at + 1) * batchItemsMax)
      const bodies = Array.from({ length: BATCHES }, (_, at) => JSON.stringify({ items: items(at) }))
      return { path: ROUTES.postBatch.path, authorization, bodies }
    }
    if (path === "cold") {
      // Twice as many as are due, since each connection takes its own part of them; a round that is run again is longer.
      const count = Math.ceil(2 * this.#scale.coldRate * (durationS + warmupS)) + CONNECTIONS.cold
      const start = this.#coldCount
      this.#coldCount += count
      return {
        ...single,
        bodies: bodiesOf(Array.from({ length: count }, (_, at) => `jane@suite-quay${start + at}.com`)),
      }
    }
    const kind: MixKind | typeof ORDINARY = path === "listed" ? "disposable" : ORDINARY
    return { ...single, bodies: bodiesOf(take(linesOfKind(kind), ADDRESSES)) }
  }

  async #lines(name: Subject): Promise<PeerRound> {
    const { commands, input } = this.#deps
    const out = `${input}.out`
    const [program = process.execPath, ...words] = commands.get(name) ?? []
    const task = name === PRODUCT_NAME ? [input, "--offline", "--jobs", "1", "--out", out] : ["lines", input, out]
    const command = [program, "--preload", PRINT_COST, ...words, ...task] as const
    const reply = await runToEnd({ command, core: "server" }, "", LINES_TIMEOUT_MS)
    const { cpuMs, peakBytes } = JSON.parse(reply.trimEnd().split("\n").at(-1) ?? "")
    const lines = (await Bun.file(out).text()).split("\n").length - 1
    await rm(out)
    if (lines < this.#scale.lines) throw new Error(`${this.#scale.lines} lines, but ${lines} results of ${name}`)
    return {
      ...{ answers: lines, costUs: (cpuMs * 1000) / this.#scale.lines, questions: 0 },
      // JSON has no NaN, which is what a system that does not tell gives.
      ...{ residentBytes: peakBytes ?? Number.NaN, privateBytes: Number.NaN },
    }
  }
}

const bodiesOf = (emails: readonly string[]): readonly string[] => emails.map(email => JSON.stringify({ email }))

const answersOf = ({ answers, warmupAnswers }: CheckRound): number => answers + warmupAnswers

function figuresOf(path: PeerPath, name: Subject, rounds: readonly PeerRound[]): readonly Figure[] {
  const row = `${path}, ${name}`
  const megabytes = (key: "residentBytes" | "privateBytes") => rounds.map(round => round[key] / 1e6)
  const costs = rounds.map(({ costUs }) => costUs)
  const resident = medianFigure(`${row}: resident`, "MB", megabytes("residentBytes"))
  if (path === "lines") return [costFigure(`${row}: processor time`, "µs/line", costs), resident]
  const asked = rounds.map(({ questions }) => questions)
  return [
    costFigure(`${row}: processor time`, "µs/answer", costs),
    ...(path === "cold" || name === PRODUCT_NAME ? [medianFigure(`${row}: questions`, "", asked)] : []),
    resident,
    medianFigure(`${row}: private`, "MB", megabytes("privateBytes")),
  ]
}
