import { type Finding, type FindingCause, known, unknown } from "../../../base/finding.ts"
import type { SetTimer, Stopwatch } from "../../../base/outside-world.ts"
import { ListedTimer, TimerList } from "../../../base/shared-timers.ts"
import type { DnsAnswer, DnsExchange, DnsQuestion, Resolver, ServerQuery, ServerReply } from "../dns-types.ts"
import type { CanaryGuard } from "./canary-guard.ts"
import type { DnsCircuitBreaker } from "./circuit-breaker.ts"
import { ConcurrencyLimit, SLOT_MS, type Slotted } from "./concurrency-limit.ts"
import { ServerHealth } from "./server-health.ts"

/** How many queries one question may take for CNAME targets that the server did not resolve. */
export const CNAME_QUERIES_MAX = 8

type DnsOutcome = DnsAnswer["outcome"] | "timed_out" | "unavailable"

/** How many questions ended with each outcome of an answer, or cause of a failure. */
export type DnsOutcomeCounts = Readonly<Record<DnsOutcome, number>>

/** What servers need. */
export type DnsServersDeps = {
  /** For one name with all its attempts. */
  readonly timeoutMs: number
  /** How often one name is sent, to all servers together. */
  readonly attemptsMax: number
  readonly setTimer: SetTimer
  readonly stopwatch: Stopwatch
  /** Receives a defect of ours that ended the reading of a reply, which counts as a failure of the server. Absent: it is not reported. */
  readonly onDefect?: (error: unknown) => void
}

/** The servers, and what all questions to them share. */
export class DnsServers {
  readonly exchanges: readonly DnsExchange[]
  readonly deps: DnsServersDeps
  readonly health: ServerHealth
  /** What all questions that were just sent wait for, as timers of one length: all but a few end before. */
  readonly firstWaits: TimerList
  /** How the questions to the servers ended. */
  readonly counts: Record<DnsOutcome, number> = { records: 0, no_data: 0, no_name: 0, timed_out: 0, unavailable: 0 }
  /** Asks the servers, whatever is known of them. */
  readonly directResolver: Resolver = question =>
    new Promise(resolve => new Resolution(question, this, NO_GUARDS, resolve).ask())

  constructor(exchanges: readonly DnsExchange[], deps: DnsServersDeps) {
    this.exchanges = exchanges
    this.deps = deps
    this.health = new ServerHealth(exchanges.length)
    const { attemptsMax, setTimer, stopwatch, timeoutMs } = deps
    this.firstWaits = new TimerList(Math.min(SLOT_MS, timeoutMs / attemptsMax), setTimer, stopwatch)
  }
}

/** What decides whether a question is sent, when, and whether its answer is believed. */
export type DnsGuards = {
  readonly canaryGuard: Pick<CanaryGuard, "state" | "firstRound" | "believed">
  readonly limit: Pick<ConcurrencyLimit, "enter" | "leave">
  readonly breaker: Pick<DnsCircuitBreaker, "domainOf" | "refusal" | "recordSent" | "record">
}

/** Every question is sent at once, and every answer believed. */
export const NO_GUARDS: DnsGuards = {
  canaryGuard: { state: () => "believed", firstRound: () => null, believed: finding => finding },
  limit: new ConcurrencyLimit(Number.POSITIVE_INFINITY, 0),
  breaker: { domainOf: name => name, refusal: () => null, recordSent: () => 0, record: () => undefined },
}

type OnFinding = (finding: Finding<DnsAnswer>) => void

/**
 * One question on its way, from the guards to the servers and back. It ends once, and has one timer at a time, for its next moment.
 *
 * 1. `canaryGuard`: no question is asked while no answer is believed.
 * 2. `limit`: it waits for its slot, or is `unavailable`.
 * 3. `breaker`: it is not sent to servers, or about a domain, that died meanwhile.
 * 4. The healthiest server is queried, and the next one as soon as a server fails or is silent for its share of the timeout. Earlier servers may still
 *    answer; the first answer wins. Each of up to `attemptsMax` servers is queried once before one is queried again. Without an answer the question
 *    is `unavailable` if a server failed or there is none, else `timed_out`.
 * 5. CNAME targets that the server left unresolved are queried in the same way. A chain that is too long or has a loop is `unavailable`. NXDOMAIN is
 *    about the last name of a chain (RFC 6604 §3), so for the name of the question it becomes `no_data`. The TTL is the least of the chain. No name is
 *    queried after the time that one query may take: then it is `timed_out`.
 * 6. `breaker` and `limit` learn how it ended, and `canaryGuard` decides whether that is believed.
 */
