import type { Clock } from "../../base/clock.ts"
import { Recent } from "../../base/recent.ts"
import {
  type Admitted,
  admittedOf,
  intervalMs,
  owedMs,
  type Rate,
  type RateLimiter,
  requestsLeft,
} from "./rate-limiter.ts"

/** Limits the rates of callers within one process. */
export class LocalRates implements RateLimiter {
  readonly #clock: Clock
  /** Instants are counted from here: near zero, sums of fractions keep their precision for years. */
  readonly #originMs: number
  readonly #callersMax: number
  /** When each has paid; written in place, since to write a map costs more than to find in it. */
  #paid: Recent<string, { atMs: number }>
  #nowMs = 0

  /**
   * At least the last `callersMax` callers are remembered, at most twice as many. Whoever is forgotten may burst again:
   * more callers than that within the time of a burst are no longer held to their rates.
   */
  constructor(clock: Clock, callersMax: number) {
    this.#clock = clock
    this.#originMs = clock()
    this.#callersMax = callersMax
    this.#paid = new Recent(callersMax)
  }

  /** Admits the caller, which costs it one request, or refuses it, which costs nothing. */
  admit(caller: string, rate: Rate): Admitted {
    const now = this.#now()
    const paid = this.#paidOf(caller, now)
    const owed = owedMs(paid.atMs - now, rate)
    const left = requestsLeft(owed, rate)
    if (left >= 1) paid.atMs = now + owed + intervalMs(rate)
    else if (owed < paid.atMs - now) paid.atMs = now + owed
    return admittedOf(left, rate)
  }

  #paidOf(caller: string, now: number): { atMs: number } {
    const held = this.#paid.get(caller)
    if (held !== undefined) return held
    const paid = { atMs: now }
    this.#paid.set(caller, paid)
    return paid
  }

  /** The time since the limiter was built. A clock that was set back makes it forget who owes what. */
  #now(): number {
    const now = this.#clock() - this.#originMs
    if (now < this.#nowMs) this.#paid = new Recent(this.#callersMax)
    this.#nowMs = now
    return now
  }
}
