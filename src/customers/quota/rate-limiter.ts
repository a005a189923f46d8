import type { Clock } from "../../base/clock.ts"
import { Recent } from "../../base/recent.ts"

/** How often a caller may come. */
export type Rate = {
  readonly perSecond: number
  /** How many may come at once after a pause, at least one. */
  readonly burst: number
}

/** Whether a request was admitted, and what the caller may do next. */
export type Admitted = {
  /** Zero: admitted. Else the whole seconds until the caller may try again. */
  readonly waitS: number
  /** How many more would be admitted now. */
  readonly remaining: number
}

/** Instants are sums of fractions: what is short of a whole request by less than this part of one counts as whole. */
const ROUNDING = 1e-6

/**
 * Admits each caller at its own rate. It keeps one number a caller: the moment at which all that was admitted would be
 * paid for at the steady rate (the generic cell rate algorithm). So a caller whose rate changes is held to the new one
 * from its next request on, and who has paid needs no memory.
 */
export class RateLimiter {
  readonly #clock: Clock
  /** Instants are counted from here: near zero, sums of fractions keep their precision for years. */
  readonly #originMs: number
  readonly #callersMax: number
  #paidAtMs: Recent<string, number>
  #nowMs = 0

  /**
   * At least the last `callersMax` callers are remembered, at most twice as many. Whoever is forgotten may burst again:
   * more callers than that within the time of a burst are no longer held to their rates.
   */
  constructor(clock: Clock, callersMax: number) {
    this.#clock = clock
    this.#originMs = clock()
    this.#callersMax = callersMax
    this.#paidAtMs = new Recent(callersMax)
  }

  /** Admits the caller, which costs it one request, or refuses it, which costs nothing. */
  admit(caller: string, { perSecond, burst }: Rate): Admitted {
    const now = this.#now()
    const intervalMs = 1000 / perSecond
    const burstMs = intervalMs * burst
    // Nobody owes more than a burst, unless its burst was longer before: then it owes the whole of the new one from now on.
    const oldMs = (this.#paidAtMs.get(caller) ?? now) - now
    const owedMs = Math.min(Math.max(oldMs, 0), burstMs)
    const left = (burstMs - owedMs) / intervalMs + ROUNDING
    if (left < 1) {
      if (owedMs < oldMs) this.#paidAtMs.set(caller, now + owedMs)
      return { waitS: Math.ceil(((1 - left) * intervalMs) / 1000), remaining: 0 }
    }
    this.#paidAtMs.set(caller, now + owedMs + intervalMs)
    return { waitS: 0, remaining: Math.floor(left) - 1 }
  }

  /** The time since the limiter was built. A clock that was set back makes it forget who owes what. */
  #now(): number {
    const now = this.#clock() - this.#originMs
    if (now < this.#nowMs) this.#paidAtMs = new Recent(this.#callersMax)
    this.#nowMs = now
    return now
  }
}
