import type { Later } from "../../base/timer.ts"
import type { StoreFault } from "./store-fault.ts"

/** Is told when the database cannot be reached any more, by its fault, and when it answers again, by null. */
export type Told = (fault: StoreFault | null) => void

/**
 * What is known of a database that cannot be reached: after a failure to connect nothing is asked for a moment, which doubles
 * with each failure that follows, so that a database that comes up is not run over. Then one asks, who may wait for long; all
 * others are refused at once until that one is answered.
 */
export class Outage {
  readonly #later: Later
  readonly #bounds: { readonly restMs: number; readonly restMsMax: number }
  readonly #told: Told
  /** What it began with; null: there is none. */
  #since: StoreFault | null = null
  #isResting = false
  #isTried = false
  #restMs: number

  constructor(later: Later, bounds: { readonly restMs: number; readonly restMsMax: number }, told: Told) {
    this.#later = later
    this.#bounds = bounds
    this.#told = told
    this.#restMs = bounds.restMs
  }

  /** Why nothing is to be asked now; null: it may be tried. */
  get fault(): StoreFault | null {
    return this.#isResting || this.#isTried ? this.#since : null
  }

  /** Begins to ask, and gives what ends that. Throws when nothing is to be asked now. */
  enter(): () => void {
    if (this.fault !== null) throw this.fault
    if (this.#since === null) return () => undefined
    this.#isTried = true
    return () => {
      this.#isTried = false
    }
  }

  /** Notes a failure to connect. */
  begin(fault: StoreFault): void {
    if (this.#since === null) this.#told(fault)
    this.#since ??= fault
    if (this.#isResting) return
    this.#isResting = true
    this.#later(this.#restMs, () => {
      this.#isResting = false
    })
    this.#restMs = Math.min(this.#restMs * 2, this.#bounds.restMsMax)
  }

  /** Notes an answer. */
  end(): void {
    this.#restMs = this.#bounds.restMs
    if (this.#since === null) return
    this.#since = null
    this.#told(null)
  }
}
