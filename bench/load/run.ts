import type { AnswerReader } from "./answer-reader.ts"
import { Connection, type ConnectionEvents } from "./connection.ts"
import type { Histogram } from "./histogram.ts"
import { OpenLoop, type Pace } from "./open-loop.ts"
import type { Endpoint } from "./request-bytes.ts"
import { type Failure, Tally } from "./tally.ts"

/** What a run does. */
export type Load = {
  readonly endpoint: Endpoint
  /** Whole requests; each connection starts at another one and sends them in turn. */
  readonly requests: readonly Uint8Array[]
  readonly connections: number
  /** Null: each connection sends its next request when it has its answer (closed loop). */
  readonly pace: Pace | null
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
  /** Requests that were due each second; null: as many as were answered. */
  readonly rate: number | null
  /** From the first counted request until the last answer was there, or no longer waited for. */
  readonly elapsedMs: number
  readonly answers: number
  /** Answers to requests of the warm-up, which count nowhere else. */
  readonly warmupAnswers: number
  readonly answersPerSecond: number
  /** Mean length of a body. */
  readonly bodyBytes: number
  /** From when a request was sent, or with a rate from when it should have been, until its answer was whole. */
  readonly latencyMs: Latency
  /** How much of that is this program's own: how long after its moment a request left that had a free connection. */
  readonly lateMs: Latency | null
  readonly byStatus: Readonly<Record<string, number>>
  /** Answers by status and `code` of their problem body: `429 rate_limited`. */
  readonly byProblem: Readonly<Record<string, number>>
  readonly failures: Readonly<Record<Failure, number>>
  /** CPU time of this program, as a share of one core. Near 1 without a rate, the load was the limit and not the server. */
  readonly cpuShare: number
}

/** As shares. */
const PERCENTILES = { p50: 0.5, p90: 0.9, p99: 0.99, p99_9: 0.999, max: 1 } as const
type Latency = { readonly [P in keyof typeof PERCENTILES]: number }

