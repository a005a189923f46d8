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

/** The permit for one call. It is called once, with the outcome. */
export type CallPermit = (outcome: CallOutcome) => void

/**
 * Stops calls to a server that fails. After a run of failures it opens and permits no call for a while, and then one trial call
 * (half-open), whose outcome closes it or keeps it open. Any answer closes it.
 */
export class CircuitBreaker {
  readonly #clock: Clock
  readonly #bounds: CircuitBreakerBounds
  #failureCount = 0
  /** Null: it is closed. */
  #openUntilMs: number | null = null
  #isTrialRunning = false

  constructor(clock: Clock, bounds: CircuitBreakerBounds) {
    this.#clock = clock
    this.#bounds = bounds
  }

  /** Whether no call is permitted now. */
  get isOpen(): boolean {
    return this.#openUntilMs !== null && (this.#isTrialRunning || this.#clock() < this.#openUntilMs)
  }

  /** The permit for a call; null: the breaker is open. */
  acquire(): CallPermit | null {
    if (this.isOpen) return null
    const isTrial = this.#openUntilMs !== null
    this.#isTrialRunning ||= isTrial
    return outcome => {
      if (isTrial) this.#isTrialRunning = false
      if (outcome.kind === "answered") this.#close()
      else this.#fail(isTrial, outcome.retryAfterMs)
    }
  }

  #close(): void {
    this.#failureCount = 0
    this.#openUntilMs = null
  }

  /** The failure of a call that started before the breaker opened changes nothing. */
  #fail(isTrial: boolean, retryAfterMs: number | null): void {
    const { failuresMax, openMs, openMinMs, openMaxMs } = this.#bounds
    this.#failureCount++
    const opens = this.#openUntilMs === null ? this.#failureCount >= failuresMax : isTrial
    if (!opens) return
    const openForMs = retryAfterMs === null ? openMs : Math.min(Math.max(retryAfterMs, openMinMs), openMaxMs)
    this.#openUntilMs = this.#clock() + openForMs
  }
}
