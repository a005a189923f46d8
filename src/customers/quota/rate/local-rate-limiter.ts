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
import type { RateSubject } from "./rate-subject.ts"

/** When a caller's debt is cleared. Written in place, since writing to a map costs more than a look-up. */
type CallerDebt = { clearedAtMs: number }

/** With fewer callers no sweep is made. */
const SWEEP_MIN = 1000

/**
 * Limits the rates of callers within one process. A caller without debt is equal to an unknown one and is dropped, so memory grows with
 * the callers in debt, and as many others.
 */
export class LocalRateLimiter implements RateLimiter {
  readonly #clock: Clock
  /** Instants count from here: near zero, sums of fractions keep their precision for years. */
  readonly #originMs: number
  readonly #callersMax: number
  #newer = new Map<string, CallerDebt>()
  #older = new Map<string, CallerDebt>()
  /** The size of the newer half at which callers without debt are dropped. */
  #sweepAt: number
  #nowMs = 0

  /**
   * Remembers at most 2 × `callersMax` callers. Of callers in debt, the latest `callersMax` / 2 are never forgotten. A forgotten caller may
   * burst again, so with more callers than that within the time of a burst the limits are not exact.
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

  /** Admits the caller at the cost of one request, or refuses it at no cost. */
  admit(caller: RateSubject, rate: RateLimit): RateLimitResult {
    const now = this.#now()
    const debt = this.#debtOf(caller, now)
    const owedMs = debtMs(debt.clearedAtMs - now, rate)
    const left = requestsLeft(owedMs, rate)
    if (left >= 1) debt.clearedAtMs = now + owedMs + intervalMs(rate)
    else if (owedMs < debt.clearedAtMs - now) debt.clearedAtMs = now + owedMs
    return rateLimitResult(left, rate)
  }

  #debtOf(caller: string, now: number): CallerDebt {
    const newer = this.#newer.get(caller)
    if (newer !== undefined) return newer
    const debt = this.#older.get(caller) ?? { clearedAtMs: now }
    if (this.#newer.size >= this.#sweepAt) this.#sweep(now)
    this.#newer.set(caller, debt)
    return debt
  }

  /** Visits every caller, and runs only when at least half as many are new. */
  #sweep(now: number): void {
    this.#older = withDebt(this.#older, now)
    const indebted = withDebt(this.#newer, now)
    const isFull = indebted.size * 2 > this.#callersMax
    this.#newer = isFull ? new Map() : indebted
    if (isFull) this.#older = indebted
    this.#sweepAt = Math.min(Math.max(indebted.size * 2, SWEEP_MIN), this.#callersMax)
  }

  /** The time since the limiter was created. A clock that was set back makes it forget all debts. */
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
  const indebted = new Map<string, CallerDebt>()
  for (const [caller, debt] of callers) if (debt.clearedAtMs > now) indebted.set(caller, debt)
  return indebted
}