export class Resolution extends ListedTimer implements Slotted {
  nextWaiting: Slotted | null = null
  readonly #question: DnsQuestion
  readonly #servers: DnsServers
  readonly #guards: DnsGuards
  readonly #onEnd: OnFinding
  #firstRound: Promise<unknown> | null = null
  /** Since when it holds a slot; null: it has none. */
  #slotSinceMs: number | null = null
  #domain = ""
  #repliesBefore = 0
  /** The names of the CNAMEs that were followed, and their least TTL; null: there are none. */
  #visited: Set<string> | null = null
  #ttlS = Number.POSITIVE_INFINITY
  /** Until when a CNAME is followed. */
  #endsAtMs = 0
  /** The name that the servers are queried for: the question's, or a CNAME target. */
  #query: DnsQuestion
  #startedAtMs = 0
  #order: readonly number[] = []
  #attempts: readonly Attempt[] = NONE
  #cancelTimer: (() => void) | null = null
  /** For how long it waits for the next attempt when its slot has been given back; null: it waits for the next attempt already. */
  #waitAfterSlotMs: number | null = null

  constructor(question: DnsQuestion, servers: DnsServers, guards: DnsGuards, onEnd: OnFinding) {
    super()
    this.#question = question
    this.#query = question
    this.#servers = servers
    this.#guards = guards
    this.#onEnd = onEnd
  }

  /** Starts on the way. `onEnd` may be called before this returns. */
  ask(): void {
    const { breaker, canaryGuard, limit } = this.#guards
    this.#domain = breaker.domainOf(this.#question.name)
    this.#firstRound = canaryGuard.firstRound()
    if (canaryGuard.state() === "denied" || !limit.enter(this)) this.#onEnd(UNAVAILABLE)
  }

  /** It has its slot. */
  start(): void {
    const { breaker, limit } = this.#guards
    const refusal = breaker.refusal(this.#domain)
    if (refusal !== null) {
      limit.leave()
      this.#onEnd(refusal)
      return
    }
    const { stopwatch, timeoutMs } = this.#servers.deps
    this.#slotSinceMs = stopwatch()
    this.#endsAtMs = this.#slotSinceMs + timeoutMs
    this.#repliesBefore = breaker.recordSent()
    this.#startQuery(this.#question, this.#slotSinceMs)
  }

  #startQuery(query: DnsQuestion, nowMs: number): void {
    const { deps, health } = this.#servers
    this.#query = query
    this.#order = health.healthiest(deps.attemptsMax)
    this.#startedAtMs = nowMs
    this.#tryNext()
  }

  /** Sends the next attempt. If none is left, waits for the pending ones; if none is pending either, ends. */
  #tryNext(): void {
    this.#cancelWait()
    const { deps, exchanges, health } = this.#servers
    // The first attempt has all the time to the last fraction, so that the timers of all first attempts have one length.
    const nowMs = this.#attempts.length === 0 ? this.#startedAtMs : deps.stopwatch()
    // The difference of two moments that are near is exact, so that a wait for it is due later than now.
    const leftMs = this.#startedAtMs + deps.timeoutMs - nowMs
    const server = this.#nextServer()
    if (leftMs <= 0 || (server === null && !this.#attempts.some(isPending))) {
      const hasFailure = this.#order.length === 0 || this.#attempts.some(({ hasFailed }) => hasFailed)
      this.#endQuery()
      this.#end(hasFailure ? UNAVAILABLE : TIMED_OUT)
      return
    }
    this.#wait(server === null ? leftMs : Math.min(deps.timeoutMs / deps.attemptsMax, leftMs), nowMs)
    if (server === null) return
    const attempt: Attempt = {
      question: this.#query,
      id: 0,
      carrier: null,
      receiver: this,
      server,
      answersBefore: health.answerCount(server),
      isPending: true,
      hasFailed: false,
      cancelTimer: null,
    }
    this.#attempts = this.#attempts.length === 0 ? [attempt] : [...this.#attempts, attempt]
    exchanges[server]?.send(attempt)
  }

  /** Waits until the next attempt. Its slot is given back on the way. */
  #wait(ms: number, nowMs: number): void {
    const { deps, firstWaits } = this.#servers
    const slotMs = this.#slotSinceMs === null ? Number.POSITIVE_INFINITY : SLOT_MS - (nowMs - this.#slotSinceMs)
    const waitMs = Math.max(Math.min(slotMs, ms), 0)
    this.#waitAfterSlotMs = slotMs < ms ? ms - waitMs : null
    if (nowMs === this.#slotSinceMs) firstWaits.add(this, nowMs)
    else this.#cancelTimer = deps.setTimer(waitMs, () => this.onDue())
  }

  /** What it waited for is due. */
  override onDue(): void {
    const ms = this.#waitAfterSlotMs
    this.#waitAfterSlotMs = null
    if (ms === null) this.#tryNext()
    else {
      this.#leaveSlot()
      this.#cancelTimer = this.#servers.deps.setTimer(ms, () => this.#tryNext())
    }
  }