/** How long answers are waited for when no more requests are sent. */
const DRAIN_MS = 1000
/** How often a run opens connections again that were closed without a word, before it leaves them closed. */
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
  readonly #openLoop: OpenLoop | null
  readonly #lanes: readonly Connection[]
  readonly #busy = new Set<Connection>()
  readonly #turns: number[]
  readonly #done = Promise.withResolvers<void>()
  /** Requests sent, or due, before this moment belong to the warm-up. */
  #countedFrom = Number.POSITIVE_INFINITY
  #counted = 0
  #warmupAnswers = 0
  #isOver = false
  #reopened = 0

  constructor(load: Load) {
    this.#load = load
    const { connections, requests, pace } = load
    const course: ConnectionEvents = {
      free: (lane, now) => this.#free(lane, now),
      answered: (reader, since, at) => this.#answered(reader, since, at),
      failed: (failure, since) => this.#failed(failure, since),
      gone: (lane, wasTold) => void this.#reopen(lane, wasTold),
    }
    const sinks = {
      send: (lane: Connection, dueAt: number) => this.#send(lane, dueAt),
      givenUp: (dueAt: number) => this.#failed("skipped", dueAt),
    }
    this.#openLoop = pace === null ? null : new OpenLoop(pace, connections, sinks)
    this.#lanes = Array.from({ length: connections }, (_, number) => new Connection(number, course))
    this.#turns = this.#lanes.map((_, number) => Math.floor((number * requests.length) / connections))
  }

  /** Opens every connection, and closes them all again when one cannot be opened. */
  async open(): Promise<void> {
    const opened = await Promise.allSettled(this.#lanes.map(lane => lane.open(this.#load.endpoint)))
    const refused = opened.find(result => result.status === "rejected")
    if (refused === undefined) return
    this.#stop()
    const { hostname, port } = this.#load.endpoint
    const cause = refused.reason instanceof Error ? `: ${refused.reason.message}` : ""
    throw new Error(`${hostname} port ${port} refused a connection${cause}`)
  }

  async measure(): Promise<LoadReport> {
    const { warmupMs, durationMs } = this.#load
    for (const lane of this.#lanes) this.#busy.add(lane)
    const beganAt = performance.now()
    this.#openLoop?.start(beganAt)
    if (warmupMs === 0) this.#countFrom(beganAt)
    for (const lane of this.#lanes) if (this.#busy.has(lane)) this.#begin(lane)
    if (warmupMs > 0) {
      await Bun.sleep(warmupMs)
      this.#countFrom(performance.now())
    }
    const startedAt = this.#countedFrom
    const cpuBefore = process.cpuUsage()
    await this.#doneWithin(durationMs)
    this.#end()
    await this.#doneWithin(DRAIN_MS)
    const elapsedMs = performance.now() - startedAt
    const cpu = process.cpuUsage(cpuBefore)
    this.#stop()
    return this.#report(elapsedMs, (cpu.user + cpu.system) / 1000 / elapsedMs)
  }

  #countFrom(now: number): void {
    this.#countedFrom = now
    this.#openLoop?.count(now)
  }

  #begin(lane: Connection): void {
    if (lane.isFree) this.#free(lane, performance.now())
    else void this.#reopen(lane, false)
  }

  #free(lane: Connection, now: number): void {
    if (this.#isOver) this.#finish(lane)
    else if (this.#openLoop === null) this.#send(lane, now)
    else this.#openLoop.free(lane, now)
  }

  #send(lane: Connection, since: number): void {
    const { requests, requestsMax } = this.#load
    if (requestsMax !== null && since >= this.#countedFrom && this.#counted++ >= requestsMax) {
      this.#isOver = true
      this.#finish(lane)
      for (const resting of this.#openLoop?.end(since).resting ?? []) this.#finish(resting)
      return
    }
    const turn = this.#turns[lane.number] ?? 0
    this.#turns[lane.number] = turn + 1 === requests.length ? 0 : turn + 1
    lane.send(requests[turn] ?? NOTHING, since)
  }

  #answered(reader: AnswerReader, since: number, at: number): void {
    if (since < this.#countedFrom) this.#warmupAnswers++
    else this.#tally.answered(reader, at - since)
  }

  #failed(failure: Failure, since: number): void {
    if (since >= this.#countedFrom) this.#tally.failures[failure]++
  }

  async #reopen(lane: Connection, wasTold: boolean): Promise<void> {
    if (!this.#busy.has(lane)) return
    if (this.#isOver || (!wasTold && this.#reopened++ >= REOPENS_MAX)) return this.#finish(lane)
    try {
      await lane.open(this.#load.endpoint)
    } catch (refusal) {
      if (!(refusal instanceof Error)) throw refusal
      this.#tally.failures.refused++
      return this.#finish(lane)
    }
    this.#free(lane, performance.now())
  }

  #finish(lane: Connection): void {
    this.#busy.delete(lane)
    if (this.#busy.size === 0) this.#done.resolve()
  }

  /** The time is over: what still waits is not sent any more, and says so. */
  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    const left = this.#openLoop?.end(performance.now())
    for (const dueAt of left?.waiting ?? []) this.#failed("unsent", dueAt)
    for (const lane of left?.resting ?? []) this.#finish(lane)
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
    return {
      connections: this.#load.connections,
      rate: this.#load.pace?.perSecond ?? null,
      elapsedMs,
      answers: latency.count,
      warmupAnswers: this.#warmupAnswers,
      answersPerSecond: (latency.count / elapsedMs) * 1000,
      bodyBytes: latency.count === 0 ? 0 : bodyBytes / latency.count,
      latencyMs: percentilesOf(latency),
      lateMs: this.#openLoop === null ? null : percentilesOf(this.#openLoop.late),
      byStatus: this.#tally.byStatus(),
      byProblem: this.#tally.byProblem(),
      failures,
      cpuShare,
    }
  }
}

const NOTHING = new Uint8Array()

function percentilesOf(histogram: Histogram): Latency {
  const shares = Object.entries(PERCENTILES).map(([name, share]) => [name, histogram.percentile(share) / 1000])
  return Object.fromEntries(shares) as Latency // the keys are those of PERCENTILES
}
