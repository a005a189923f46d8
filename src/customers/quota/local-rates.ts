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

/** Below so many callers nobody looks who of them has paid. */
const LOOK_MIN = 1000

/**
 * Limits the rates of callers within one process. Whoever has paid is as good as never seen, and let go of: memory is that of
 * callers who owe something, and of as many others.
 */
export class LocalRates implements RateLimiter {
  readonly #clock: Clock
  /** Instants are counted from here: near zero, sums of fractions keep their precision for years. */
  readonly #originMs: number
  readonly #callersMax: number
  #newer = new Map<string, Paid>()
  #older = new Map<string, Paid>()
  /** When the newer half has so many, those who have paid are let go of. */
  #lookAt: number
  #nowMs = 0

  /**
   * At most twice `callersMax` are remembered, and of those who owe something at least the last half of it. Whoever is
   * forgotten may burst again: more callers than that within the time of a burst are no longer held to their rates.
   */
  constructor(clock: Clock, callersMax: number) {
    this.#clock = clock
    this.#originMs = clock()
    this.#callersMax = callersMax
    this.#lookAt = Math.min(LOOK_MIN, callersMax)
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
    return admittedOf(left, rate)
  }

  #paidOf(caller: string, now: number): Paid {
    const held = this.#newer.get(caller)
    if (held !== undefined) return held
    const paid = this.#older.get(caller) ?? { atMs: now }
    if (this.#newer.size >= this.#lookAt) this.#letGo(now)
    this.#newer.set(caller, paid)
    return paid
  }

  /** Costs a look at each, and comes only when at least half as many are new. */
  #letGo(now: number): void {
    this.#older = owing(this.#older, now)
    const owe = owing(this.#newer, now)
    const isFull = owe.size * 2 > this.#callersMax
    this.#newer = isFull ? new Map() : owe
    if (isFull) this.#older = owe
    this.#lookAt = Math.min(Math.max(owe.size * 2, LOOK_MIN), this.#callersMax)
  }

  /** The time since the limiter was built. A clock that was set back makes it forget who owes what. */
  #now(): number {
    const now = this.#clock() - this.#originMs
    if (now < this.#nowMs) {
      this.#newer = new Map()
      this.#older = new Map()
    }
    this.#nowMs = now
    return now
  }
}

function owing(callers: ReadonlyMap<string, Paid>, now: number): Map<string, Paid> {
  const owe = new Map<string, Paid>()
  for (const [caller, paid] of callers) if (paid.atMs > now) owe.set(caller, paid)
  return owe
}
