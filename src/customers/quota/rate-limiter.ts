import { LRUCache } from "lru-cache"
import type { Clock } from "../../base/clock.ts"

type Rate = {
  readonly perSecond: number
  /** How many may come at once after a pause. */
  readonly burst: number
  /** How many callers are remembered; the one not seen for longest is forgotten first. */
  readonly callersMax: number
}

/**
 * Admits each caller `perSecond` times a second. It keeps one number a caller: the moment at which all that was
 * admitted would be paid for at the steady rate (the generic cell rate algorithm).
 */
export class RateLimiter {
  readonly #clock: Clock
  readonly #intervalMs: number
  readonly #slackMs: number
  readonly #paidAtMs: LRUCache<string, number>

  constructor(clock: Clock, { perSecond, burst, callersMax }: Rate) {
    this.#clock = clock
    this.#intervalMs = 1000 / perSecond
    this.#slackMs = this.#intervalMs * (burst - 1)
    this.#paidAtMs = new LRUCache({ max: callersMax })
  }

  /** Admits the caller and returns 0, or refuses it and returns in how many whole seconds it may try again. */
  admit(caller: string): number {
    const now = this.#clock()
    const paidAt = this.#paidAtMs.get(caller) ?? 0
    // Nobody is ever this far ahead, unless the clock was set back: then what was paid for is forgotten.
    const isAhead = paidAt > now + this.#slackMs + this.#intervalMs
    const from = isAhead ? now : Math.max(paidAt, now)
    const waitMs = from - now - this.#slackMs
    if (waitMs > 0) return Math.ceil(waitMs / 1000)
    this.#paidAtMs.set(caller, from + this.#intervalMs)
    return 0
  }
}
