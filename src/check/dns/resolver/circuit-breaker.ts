import { type Finding, unknown } from "../../../base/finding.ts"
import type { SetTimer, Stopwatch } from "../../../base/outside-world.ts"
import type { DnsAnswer, DnsQuestion, Resolver } from "../dns-types.ts"
import { SilentDomains } from "./silent-domains.ts"

/** How many probes in a row have to fail wholly until servers are given up that reply with failures. */
export const FAILED_PROBES_MIN = 2

/** How many questions that had records are asked again to find out whether the servers work. */
export const GOOD_QUESTIONS_MAX = 3

/** How long no server has to reply to a question, or to any after it, until the servers are suspected before it times out. */
export const SUSPICION_MS = 500

/** The pause between the end of one probe of suspected servers and the next, and how often failures make them suspected at most. */
export const PROBE_INTERVAL_MS = 2_000

type DnsCircuitBreakerDeps = {
  /** Questions that every working server can answer. */
  readonly probeQuestions: readonly DnsQuestion[]
  /** The registrable domain of a name. */
  readonly registrableOf: (name: string) => string
  readonly setTimer: SetTimer
  readonly stopwatch: Stopwatch
  /** Called when it has opened, or closed again. */
  readonly onChange?: () => void
}

type GoodQuestion = { readonly domain: string; question: DnsQuestion }

/** Why the servers are suspected: they are silent, or they reply with failures. */
export type DnsSuspicionReason = "timeouts" | "failures"

/** A new object each time that the servers are suspected. */
type Suspicion = { readonly reason: DnsSuspicionReason; failedProbeCount: number }

/**
 * Stops queries to dead servers, and to dead domains.
 *
 * A question can fail by the fault of its own domain, which anybody can bring about. So a failure opens nothing. It makes the
 * servers suspected: if no server has replied to any question for a while since one was sent, or if one was answered with a failure (SERVFAIL,
 * REFUSED). Suspected servers are still queried, and are probed at the same time, past every cache: with `probeQuestions`, and with the last questions
 * that had records, because a server may know only some zones. Only if every probe fails the breaker opens; if there are replies, only if every one
 * of the next probe fails too, because a server may refuse for a moment. It probes on, and closes with the first probe, or question in
 * flight, that shows a working server: any reply if the servers were silent, else an answer.
 *
 * Unlike `CircuitBreaker` in `base/`, it probes by itself, so that no caller waits for the timeout of a trial call.
 */
export class DnsCircuitBreaker {
  /** Queries the servers for the breaker itself. */
  readonly #directResolver: Resolver
  readonly #deps: DnsCircuitBreakerDeps
  /** The last questions that had records, at most one for each registrable domain, the latest last. */
  readonly #goodQuestions: GoodQuestion[] = []
  readonly #silentDomains: SilentDomains
  readonly #probes: ProbeLoop
  #lastName: string | null = null
  #lastDomain = ""
  #replyCount = 0
  #failuresNoticedAtMs = Number.NEGATIVE_INFINITY
  #cancelSilenceTimer: (() => void) | null = null
  #suspicion: Suspicion | null = null
  #isOpen = false
  #isStopped = false

  constructor(directResolver: Resolver, deps: DnsCircuitBreakerDeps) {
    this.#directResolver = directResolver
    this.#deps = deps
    this.#silentDomains = new SilentDomains(deps.stopwatch)
    this.#probes = createProbeLoop(() => this.#probeServers(), deps.setTimer)
  }

  isOpen(): boolean {
    return this.#isOpen
  }

  /** Why it is open; null: it is closed. */
  openReason(): DnsSuspicionReason | null {
    return this.#isOpen ? (this.#suspicion?.reason ?? null) : null
  }

  /** Ends the probes. */
  stop(): void {
    this.#isStopped = true
    this.#cancelSilenceTimer?.()
    this.#probes.stop()
  }

