import { type Finding, known, unknown } from "../../../base/finding.ts"
import type { SetTimer, Stopwatch } from "../../../base/outside-world.ts"
import type { DnsAnswer, DnsExchange, DnsQuestion, ServerReply } from "../dns-types.ts"

/** What a server said to one question, and the name that CNAMEs lead to where it left off; null: the answer is whole. */
export type ServerAnswer = { readonly answer: DnsAnswer; readonly pendingCname: string | null }

/** Asks as a Resolver does, but leaves a chain of CNAMEs where the server left it. */
export type QueryServers = (question: DnsQuestion) => Promise<Finding<ServerAnswer>>

type FailoverDeps = {
  /** How long one question may take in all. */
  readonly timeoutMs: number
  /** How often one question is sent, to whichever servers. */
  readonly attemptsMax: number
  readonly setTimer: SetTimer
  readonly stopwatch: Stopwatch
}

/**
 * Asks the healthiest server, and the next one as soon as the one before has failed or was silent for its share of the
 * time; the earlier ones may still answer. The first answer wins. Each of up to `attemptsMax` servers is asked once
 * before one is asked again. Without an answer it is `unavailable` when a server failed or there is none, else `timed_out`.
 */
export function createFailover(exchanges: readonly DnsExchange[], retries: FailoverDeps): QueryServers {
  const order = new ServerHealth(exchanges.length, retries.stopwatch)
  return question =>
    new Promise(settle => {
      new QueryAttempts(question, exchanges, order, retries, settle).tryNext()
    })
}

/** A server as one question sees it. */
type ServerCandidate = {
  readonly server: number
  readonly exchange: DnsExchange
  attemptCount: number
  failureCount: number
}

/** The attempts at one question. It settles once; what comes later only tells of the server's health. */
class QueryAttempts {
  readonly #question: DnsQuestion
  readonly #health: ServerHealth
  readonly #deps: FailoverDeps
  readonly #settle: (finding: Finding<ServerAnswer>) => void
  readonly #candidates: readonly ServerCandidate[]
  readonly #endsAtMs: number
  #sentCount = 0
  #pendingCount = 0
  #isSettled = false
  #cancelTimer: (() => void) | null = null

  constructor(
    question: DnsQuestion,
    exchanges: readonly DnsExchange[],
    order: ServerHealth,
    retries: FailoverDeps,
    settle: (finding: Finding<ServerAnswer>) => void,
  ) {
    this.#question = question
    this.#health = order
    this.#deps = retries
    this.#settle = settle
    this.#candidates = order.healthiest(retries.attemptsMax).flatMap(server => {
      const exchange = exchanges[server]
      return exchange === undefined ? [] : [{ server, exchange, attemptCount: 0, failureCount: 0 }]
    })
    this.#endsAtMs = retries.stopwatch() + retries.timeoutMs
  }

  /** Sends the next attempt if there is one, waits for those that are out if not, and ends where nothing is left. */
  tryNext(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    const leftMs = this.#endsAtMs - this.#deps.stopwatch()
    const candidate = this.#nextCandidate()
    if (leftMs <= 0 || (candidate === null && this.#pendingCount === 0)) {
      this.#finish(unknown(this.#hasFailure() ? "unavailable" : "timed_out"))
      return
    }
    if (candidate !== null) this.#send(candidate, leftMs)
    const shareMs = this.#deps.timeoutMs / this.#deps.attemptsMax
    this.#cancelTimer = this.#deps.setTimer(candidate === null ? leftMs : Math.min(shareMs, leftMs), () =>
      this.tryNext(),
    )
  }

  /** The server that was asked least often, the healthier first; one that failed is asked again only if it is alone. */
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

  #send(candidate: ServerCandidate, timeoutMs: number): void {
    const sentAtMs = this.#deps.stopwatch()
    candidate.attemptCount++
    this.#pendingCount++
    this.#sentCount++
    const attempt = this.#sentCount
    void candidate.exchange(this.#question, timeoutMs).then(reply => {
      this.#health.record(candidate.server, reply.kind, sentAtMs)
      this.#onReply(candidate, reply, attempt === this.#sentCount)
    })
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
    // While a later attempt is out, it has its share of the time.
    if (isLatest || this.#pendingCount === 0) this.tryNext()
  }

  #finish(finding: Finding<ServerAnswer>): void {
    this.#cancelTimer?.()
    this.#isSettled = true
    this.#settle(finding)
  }
}

/** What a server made of what it was asked last, and when it answered last. */
type ServerState = { fault: keyof typeof FAULT_RANKS; answeredAtMs: number }

/** A failure may be the fault of what was asked for; silence costs its share of the time of every question. */
const FAULT_RANKS = { none: 0, failed: 1, silent: 2 } as const

/**
 * In which order servers are asked. It knows them by their place in the list that they were given in. A lapse puts a
 * server behind the others until it answers, and it comes to be asked only when they have lapses too: so a dead server
 * costs its share of the time once, not every so often.
 */
export class ServerHealth {
  readonly #stopwatch: Stopwatch
  readonly #servers: readonly ServerState[]
  #preferred = 0

  constructor(count: number, stopwatch: Stopwatch) {
    this.#stopwatch = stopwatch
    this.#servers = Array.from({ length: count }, () => ({ fault: "none", answeredAtMs: Number.NEGATIVE_INFINITY }))
  }

  /** At most `countMax` servers, healthiest first; among equals the preferred one is first, then as given. */
  healthiest(countMax: number): readonly number[] {
    return this.#servers
      .map(({ fault }, server) => ({ server, rank: FAULT_RANKS[fault], turn: server === this.#preferred ? 0 : 1 }))
      .sort((a, b) => a.rank - b.rank || a.turn - b.turn)
      .slice(0, countMax)
      .map(({ server }) => server)
  }

  /** Notes what a server made of a question that was sent to it at `sentAtMs` by the stopwatch. */
  record(server: number, kind: ServerReply["kind"], sentAtMs: number): void {
    const health = this.#servers[server]
    if (health === undefined) return
    if (kind === "answered") {
      health.answeredAtMs = this.#stopwatch()
      health.fault = "none"
    } else if (kind === "failed") health.fault = "failed"
    // A server that has answered others since is there: the packet was lost, or the question is one it cannot answer.
    else if (health.answeredAtMs < sentAtMs) health.fault = "silent"
  }

  /** Puts the server first among equals, until another is preferred. */
  prefer(server: number): void {
    this.#preferred = server
  }
}
