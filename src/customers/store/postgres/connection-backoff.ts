import type { SetTimer } from "../../../base/outside-world.ts"
import type { StoreError } from "../core/store-error.ts"

/** Is told when the database cannot be reached any more, by its fault, and when it answers again, by null. */
export type AvailabilityListener = (fault: StoreError | null) => void

/**
 * What is known of a database that cannot be reached: after a failure to connect nothing is asked for a moment, which doubles
 * with each failure that follows, so that a database that comes up is not run over. Then one asks, who may wait for long; all
 * others are refused at once until that one is answered.
 */
export class ConnectionBackoff {
  readonly #setTimer: SetTimer
  readonly #bounds: { readonly restMs: number; readonly restMsMax: number }
  readonly #onAvailabilityChange: AvailabilityListener
  /** What it began with; null: there is none. */
  #lastError: StoreError | null = null
  #isWaiting = false
  #isProbing = false
  #delayMs: number

  constructor(
    later: SetTimer,
    bounds: { readonly restMs: number; readonly restMsMax: number },
    told: AvailabilityListener,
  ) {
    this.#setTimer = later
    this.#bounds = bounds
    this.#onAvailabilityChange = told
    this.#delayMs = bounds.restMs
  }

  /** Why nothing is to be asked now; null: it may be tried. */
  get error(): StoreError | null {
    return this.#isWaiting || this.#isProbing ? this.#lastError : null
  }

  /** Begins to ask, and gives what ends that. Throws when nothing is to be asked now. */
  startAttempt(): () => void {
    if (this.error !== null) throw this.error
    if (this.#lastError === null) return () => undefined
    this.#isProbing = true
    return () => {
      this.#isProbing = false
    }
  }

  /** Notes a failure to connect. */
  recordFailure(fault: StoreError): void {
    if (this.#lastError === null) this.#onAvailabilityChange(fault)
    this.#lastError ??= fault
    if (this.#isWaiting) return
    this.#isWaiting = true
    this.#setTimer(this.#delayMs, () => {
      this.#isWaiting = false
    })
    this.#delayMs = Math.min(this.#delayMs * 2, this.#bounds.restMsMax)
  }

  /** Notes an answer. */
  recordSuccess(): void {
    this.#delayMs = this.#bounds.restMs
    if (this.#lastError === null) return
    this.#lastError = null
    this.#onAvailabilityChange(null)
  }
}