  #cancelWait(): void {
    this.#servers.firstWaits.cancel(this)
    this.#cancelTimer?.()
    this.#cancelTimer = null
  }

  /** The server with the fewest attempts, the healthier one first. A server that failed is tried again only if it is the only one. */
  #nextServer(): number | null {
    if (this.#attempts.length === 0) return this.#order[0] ?? null
    if (this.#attempts.length === this.#servers.deps.attemptsMax) return null
    const failuresMax = this.#order.length === 1 ? 2 : 1
    let next: number | null = null
    let fewest = Number.POSITIVE_INFINITY
    for (const server of this.#order) {
      const attempts = this.#attempts.filter(attempt => attempt.server === server)
      if (attempts.length >= fewest || attempts.filter(({ hasFailed }) => hasFailed).length >= failuresMax) continue
      next = server
      fewest = attempts.length
    }
    return next
  }

  /** An attempt ended. Later than its query, it only tells the health of its server. */
  onReply(attempt: Attempt, reply: ServerReply): void {
    const { health, deps } = this.#servers
    attempt.isPending = false
    attempt.cancelTimer?.()
    if (reply.kind === "failed" && reply.defect !== undefined) deps.onDefect?.(reply.defect)
    health.record(attempt.server, reply, attempt.answersBefore)
    if (!this.#attempts.includes(attempt)) return
    if (reply.kind === "answered") {
      health.prefer(attempt.server)
      this.#endQuery()
      this.#follow(reply.answer, reply.pendingCname)
      return
    }
    attempt.hasFailed = reply.kind === "failed"
    // A later attempt that is pending still has its share of the timeout.
    if (attempt === this.#attempts.at(-1) || !this.#attempts.some(isPending)) this.#tryNext()
  }

  /** Leaves the pending attempts to themselves: they are silent if there is no reply in time. */
  #endQuery(): void {
    this.#cancelWait()
    const attempts = this.#attempts
    this.#attempts = NONE
    const { setTimer, stopwatch, timeoutMs } = this.#servers.deps
    for (const attempt of attempts) {
      if (!attempt.isPending) continue
      const giveUp = (): void => {
        attempt.carrier?.cancel(attempt)
        this.onReply(attempt, { kind: "silent" })
      }
      const leftMs = this.#startedAtMs + timeoutMs - stopwatch()
      if (leftMs <= 0) giveUp()
      else attempt.cancelTimer = setTimer(leftMs, giveUp)
    }
  }

  #follow(answer: DnsAnswer, pendingCname: string | null): void {
    if (pendingCname === null && this.#visited === null) {
      this.#end(known(answer))
      return
    }
    const nowMs = this.#servers.deps.stopwatch()
    this.#visited ??= new Set([this.#question.name])
    this.#ttlS = Math.min(this.#ttlS, answer.ttlS)
    if (pendingCname === null) {
      const outcome = answer.outcome === "no_name" ? "no_data" : answer.outcome
      this.#end(known({ ...answer, outcome, ttlS: this.#ttlS }))
    } else if (this.#visited.has(pendingCname) || this.#visited.size > CNAME_QUERIES_MAX) this.#end(UNAVAILABLE)
    else if (nowMs >= this.#endsAtMs) this.#end(TIMED_OUT)
    else {
      this.#visited.add(pendingCname)
      this.#startQuery({ name: pendingCname, type: this.#question.type }, nowMs)
    }
  }

  #end(finding: Finding<DnsAnswer>): void {
    const { breaker, canaryGuard } = this.#guards
    this.#servers.counts[finding.known ? finding.value.outcome : failureOf(finding.cause)]++
    try {
      breaker.record(this.#question, this.#domain, finding, this.#repliesBefore)
      this.#leaveSlot()
      const believed = canaryGuard.believed(finding, this.#firstRound)
      if (believed instanceof Promise) void believed.then(this.#onEnd)
      else this.#onEnd(believed)
    } catch (defect) {
      this.#servers.deps.onDefect?.(defect)
      this.#leaveSlot()
      this.#onEnd(UNAVAILABLE)
    }
  }

  #leaveSlot(): void {
    if (this.#slotSinceMs === null) return
    this.#slotSinceMs = null
    this.#guards.limit.leave()
  }
}

const UNAVAILABLE: Finding<never> = unknown("unavailable")
const TIMED_OUT: Finding<never> = unknown("timed_out")

const failureOf = (cause: FindingCause) => (cause === "timed_out" ? cause : "unavailable")

/** One attempt to query one server. */
type Attempt = ServerQuery & {
  readonly server: number
  /** How many questions the server had answered before. */
  readonly answersBefore: number
  isPending: boolean
  hasFailed: boolean
  /** Nobody waits for it any more: cancels the timer that makes it silent. */
  cancelTimer: (() => void) | null
}

const isPending = (attempt: Attempt): boolean => attempt.isPending

const NONE: readonly Attempt[] = []
