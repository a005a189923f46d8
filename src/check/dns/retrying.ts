import type { Stopwatch } from "../../base/clock.ts"
import { type Finding, known, unknown } from "../../base/finding.ts"
import type { Later } from "../../base/timer.ts"
import type { Exchange, Reply } from "./exchange.ts"
import type { Answer, Question } from "./question.ts"
import { ServerOrder } from "./server-order.ts"

/** What a server said to one question, and the name that CNAMEs lead to where it left off; null: the answer is whole. */
export type Said = { readonly answer: Answer; readonly continuesAt: string | null }

/** Asks as a Resolver does, but leaves a chain of CNAMEs where the server left it. */
export type AskServers = (question: Question) => Promise<Finding<Said>>

type Retries = {
  /** How long one question may take in all. */
  readonly timeoutMs: number
  /** How often one question is sent, to whichever servers. */
  readonly attemptsMax: number
  readonly later: Later
  readonly stopwatch: Stopwatch
}

/**
 * Asks the healthiest server, and the next one as soon as the one before has failed or was silent for its share of the
 * time; the earlier ones may still answer. The first answer wins. Each of up to `attemptsMax` servers is asked once
 * before one is asked again. Without an answer it is `unavailable` when a server failed or there is none, else `timed_out`.
 */
export function retrying(exchanges: readonly Exchange[], retries: Retries): AskServers {
  const order = new ServerOrder(exchanges.length, retries.stopwatch)
  return question =>
    new Promise(settle => {
      new Attempts(question, exchanges, order, retries, settle).next()
    })
}

/** A server as one question sees it. */
type Candidate = { readonly server: number; readonly exchange: Exchange; askedCount: number; failedCount: number }

/** The attempts at one question. It settles once; what comes later only tells of the server's health. */
class Attempts {
  readonly #question: Question
  readonly #order: ServerOrder
  readonly #retries: Retries
  readonly #settle: (finding: Finding<Said>) => void
  readonly #candidates: readonly Candidate[]
  readonly #endsAtMs: number
  #sentCount = 0
  #pendingCount = 0
  #isSettled = false
  #callOff: (() => void) | null = null

  constructor(
    question: Question,
    exchanges: readonly Exchange[],
    order: ServerOrder,
    retries: Retries,
    settle: (finding: Finding<Said>) => void,
  ) {
    this.#question = question
    this.#order = order
    this.#retries = retries
    this.#settle = settle
    this.#candidates = order.healthiest(retries.attemptsMax).flatMap(server => {
      const exchange = exchanges[server]
      return exchange === undefined ? [] : [{ server, exchange, askedCount: 0, failedCount: 0 }]
    })
    this.#endsAtMs = retries.stopwatch() + retries.timeoutMs
  }

  /** Sends the next attempt if there is one, waits for those that are out if not, and ends where nothing is left. */
  next(): void {
    this.#callOff?.()
    this.#callOff = null
    const leftMs = this.#endsAtMs - this.#retries.stopwatch()
    const candidate = this.#nextCandidate()
    if (leftMs <= 0 || (candidate === null && this.#pendingCount === 0)) {
      this.#end(unknown(this.#hasFailure() ? "unavailable" : "timed_out"))
      return
    }
    if (candidate !== null) this.#send(candidate, leftMs)
    const shareMs = this.#retries.timeoutMs / this.#retries.attemptsMax
    this.#callOff = this.#retries.later(candidate === null ? leftMs : Math.min(shareMs, leftMs), () => this.next())
  }

  /** The server that was asked least often, the healthier first; one that failed is asked again only if it is alone. */
  #nextCandidate(): Candidate | null {
    if (this.#sentCount === this.#retries.attemptsMax) return null
    const failuresMax = this.#candidates.length === 1 ? 2 : 1
    let next: Candidate | null = null
    for (const candidate of this.#candidates) {
      if (candidate.failedCount >= failuresMax) continue
      if (next === null || candidate.askedCount < next.askedCount) next = candidate
    }
    return next
  }

  #hasFailure(): boolean {
    return this.#candidates.length === 0 || this.#candidates.some(({ failedCount }) => failedCount > 0)
  }

  #send(candidate: Candidate, timeoutMs: number): void {
    const sentAtMs = this.#retries.stopwatch()
    candidate.askedCount++
    this.#pendingCount++
    this.#sentCount++
    const attempt = this.#sentCount
    void candidate.exchange(this.#question, timeoutMs).then(reply => {
      this.#order.heard(candidate.server, reply.kind, sentAtMs)
      this.#hear(candidate, reply, attempt === this.#sentCount)
    })
  }

  #hear(candidate: Candidate, reply: Reply, isLatest: boolean): void {
    if (this.#isSettled) return
    this.#pendingCount--
    if (reply.kind === "answered") {
      this.#order.prefer(candidate.server)
      this.#end(known({ answer: reply.answer, continuesAt: reply.continuesAt }))
      return
    }
    if (reply.kind === "failed") candidate.failedCount++
    // While a later attempt is out, it has its share of the time.
    if (isLatest || this.#pendingCount === 0) this.next()
  }

  #end(finding: Finding<Said>): void {
    this.#callOff?.()
    this.#isSettled = true
    this.#settle(finding)
  }
}
