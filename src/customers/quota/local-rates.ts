import type { Clock } from "../../base/clock.ts"
import {
  type Admitted,
  admittedOf,
  intervalMs,
  owedMs,
  type Rate,
  type RateLimiter,
  requestsLeft,
} from "./rate-limiter.ts"

/** When a caller has paid; written in place, since to write a map costs more than to find in it. */
type Paid = { atMs: number }

/** Callers are let go of this often at most: each that stays has to be written anew. */
const AGE_MS = 1000

/**
 * Limits the rates of callers within one process. It remembers who came of late, in two halves of which the older is let go
 * of when all in it have paid: then they are as good as never seen, and memory is that of callers who owe something.
 */
export class LocalRates implements RateLimiter {
  readonly #clock: Clock
  /** Instants are counted from here: near zero, sums of fractions keep their precision for years. */
  readonly #originMs: number
  readonly #callersMax: number
  #newer = new Map<string, Paid>()
  #older = new Map<string, Paid>()
  /** When all of each half have paid. */
  #newerPaidMs = 0
  #olderPaidMs = 0
  #agedMs = 0
  #nowMs = 0

  /**
   * Of callers who owe something at least the last `callersMax` are remembered, at most twice as many. Whoever is forgotten
   * may burst again: more callers than that within the time of a burst are no longer held to their rates.
   */
  constructor(clock: Clock, callersMax: number) {
    this.#clock = clock
    this.#originMs = clock()
    this.#callersMax = callersMax
  }

  /** How many callers are remembered. One may be counted twice. */
  get callersCount(): number {
    return this.#newer.size + this.#older.size
  }

  /** Admits the caller, which costs it one request, or refuses it, which costs nothing. */
  admit(caller: string, rate: Rate): Admitted {
    const now = this.#now()
    const paid = this.#paidOf(caller, now)
    const owed = owedMs(paid.atMs - now, rate)
    const left = requestsLeft(owed, rate)
    if (left >= 1) paid.atMs = now + owed + intervalMs(rate)
    else if (owed < paid.atMs - now) paid.atMs = now + owed
    if (paid.atMs > this.#newerPaidMs) this.#newerPaidMs = paid.atMs
    return admittedOf(left, rate)
  }

  #paidOf(caller: string, now: number): Paid {
    const held = this.#newer.get(caller)
    if (held !== undefined) return held
    const paid = this.#older.get(caller) ?? { atMs: now }
    const hasPaid = now >= this.#olderPaidMs && now >= this.#agedMs + AGE_MS
    if (hasPaid || this.#newer.size >= this.#callersMax) this.#age(now)
    this.#newer.set(caller, paid)
    return paid
  }

  #age(now: number): void {
    this.#older = this.#newer
    this.#olderPaidMs = this.#newerPaidMs
    this.#newer = new Map()
    this.#newerPaidMs = now
    this.#agedMs = now
  }

  /** The time since the limiter was built. A clock that was set back makes it forget who owes what. */
  #now(): number {
    const now = this.#clock() - this.#originMs
    if (now < this.#nowMs) {
      this.#age(now)
      this.#age(now)
    }
    this.#nowMs = now
    return now
  }
}
