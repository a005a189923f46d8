import type { Clock } from "./outside-world.ts"

/** When a circuit breaker opens, and for how long. */
export type CircuitBreakerBounds = {
  /** How many failures in a row open it. */
  readonly failuresMax: number
  /** How long it stays open if the server does not say when to retry. */
  readonly openMs: number
  /** The bounds of the time that the server can set. */
  readonly openMinMs: number
  readonly openMaxMs: number
}

/** The outcome of one call. `retryAfterMs` null: the server did not say when to retry. */
export type CallOutcome =
  | { readonly kind: "answered" }
  | { readonly kind: "failed"; readonly retryAfterMs: number | null }

/**
 * The permit for one call. It is called once, with the outcome. The promise resolves when the canary has answered; null: the outcome was
 * judged without one.
 */
export type CallPermit = (outcome: CallOutcome) => Promise<void> | null

/** A call that every working server answers. It never rejects, and its time is bounded. */
export type CanaryCall = () => Promise<CallOutcome>

/**
 * Stops calls to a server that fails. After a run of failures it opens and permits no call for a while, and then one trial call
 * (half-open), whose outcome closes it or keeps it open. Any answer closes it.
 *
 * With a canary, failures alone open nothing, since they can be the fault of what was asked for: after a run of them, or a trial that
 * failed, the canary is called, and the breaker opens or stays open only if that fails too.
 */
export class CircuitBreaker {
  readonly #clock: Clock
  readonly #bounds: CircuitBreakerBounds
  readonly #canary: CanaryCall | null
  /** The subjects of the failures in a row. */
  readonly #failures = new Set<string | symbol>()
  #answerCount = 0
  /** Null: it is closed. */
  #openUntilMs: number | null = null
  #isTrialRunning = false
  #judging: Promise<void> | null = null

  constructor(clock: Clock, bounds: CircuitBreakerBounds, canary: CanaryCall | null = null) {
    this.#clock = clock
    this.#bounds = bounds
    this.#canary = canary
  }

  /** Whether no call is permitted now. */
  get isOpen(): boolean {
    return this.#openUntilMs !== null && (this.#isTrialRunning || this.#clock() < this.#openUntilMs)
  }

  /** The permit for a call; null: the breaker is open. Failures of one `subject` in a row count once. */
  acquire(subject: string | symbol = Symbol("subject")): CallPermit | null {
    if (this.isOpen) return null
    const isTrial = this.#openUntilMs !== null
    this.#isTrialRunning ||= isTrial
    return outcome => {
      if (outcome.kind === "failed") return this.#fail(subject, isTrial, outcome.retryAfterMs)
      if (isTrial) this.#isTrialRunning = false
      this.#close()
      return null
    }
  }

  #close(): void {
    this.#answerCount++
    this.#failures.clear()
    this.#openUntilMs = null
  }

  /** The failure of a call that started before the breaker opened changes nothing. */
  #fail(subject: string | symbol, isTrial: boolean, retryAfterMs: number | null): Promise<void> | null {
    const { failuresMax } = this.#bounds
    if (this.#failures.size < failuresMax) this.#failures.add(subject)
    const opens = this.#openUntilMs === null ? this.#failures.size >= failuresMax : isTrial
    if (opens && this.#canary !== null) {
      this.#judging ??= this.#judge(this.#canary, retryAfterMs)
      return this.#judging
    }
    if (isTrial) this.#isTrialRunning = false
    if (opens) this.#open(retryAfterMs)
    return null
  }

  async #judge(canary: CanaryCall, retryAfterMs: number | null): Promise<void> {
    const answersBefore = this.#answerCount
    const outcome = await canary()
    this.#judging = null
    this.#isTrialRunning = false
    if (outcome.kind === "answered") this.#close()
    // Another call may have been answered meanwhile.
    else if (this.#answerCount === answersBefore) this.#open(outcome.retryAfterMs ?? retryAfterMs)
  }

  #open(retryAfterMs: number | null): void {
    const { openMs, openMinMs, openMaxMs } = this.#bounds
    const openForMs = retryAfterMs === null ? openMs : Math.min(Math.max(retryAfterMs, openMinMs), openMaxMs)
    this.#openUntilMs = this.#clock() + openForMs
  }
}