  /** Why a question below the registrable domain is not sent; null: it is. While the breaker is open, every one is `unavailable`. */
  refusal(domain: string): Finding<never> | null {
    if (this.#isOpen) return unknown("unavailable")
    return this.#silentDomains.isSilent(domain) ? unknown("timed_out") : null
  }

  /**
   * A question is sent now. Returns how many replies there were before, for `record`. If there is none for a while the servers are suspected,
   * so that a check that has to wait for dead ones is the only one. One timer runs at a time.
   */
  recordSent(): number {
    const repliesBefore = this.#replyCount
    if (this.#isStopped || this.#suspicion !== null) return repliesBefore
    this.#cancelSilenceTimer ??= this.#deps.setTimer(SUSPICION_MS, () => {
      this.#cancelSilenceTimer = null
      if (this.#replyCount === repliesBefore) this.suspect("timeouts")
    })
    return repliesBefore
  }

  /** The registrable domain of a name. A check asks several questions about one name and names below it in a row. */
  domainOf(name: string): string {
    const host = withoutUnderscoredLabel(name)
    if (host !== this.#lastName) {
      this.#lastDomain = this.#deps.registrableOf(host)
      this.#lastName = host
    }
    return this.#lastDomain
  }

  /** Records how a question ended that was sent after `repliesBefore` replies. */
  record(question: DnsQuestion, domain: string, finding: Finding<DnsAnswer>, repliesBefore: number): void {
    if (!isReply(finding)) {
      if (this.#silentDomains.recordTimeout(domain, question.name) === "doubtful") void this.#askDomainItself(domain)
      if (this.#replyCount === repliesBefore) this.suspect("timeouts")
      return
    }
    this.#replyCount++
    this.#silentDomains.recordReply(domain)
    if (this.#suspicion !== null && this.#isWorking(finding)) this.#clear()
    if (!finding.known) this.#noticeFailure()
    else if (finding.value.outcome === "records") rememberLast(this.#goodQuestions, domain, question)
  }

  /** A subdomain with dead servers of its own must not make its parent silent, which others need. */
  async #askDomainItself(domain: string): Promise<void> {
    const finding = await this.#directResolver({ name: domain, type: "A" })
    if (!isReply(finding)) return
    this.#replyCount++
    this.#silentDomains.recordOwnReply(domain)
  }

  /** Domains that fail by their own fault cost one probe in each interval. */
  #noticeFailure(): void {
    const nowMs = this.#deps.stopwatch()
    if (nowMs - this.#failuresNoticedAtMs < PROBE_INTERVAL_MS) return
    this.#failuresNoticedAtMs = nowMs
    this.suspect("failures")
  }

  /** Probes the servers, unless it does already. Another process may have found that they are dead. */
  suspect(reason: DnsSuspicionReason): void {
    if (this.#suspicion !== null || this.#isStopped) return
    this.#suspicion = { reason, failedProbeCount: 0 }
    this.#probes.start()
  }

  async #probeServers(): Promise<void> {
    const suspected = this.#suspicion
    const questions = [...this.#deps.probeQuestions, ...this.#goodQuestions.map(({ question }) => question)]
    await Promise.all(questions.map(question => this.#probe(question)))
    // A suspicion that came meanwhile is probed by the next round.
    if (suspected === null || this.#suspicion !== suspected || this.#isOpen || this.#isStopped) return
    suspected.failedProbeCount++
    if (suspected.reason === "failures" && suspected.failedProbeCount < FAILED_PROBES_MIN) return
    this.#isOpen = true
    this.#deps.onChange?.()
  }

  async #probe(question: DnsQuestion): Promise<void> {
    const finding = await this.#directResolver(question)
    if (isReply(finding)) this.#replyCount++
    if (this.#suspicion !== null && this.#isWorking(finding)) this.#clear()
  }

  #isWorking(finding: Finding<DnsAnswer>): boolean {
    return finding.known || (this.#suspicion?.reason === "timeouts" && finding.cause !== "timed_out")
  }

  #clear(): void {
    const wasOpen = this.#isOpen
    if (wasOpen) this.#silentDomains.clear()
    this.#suspicion = null
    this.#isOpen = false
    this.#probes.stop()
    if (wasOpen) this.#deps.onChange?.()
  }
}

/** The name to which an attribute belongs whose label begins with an underscore (RFC 8552 §1.1), else the name itself. */
const withoutUnderscoredLabel = (name: string): string =>
  name.charCodeAt(0) === UNDERSCORE ? name.slice(name.indexOf(".") + 1) : name

const UNDERSCORE = 0x5f

const isReply = (finding: Finding<DnsAnswer>): boolean => finding.known || finding.cause !== "timed_out"

function rememberLast(questions: GoodQuestion[], domain: string, question: DnsQuestion): void {
  const latest = questions.at(-1)
  // The answers about one domain come together.
  if (latest?.domain === domain) {
    latest.question = question
    return
  }
  const earlier = questions.findIndex(good => good.domain === domain)
  if (earlier >= 0) questions.splice(earlier, 1)
  else if (questions.length === GOOD_QUESTIONS_MAX) questions.shift()
  questions.push({ domain, question })
}

type ProbeLoop = { readonly start: () => void; readonly stop: () => void }

/**
 * Probes at once when it is started, or when the running probe has ended, and again `PROBE_INTERVAL_MS` after each probe. One
 * probe runs at a time.
 */
function createProbeLoop(probe: () => Promise<void>, setTimer: SetTimer): ProbeLoop {
  let isStarted = false
  let isRequested = false
  let isRunning = false
  let cancelTimer: (() => void) | null = null

  const runProbes = async (): Promise<void> => {
    cancelTimer = null
    isRunning = true
    do {
      isRequested = false
      await probe()
    } while (isStarted && isRequested)
    isRunning = false
    if (isStarted) cancelTimer = setTimer(PROBE_INTERVAL_MS, runProbes)
  }
  return {
    start: () => {
      isStarted = true
      isRequested = true
      if (!isRunning) void runProbes()
    },
    stop: () => {
      isStarted = false
      cancelTimer?.()
      cancelTimer = null
    },
  }
}
