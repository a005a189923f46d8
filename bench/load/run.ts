import { type Course, Lane } from "./lane.ts"
import { type Failure, Tally } from "./tally.ts"

/** What a run does. */
export type Load = {
  readonly hostname: string
  readonly port: number
  /** Whole requests; each connection starts at another one and sends them in turn. */
  readonly requests: readonly Uint8Array[]
  readonly connections: number
  /** Time before the measured one, with the same load; its requests are not counted. */
  readonly warmupMs: number
  /** No request is sent after this long. */
  readonly durationMs: number
  /** No more than this many requests are counted; null: only the time bounds the run. */
  readonly requestsMax: number | null
}

/** What a run found. */
export type LoadReport = {
  readonly connections: number
  /** From the first counted request until the last answer was there, or no longer waited for. */
  readonly elapsedMs: number
  readonly answers: number
  /** Answers to requests of the warm-up, which count nowhere else. */
  readonly warmupAnswers: number
  readonly answersPerSecond: number
  /** Mean length of a body. */
  readonly bodyBytes: number
  readonly latencyMs: { readonly [P in Percentile]: number }
  readonly byStatus: Readonly<Record<string, number>>
  readonly failures: Readonly<Record<Failure, number>>
  /** CPU time of this program, as a share of one core. Near 1, the load was the limit and not the server. */
  readonly cpuShare: number
}

/** As shares. */
const PERCENTILES = { p50: 0.5, p90: 0.9, p99: 0.99, p99_9: 0.999, max: 1 } as const
type Percentile = keyof typeof PERCENTILES

/** How long answers are waited for when no more requests are sent. */
const DRAIN_MS = 1000
/** How often a run opens closed connections again before it leaves them closed. */
const REOPENS_MAX = 10_000

/**
 * Sends a load and counts the answers. Rejects when a connection cannot be opened at the start; what fails later is
 * counted. It takes `warmupMs`, `durationMs` and one second at most.
 */
export async function runLoad(load: Load): Promise<LoadReport> {
  const run = new Run(load)
  await run.open()
  return await run.measure()
}

class Run {
  readonly #load: Load
  readonly #tally = new Tally()
  readonly #lanes: readonly Lane[]
  readonly #busy = new Set<Lane>()
  readonly #turns: number[]
  readonly #done = Promise.withResolvers<void>()
  /** Requests sent before this moment belong to the warm-up. */
  #countedFrom = Number.POSITIVE_INFINITY
  #counted = 0
  #warmupAnswers = 0
  #isOver = false
  #reopened = 0

  constructor(load: Load) {
    this.#load = load
    const { connections, requests } = load
    const course: Course = {
      next: number => this.#next(number),
      answered: (status, bodyBytes, sentAt, at) => {
        if (sentAt >= this.#countedFrom) this.#tally.answered(status, bodyBytes, at - sentAt)
        else this.#warmupAnswers++
      },
      failed: (failure, sentAt) => {
        if (sentAt >= this.#countedFrom) this.#tally.failures[failure]++
      },
      gone: lane => void this.#reopen(lane),
      finished: lane => this.#finish(lane),
    }
    this.#lanes = Array.from({ length: connections }, (_, number) => new Lane(number, course))
    this.#turns = this.#lanes.map((_, number) => Math.floor((number * requests.length) / connections))
  }

  /** Opens every connection, and closes them all again when one cannot be opened. */
  async open(): Promise<void> {
    const { hostname, port } = this.#load
    const opened = await Promise.allSettled(this.#lanes.map(lane => lane.open(hostname, port)))
    const refused = opened.find(result => result.status === "rejected")
    if (refused === undefined) return
    this.#stop()
    throw new Error(`${hostname} port ${port} refused a connection`, { cause: refused.reason })
  }

  async measure(): Promise<LoadReport> {
    const { warmupMs, durationMs } = this.#load
    for (const lane of this.#lanes) this.#busy.add(lane)
    if (warmupMs === 0) this.#countedFrom = performance.now()
    for (const lane of this.#lanes) lane.go(performance.now())
    if (warmupMs > 0) await Bun.sleep(warmupMs)
    const startedAt = warmupMs === 0 ? this.#countedFrom : performance.now()
    this.#countedFrom = startedAt
    const cpuBefore = process.cpuUsage()
    await this.#doneWithin(durationMs)
    this.#isOver = true
    await this.#doneWithin(DRAIN_MS)
    const elapsedMs = performance.now() - startedAt
    const cpu = process.cpuUsage(cpuBefore)
    this.#stop()
    return this.#report(elapsedMs, (cpu.user + cpu.system) / 1000 / elapsedMs)
  }

  #next(number: number): Uint8Array | null {
    const { requests, requestsMax } = this.#load
    if (this.#isOver) return null
    if (this.#countedFrom !== Number.POSITIVE_INFINITY && requestsMax !== null && this.#counted++ >= requestsMax)
      return null
    const turn = this.#turns[number] ?? 0
    this.#turns[number] = turn + 1 === requests.length ? 0 : turn + 1
    return requests[turn] ?? null
  }

  async #reopen(lane: Lane): Promise<void> {
    if (!this.#busy.has(lane)) return
    if (this.#isOver || this.#reopened++ >= REOPENS_MAX) return this.#finish(lane)
    try {
      await lane.open(this.#load.hostname, this.#load.port)
    } catch (refusal) {
      if (!(refusal instanceof Error)) throw refusal
      this.#tally.failures.refused++
      return this.#finish(lane)
    }
    lane.go(performance.now())
  }

  #finish(lane: Lane): void {
    this.#busy.delete(lane)
    if (this.#busy.size === 0) this.#done.resolve()
  }

  async #doneWithin(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    await Promise.race([this.#done.promise, promise])
    clearTimeout(timer)
  }

  #stop(): void {
    this.#isOver = true
    for (const lane of this.#lanes) lane.stop()
  }

  #report(elapsedMs: number, cpuShare: number): LoadReport {
    const { latency, failures, bodyBytes } = this.#tally
    const shares = Object.entries(PERCENTILES).map(([name, share]) => [name, latency.percentile(share) / 1000])
    return {
      connections: this.#load.connections,
      elapsedMs,
      answers: latency.count,
      warmupAnswers: this.#warmupAnswers,
      answersPerSecond: (latency.count / elapsedMs) * 1000,
      bodyBytes: latency.count === 0 ? 0 : bodyBytes / latency.count,
      latencyMs: Object.fromEntries(shares) as LoadReport["latencyMs"], // the keys are those of PERCENTILES
      byStatus: this.#tally.byStatus(),
      failures,
      cpuShare,
    }
  }
}
