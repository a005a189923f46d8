import { type Finding, known, unknown } from "../../../base/finding.ts"
import type { SetTimer, Stopwatch } from "../../../base/outside-world.ts"
import type { DnsAnswer, DnsExchange, DnsQuestion, ServerReply } from "../dns-types.ts"

/** The answer of a server. `pendingCname`: the last CNAME target, if the server did not resolve it; null: the answer is complete. */
export type ServerAnswer = { readonly answer: DnsAnswer; readonly pendingCname: string | null }

/** Resolves a question as a Resolver does, but leaves CNAME targets that the server did not resolve. */
export type QueryServers = (question: DnsQuestion) => Promise<Finding<ServerAnswer>>

type FailoverDeps = {
  /** For one question with all its attempts. */
  readonly timeoutMs: number
  /** How often one question is sent, to all servers together. */
  readonly attemptsMax: number
  readonly setTimer: SetTimer
  readonly stopwatch: Stopwatch
  /** Receives a defect of ours that ended the reading of a reply, which counts as a failure of the server. Absent: it is not reported. */
  readonly onDefect?: (error: unknown) => void
}

/**
 * Queries the healthiest server, and the next one as soon as a server fails or is silent for its share of the timeout. Earlier
 * servers may still answer; the first answer wins. Each of up to `attemptsMax` servers is queried once before one is queried
 * again. Without an answer the question is `unavailable` if a server failed or there is none, else `timed_out`.
 */
export function createFailover(exchanges: readonly DnsExchange[], deps: FailoverDeps): QueryServers {
  const health = new ServerHealth(exchanges.length, deps.stopwatch)
  return question =>
    new Promise(resolve => {
      new QueryAttempts(question, exchanges, health, deps, resolve).tryNext()
    })
}

/** A server and what became of the attempts of one question. */
type ServerCandidate = {
  readonly server: number
  readonly exchange: DnsExchange
  attemptCount: number
  failureCount: number
}

/** The attempts of one question. It settles once; later replies only update the server's health. */
class QueryAttempts {
  readonly #question: DnsQuestion
  readonly #health: ServerHealth
  readonly #deps: FailoverDeps
  readonly #settle: (finding: Finding<ServerAnswer>) => void
  readonly #candidates: readonly ServerCandidate[]
  readonly #startedAtMs: number
  #sentCount = 0
  #pendingCount = 0
  #isSettled = false
  #cancelTimer: (() => void) | null = null

  constructor(
    question: DnsQuestion,
    exchanges: readonly DnsExchange[],
    health: ServerHealth,
    deps: FailoverDeps,
    settle: (finding: Finding<ServerAnswer>) => void,
  ) {
    this.#question = question
    this.#health = health
    this.#deps = deps
    this.#settle = settle
    const candidates: ServerCandidate[] = []
    for (const server of health.healthiest(deps.attemptsMax)) {
      const exchange = exchanges[server]
      if (exchange !== undefined) candidates.push({ server, exchange, attemptCount: 0, failureCount: 0 })
    }
    this.#candidates = candidates
    this.#startedAtMs = deps.stopwatch()
  }

  /** Sends the next attempt. If none is left, waits for the pending ones; if none is pending either, finishes. */
  tryNext(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    // The first attempt has all the time to the last fraction, so that the timers of all first attempts have one length.
    const nowMs = this.#sentCount === 0 ? this.#startedAtMs : this.#deps.stopwatch()
    const leftMs = this.#deps.timeoutMs - (nowMs - this.#startedAtMs)
    const candidate = this.#nextCandidate()
    if (leftMs <= 0 || (candidate === null && this.#pendingCount === 0)) {
      this.#finish(unknown(this.#hasFailure() ? "unavailable" : "timed_out"))
      return
    }
    if (candidate !== null) this.#send(candidate, leftMs, nowMs)
    const shareMs = this.#deps.timeoutMs / this.#deps.attemptsMax
    this.#cancelTimer = this.#deps.setTimer(candidate === null ? leftMs : Math.min(shareMs, leftMs), () =>
      this.tryNext(),
    )
  }

