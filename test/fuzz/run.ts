import { median } from "../../bench/report/rounds.ts"
import { descriptorsOf, statusBytes } from "../../bench/servers/process-stats.ts"
import type { ROUTES } from "../../src/contract/routes.ts"
import { freePort } from "../support/free-port.ts"
import { keysDocument, type Signer } from "../support/leak-reporter.ts"
import { askLoopback } from "../support/loopback.ts"
import { TestServer } from "../support/test-server.ts"
import { Dice } from "./dice.ts"
import { Lane, type Outcome } from "./exchange.ts"
import { ADMIN, type Callers, fuzzCallers, fuzzReporter } from "./fuzz-callers.ts"
import { wrongInLog, wrongWith } from "./judge.ts"
import { type FuzzRequest, fuzzRequest } from "./requests.ts"

/** How much is asked. */
export type FuzzScale = {
  readonly requests: number
  readonly seed: number
  readonly connections: number
  /** The number of the first one: what `--from` replays. */
  readonly from: number
}

/** One request that was answered as none may be. */
export type Wrong = { readonly number: number; readonly description: string; readonly request: FuzzRequest }

/** What a run found. */
export type FuzzReport = {
  readonly requests: number
  readonly elapsedS: number
  /** How often each status came, and each end of a connection. */
  readonly answers: Readonly<Record<string, number>>
  /** How many requests of each route had an answer that refuses nothing: a run that only is refused shows little. */
  readonly served: { readonly [R in keyof typeof ROUTES]?: number }
  readonly wrong: readonly Wrong[]
  readonly inLog: readonly string[]
  /** The greatest delay of the server's event loop within each second, in milliseconds. */
  readonly lagsMs: readonly number[]
  /** Resident memory in the fourth tenth of the requests, and in the last. */
  readonly earlyBytes: number
  readonly lateBytes: number
  readonly descriptorsBefore: number
  readonly descriptorsAfter: number
  readonly exitCode: number
}

/** So many are told; a server that is broken would tell all. */
const WRONG_MAX = 20
/** Memory is looked at this often, and told as the median of a tenth: the garbage collector makes it swing by a tenth or two. */
const LOOKS = 100
/** Before the fourth tenth a server still warms up: its caches fill, its code is compiled, its heap finds its size. */
const EARLY = [0.3, 0.4] as const
const LATE = [0.9, 1] as const
/** A run signs out, and has its sessions renewed after so many requests. */
const RENEW_EVERY = 20_000

/** The keys of the reporter, over a connection that ends: it must not be taken for one that a caller has left. */
const published = (reporter: Signer): Response =>
  new Response(keysDocument(reporter), { headers: { Connection: "close" } })

/** Starts a server, asks it all of that, and stops it. `told` hears how far it is. */
export async function fuzz(scale: FuzzScale, facts: (done: number) => void = () => undefined): Promise<FuzzReport> {
  const reporter = fuzzReporter()
  const metricsPort = freePort()
  using keys = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => published(reporter) })
  await using victim = new TestServer({
    settings: {
      MAILKIND_SECRET_SCANNING_KEYS_URL: keys.url.href,
      MAILKIND_TRUSTED_PROXIES: "127.0.0.1",
      MAILKIND_TIERS: "0=1000/1000/1000000000",
      MAILKIND_FREE_CHECKS_PER_DAY: "1000000000",
      MAILKIND_ADMINS: ADMIN,
      MAILKIND_METRICS: `127.0.0.1:${metricsPort}`,
    },
  })
  await victim.start()
  const callers = await fuzzCallers(victim, reporter)
  const descriptorsBefore = descriptorsOf(victim.pid).sockets
  const run = new Run(scale, callers, victim, facts)
  const startedAt = performance.now()
  const lagsMs: number[] = []
  const looking = setInterval(async () => lagsMs.push(await readLagMs(metricsPort)), LAG_LOOK_MS)
  await run.all().finally(() => clearInterval(looking))
  const elapsedS = (performance.now() - startedAt) / 1000
  const descriptorsAfter = await settledSockets(victim, descriptorsBefore)
  const exitCode = await victim.stop()
  const { answers, served, wrong } = run
  const memory = { earlyBytes: run.memoryBytes(EARLY), lateBytes: run.memoryBytes(LATE) }
  const ends = { ...memory, descriptorsBefore, descriptorsAfter, exitCode }
  return {
    requests: scale.requests,
    elapsedS,
    answers,
    served,
    wrong,
    inLog: wrongInLog(victim.log).slice(0, WRONG_MAX),
    lagsMs,
    ...ends,
  }
}

