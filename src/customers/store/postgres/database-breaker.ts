import { type BackoffBounds, backoffMs } from "../../../base/backoff.ts"
import type { SetTimer } from "../../../base/outside-world.ts"
import type { StoreError } from "../core/store-error.ts"

/** Called with the error when the database becomes unreachable, and with null when it answers again. */
export type AvailabilityListener = (error: StoreError | null) => void

/** How many probes wait for their answers at the same time. A silent database answers none, and a new one may get through before them. */
const PROBES_MAX = 6

/**
 * A circuit breaker for the database. A server that cannot be reached, or an answer that does not come, opens it: every operation is refused at once,
 * while probes ask the database in the background. It closes with the first answer. The pauses between the probes grow, so that a
 * starting database is not overrun.
 */
export class DatabaseBreaker {
  readonly #setTimer: SetTimer
  readonly #bounds: BackoffBounds
  readonly #probe: () => Promise<void>
  readonly #onAvailabilityChange: AvailabilityListener
  /** The first error of the outage; null: the database is reachable. */
  #outageError: StoreError | null = null
  #probeCount = 0
  #running = 0
  #cancelTimer = (): void => undefined
  #isStopped = false

  /** `probe` resolves when the database answers. It settles within a bounded time. */
  constructor(
    setTimer: SetTimer,
    bounds: BackoffBounds,
    probe: () => Promise<void>,
    onAvailabilityChange: AvailabilityListener,
  ) {
    this.#setTimer = setTimer
    this.#bounds = bounds
    this.#probe = probe
    this.#onAvailabilityChange = onAvailabilityChange
  }

  /** The error with which operations are refused now; null: the database is reachable. */
  get error(): StoreError | null {
    return this.#outageError
  }

  /** Opens the breaker. The first error of an outage is the one that callers get. */
  recordFailure(error: StoreError): void {
    if (this.#outageError !== null || this.#isStopped) return
    this.#outageError = error
    this.#probeCount = 0
    this.#onAvailabilityChange(error)
    this.#scheduleProbe()
  }

  /** Records an answer of the database, which closes the breaker. */
  recordSuccess(): void {
    if (this.#outageError === null) return
    this.#cancelTimer()
    this.#outageError = null
    this.#onAvailabilityChange(null)
  }

  /** Sends no more probes. */
  stop(): void {
    this.#isStopped = true
    this.#cancelTimer()
  }

  #scheduleProbe(): void {
    this.#cancelTimer = this.#setTimer(backoffMs(++this.#probeCount, this.#bounds), () => {
      if (this.#running < PROBES_MAX) void this.#runProbe()
      this.#scheduleProbe()
    })
  }

  async #runProbe(): Promise<void> {
    this.#running++
    try {
      await this.#probe()
      if (!this.#isStopped) this.recordSuccess()
    } catch {
      // The outage goes on, and its first error is known.
    } finally {
      this.#running--
    }
  }
}
