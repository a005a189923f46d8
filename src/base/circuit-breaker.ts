import type { Clock } from "./outside-world.ts"

/** When a breaker opens and how long it stays open. */
export type CircuitBreakerBounds = {
  /** How many failures in a row open it. */
  readonly failuresMax: number
  /** How long it lets nobody through, unless the server names a time. */
  readonly openMs: number
  /** The shortest and the longest time that a server can name. */
  readonly openMinMs: number
  readonly openMaxMs: number
}

/** What became of one call: the server answered, or failed and perhaps named a time to come again. */
export type CallOutcome =
  | { readonly kind: "answered" }
  | { readonly kind: "failed"; readonly retryAfterMs: number | null }

/** Leave to make one call, whose fate is told by calling it, once. */
export type CallPermit = (fate: CallOutcome) => void

/**
 * Keeps calls from a server that fails. After a run of failures it is open: nobody is let through for a while, then one
 * call on trial, whose fate closes it or keeps it open. Any answer closes it.
 */
export class CircuitBreaker {
  readonly #clock: Clock
  readonly #bounds: CircuitBreakerBounds
  #failureCount = 0
  /** Null: it is closed. */
  #openUntilMs: number | null = null
  #isProbing = false

  constructor(clock: Clock, bounds: CircuitBreakerBounds) {
    this.#clock = clock
    this.#bounds = bounds
  }

  /** Whether a call would not be let through now. */
  get isOpen(): boolean {
    return this.#openUntilMs !== null && (this.#isProbing || this.#clock() < this.#openUntilMs)
  }

  /** Leave to make a call; null: nobody is let through. */
  acquire(): CallPermit | null {
    if (this.isOpen) return null
    const isTrial = this.#openUntilMs !== null
    this.#isProbing ||= isTrial
    return fate => {
      if (isTrial) this.#isProbing = false
      if (fate.kind === "answered") this.#close()
      else this.#fail(isTrial, fate.retryAfterMs)
    }
  }

  #close(): void {
    this.#failureCount = 0
    this.#openUntilMs = null
  }

  /** A call from before it opened that fails changes nothing. */
  #fail(isTrial: boolean, retryAfterMs: number | null): void {
    const { failuresMax, openMs, openMinMs, openMaxMs } = this.#bounds
    this.#failureCount++
    const opens = this.#openUntilMs === null ? this.#failureCount >= failuresMax : isTrial
    if (!opens) return
    const restMs = retryAfterMs === null ? openMs : Math.min(Math.max(retryAfterMs, openMinMs), openMaxMs)
    this.#openUntilMs = this.#clock() + restMs
  }
}