/** The gauge has the greatest delay of the last second. */
export const LAG_LOOK_MS = 1000
const LAG = /^mailkind_event_loop_lag_seconds(?:\{[^}]*\})? (\S+)$/m

export async function readLagMs(port: number): Promise<number> {
  const { body } = await askLoopback(`http://127.0.0.1:${port}/metrics`)
  return Number(LAG.exec(body)?.[1] ?? Number.NaN) * 1000
}

const GONE_MS_MAX = 5000

/** How many connections the server has when it has learnt which are gone, or after a while. */
async function settledSockets({ pid }: TestServer, wanted: number): Promise<number> {
  const until = performance.now() + GONE_MS_MAX
  while (descriptorsOf(pid).sockets > wanted && performance.now() < until)
    await new Promise(resolve => setImmediate(resolve))
  return descriptorsOf(pid).sockets
}

class Run {
  readonly answers: Record<string, number> = {}
  readonly served: Partial<Record<string, number>> = {}
  readonly wrong: Wrong[] = []
  readonly #scale: FuzzScale
  readonly #callers: Callers
  readonly #victim: TestServer
  readonly #told: (done: number) => void
  readonly #memoryBytes: number[] = []
  #next = 0
  #renewing = Promise.resolve()

  constructor(scale: FuzzScale, callers: Callers, victim: TestServer, facts: (done: number) => void) {
    this.#scale = scale
    this.#callers = callers
    this.#victim = victim
    this.#told = facts
  }

  async all(): Promise<void> {
    await Promise.all(Array.from({ length: this.#scale.connections }, () => this.#lane()))
  }

  /** The median of resident memory between two parts of the run. */
  memoryBytes([from, to]: readonly [number, number]): number {
    const { length } = this.#memoryBytes
    return median(this.#memoryBytes.slice(Math.floor(length * from), Math.ceil(length * to)))
  }

  async #lane(): Promise<void> {
    const lane = new Lane(this.#victim.port)
    const host = `127.0.0.1:${this.#victim.port}`
    const { requests, seed, from } = this.#scale
    while (this.#next < requests && this.wrong.length < WRONG_MAX) {
      const at = this.#next++
      await this.#milestone(at)
      const number = from + at
      const dice = new Dice(seed, number)
      const request = fuzzRequest(dice, this.#callers, host)
      // Every tenth request comes over a connection that is new.
      if (number % 10 === 0) lane.close()
      const outcome = await lane.ask(request).catch((fault: unknown) => {
        throw new Error(`request ${number}: ${fault}`, { cause: fault })
      })
      this.#count(number, request, outcome)
    }
    lane.close()
  }

  async #milestone(at: number): Promise<void> {
    const { requests } = this.#scale
    if (at >= (this.#memoryBytes.length * requests) / LOOKS)
      this.#memoryBytes.push(statusBytes(this.#victim.pid, "VmRSS"))
    if (at > 0 && at % RENEW_EVERY === 0) {
      this.#told(at)
      this.#renewing = this.#callers.renew()
    }
    await this.#renewing
  }

  #count(number: number, request: FuzzRequest, outcome: Outcome): void {
    const name = typeof outcome === "string" ? outcome : String(outcome.status)
    this.answers[name] = (this.answers[name] ?? 0) + 1
    if (typeof outcome === "object" && outcome.status < 400)
      this.served[request.route] = (this.served[request.route] ?? 0) + 1
    const description = wrongWith(request, outcome)
    if (description !== null) this.wrong.push({ number, description, request })
  }
}
