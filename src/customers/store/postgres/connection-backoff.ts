import { type BackoffBounds, backoffMs } from "../../../base/backoff.ts"
import type { SetTimer } from "../../../base/outside-world.ts"
import type { StoreError } from "../core/store-error.ts"

/** Called with the error when the database becomes unreachable, and with null when it answers again. */
export type AvailabilityListener = (error: StoreError | null) => void

/**
 * A circuit breaker for connections to the database. After a failure to connect it rejects all attempts for a while, which doubles
 * with each further failure, so that a starting database is not overrun. Then it lets one attempt probe the database, which may take
 * long, and rejects the others until that one has ended.
 */
export class ConnectionBackoff {
  readonly #setTimer: SetTimer
  readonly #bounds: BackoffBounds
  readonly #onAvailabilityChange: AvailabilityListener
  /** The first error of the outage; null: the database is reachable. */
  #outageError: StoreError | null = null
  #isWaiting = false
  #isProbing = false
  #failureCount = 0

  constructor(setTimer: SetTimer, bounds: BackoffBounds, onAvailabilityChange: AvailabilityListener) {
    this.#setTimer = setTimer
    this.#bounds = bounds
    this.#onAvailabilityChange = onAvailabilityChange
  }

  /** The error with which attempts are rejected now; null: an attempt may be made. */
  get error(): StoreError | null {
    return this.#isWaiting || this.#isProbing ? this.#outageError : null
  }

  /** Starts an attempt and returns the function that ends it. Throws when attempts are rejected. */
  startAttempt(): () => void {
    if (this.error !== null) throw this.error
    if (this.#outageError === null) return () => undefined
    this.#isProbing = true
    return () => {
      this.#isProbing = false
    }
  }

  /** Records a failure to connect. Failures during a wait do not prolong it. */
  recordFailure(error: StoreError): void {
    if (this.#outageError === null) this.#onAvailabilityChange(error)
    this.#outageError ??= error
    if (this.#isWaiting) return
    this.#isWaiting = true
    this.#setTimer(backoffMs(++this.#failureCount, this.#bounds), () => {
      this.#isWaiting = false
    })
  }

  /** Records an answer of the database. */
  recordSuccess(): void {
    this.#failureCount = 0
    if (this.#outageError === null) return
    this.#outageError = null
    this.#onAvailabilityChange(null)
  }
}
