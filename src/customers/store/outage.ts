import type { Later } from "../../base/timer.ts"
import type { StoreFault } from "./store-fault.ts"

/** Is told when the database cannot be reached any more, by its fault, and when it answers again, by null. */
export type Told = (fault: StoreFault | null) => void

/**
 * What is known of a database that cannot be reached: after a failure to connect nothing is asked for a moment, which doubles
 * with each failure that follows, so that a database that comes up is not run over.
 */
export class Outage {
  readonly #later: Later
  readonly #bounds: { readonly restMs: number; readonly restMsMax: number }
  readonly #told: Told
  #isTold = false
  #resting: StoreFault | null = null
  #restMs: number

  constructor(later: Later, bounds: { readonly restMs: number; readonly restMsMax: number }, told: Told) {
    this.#later = later
    this.#bounds = bounds
    this.#told = told
    this.#restMs = bounds.restMs
  }

  /** Why nothing is to be asked now; null: it may be tried. */
  get fault(): StoreFault | null {
    return this.#resting
  }

  /** Notes a failure to connect. */
  begin(fault: StoreFault): void {
    if (!this.#isTold) this.#told(fault)
    this.#isTold = true
    if (this.#resting !== null) return
    this.#resting = fault
    this.#later(this.#restMs, () => {
      this.#resting = null
    })
    this.#restMs = Math.min(this.#restMs * 2, this.#bounds.restMsMax)
  }

  /** Notes an answer. */
  end(): void {
    this.#restMs = this.#bounds.restMs
    if (this.#isTold) this.#told(null)
    this.#isTold = false
  }
}