  /** The server with the fewest attempts, the healthier one first. A server that failed is tried again only if it is the only one. */
  #nextCandidate(): ServerCandidate | null {
    if (this.#sentCount === this.#deps.attemptsMax) return null
    const failuresMax = this.#candidates.length === 1 ? 2 : 1
    let next: ServerCandidate | null = null
    for (const candidate of this.#candidates) {
      if (candidate.failureCount >= failuresMax) continue
      if (next === null || candidate.attemptCount < next.attemptCount) next = candidate
    }
    return next
  }

  #hasFailure(): boolean {
    return this.#candidates.length === 0 || this.#candidates.some(({ failureCount }) => failureCount > 0)
  }

  #send(candidate: ServerCandidate, timeoutMs: number, sentAtMs: number): void {
    candidate.attemptCount++
    this.#pendingCount++
    this.#sentCount++
    const attempt = this.#sentCount
    const onReply = (reply: ServerReply): void => {
      if (reply.kind === "failed" && reply.defect !== undefined) this.#deps.onDefect?.(reply.defect)
      this.#health.record(candidate.server, reply.kind, sentAtMs)
      this.#onReply(candidate, reply, attempt === this.#sentCount)
    }
    void candidate
      .exchange(this.#question, timeoutMs)
      .then(onReply, (defect: unknown) => onReply({ kind: "failed", defect }))
  }

  #onReply(candidate: ServerCandidate, reply: ServerReply, isLatest: boolean): void {
    if (this.#isSettled) return
    this.#pendingCount--
    if (reply.kind === "answered") {
      this.#health.prefer(candidate.server)
      this.#finish(known({ answer: reply.answer, pendingCname: reply.pendingCname }))
      return
    }
    if (reply.kind === "failed") candidate.failureCount++
    // A later attempt that is pending still has its share of the timeout.
    if (isLatest || this.#pendingCount === 0) this.tryNext()
  }

  #finish(finding: Finding<ServerAnswer>): void {
    this.#cancelTimer?.()
    this.#isSettled = true
    this.#settle(finding)
  }
}

/** The fault of a server, and when it answered last. */
type ServerState = { fault: keyof typeof FAULT_RANKS; answeredAtMs: number }

/** A failure may be the fault of the question. Silence is worse: it costs every question its share of the timeout. */
const FAULT_RANKS = { none: 0, failed: 1, silent: 2 } as const

/**
 * Orders servers by their health; a server is its index in the list of exchanges. A fault puts a server behind the healthy ones
 * until it answers, and it is queried only if those have faults too. So a dead server costs its share of the timeout once.
 */
export class ServerHealth {
  readonly #stopwatch: Stopwatch
  readonly #servers: readonly ServerState[]
  #preferred = 0
  /** All servers, the healthiest first; null: a fault or the preference has changed. */
  #order: readonly number[] | null = null

  constructor(count: number, stopwatch: Stopwatch) {
    this.#stopwatch = stopwatch
    this.#servers = Array.from({ length: count }, () => ({ fault: "none", answeredAtMs: Number.NEGATIVE_INFINITY }))
  }

  /** At most `countMax` servers, the healthiest first. Of equal servers the preferred one is first, the others keep their order. */
  healthiest(countMax: number): readonly number[] {
    this.#order ??= this.#servers
      .map(({ fault }, server) => ({
        server,
        rank: FAULT_RANKS[fault],
        preference: server === this.#preferred ? 0 : 1,
      }))
      .sort((a, b) => a.rank - b.rank || a.preference - b.preference)
      .map(({ server }) => server)
    return this.#order.length > countMax ? this.#order.slice(0, countMax) : this.#order
  }

  /** Records the reply to a question that was sent at `sentAtMs` of the stopwatch. */
  record(server: number, kind: ServerReply["kind"], sentAtMs: number): void {
    const health = this.#servers[server]
    if (health === undefined) return
    if (kind === "answered") {
      health.answeredAtMs = this.#stopwatch()
      this.#setFault(health, "none")
    } else if (kind === "failed") this.#setFault(health, "failed")
    // A server that answered another question since then is alive: a packet was lost, or it cannot answer this question.
    else if (health.answeredAtMs < sentAtMs) this.#setFault(health, "silent")
  }

  /** Puts the server first among those of equal health, until another is preferred. */
  prefer(server: number): void {
    if (server !== this.#preferred) this.#order = null
    this.#preferred = server
  }

  #setFault(health: ServerState, fault: ServerState["fault"]): void {
    if (fault !== health.fault) this.#order = null
    health.fault = fault
  }
}
