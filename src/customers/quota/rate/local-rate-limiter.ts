import type { Clock } from "../../../base/outside-world.ts"
import {
  debtMs,
  intervalMs,
  type RateLimit,
  type RateLimiter,
  type RateLimitResult,
  rateLimitResult,
  requestsLeft,
} from "./rate-limiter.ts"

/** When a caller has paid; written in place, since to write a map costs more than to find in it. */
type CallerDebt = { atMs: number }

/** Below so many callers nobody looks who of them has paid. */
const SWEEP_MIN = 1000

/**
 * Limits the rates of callers within one process. Whoever has paid is as good as never seen, and let go of: memory is that of
 * callers who owe something, and of as many others.
 */
export class LocalRateLimiter implements RateLimiter {
  readonly #clock: Clock
  /** Instants are counted from here: near zero, sums of fractions keep their precision for years. */
  readonly #originMs: number
  readonly #callersMax: number
  #newer = new Map<string, CallerDebt>()
  #older = new Map<string, CallerDebt>()
  /** When the newer half has so many, those who have paid are let go of. */
  #sweepAt: number
  #nowMs = 0

  /**
   * At most twice `callersMax` are remembered, and of those who owe something at least the last half of it. Whoever is
   * forgotten may burst again: more callers than that within the time of a burst are no longer held to their rates.
   */
  constructor(clock: Clock, callersMax: number) {
    this.#clock = clock
    this.#originMs = clock()
    this.#callersMax = callersMax
    this.#sweepAt = Math.min(SWEEP_MIN, callersMax)
  }

  /** How many callers are remembered. One may be counted twice. */
  get callersCount(): number {
    return this.#newer.size + this.#older.size
  }

  /** Admits the caller, which costs it one request, or refuses it, which costs nothing. */
  admit(caller: string, rate: RateLimit): RateLimitResult {
    const now = this.#now()
    const paid = this.#debtOf(caller, now)
    const owed = debtMs(paid.atMs - now, rate)
    const left = requestsLeft(owed, rate)
    if (left >= 1) paid.atMs = now + owed + intervalMs(rate)
    else if (owed < paid.atMs - now) paid.atMs = now + owed
    return rateLimitResult(left, rate)
  }

  #debtOf(caller: string, now: number): CallerDebt {
    const held = this.#newer.get(caller)
    if (held !== undefined) return held
    const paid = this.#older.get(caller) ?? { atMs: now }
    if (this.#newer.size >= this.#sweepAt) this.#sweep(now)
    this.#newer.set(caller, paid)
    return paid
  }

  /** Costs a look at each, and comes only when at least half as many are new. */
  #sweep(now: number): void {
    this.#older = withDebt(this.#older, now)
    const owe = withDebt(this.#newer, now)
    const isFull = owe.size * 2 > this.#callersMax
    this.#newer = isFull ? new Map() : owe
    if (isFull) this.#older = owe
    this.#sweepAt = Math.min(Math.max(owe.size * 2, SWEEP_MIN), this.#callersMax)
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

function withDebt(callers: ReadonlyMap<string, CallerDebt>, now: number): Map<string, CallerDebt> {
  const owe = new Map<string, CallerDebt>()
  for (const [caller, paid] of callers) if (paid.atMs > now) owe.set(caller, paid)
  return owe
}
