import type { Clock } from "../../base/outside-world.ts"
import type { InFlightLimiter } from "../../customers/quota/in-flight/in-flight-limiter.ts"
import type { RateLimit } from "../../customers/quota/rate/rate-limiter.ts"
import type { TierLimits } from "../../customers/quota/tier-limits.ts"
import { dayEndMs } from "../../customers/quota/units/quota-day.ts"
import type { TakeUnitsResult } from "../../customers/quota/units/unit-lease.ts"
import type { UnitQuota } from "../../customers/quota/units/unit-quota.ts"
import type { Meter } from "../metrics/meter.ts"
import type { CallerHeaders, FormatRateLimit, RefusalHeaders } from "../response/caller-headers.ts"
import { Problem } from "../response/problem.ts"

/** What limits a caller, ready to be applied. */
export type AdmissionRules = {
  readonly limits: TierLimits
  /** Null: nothing limits how often. */
  readonly rate: RateLimit | null
  /** The value of `RateLimit-Policy`; null: neither rate nor units are limited. */
  readonly policyHeader: string | null
  /** Whom refusals are counted for: a value of the label `tier`. */
  readonly tierLabel: string
}

/** What a pass is made from. */
export type RequestLeaseDeps = {
  readonly units: UnitQuota
  readonly inFlight: InFlightLimiter
  readonly clock: Clock
  readonly refusalHeaders: RefusalHeaders
  readonly formatRateLimit: FormatRateLimit
  readonly meter: Meter
}

/** One request that was let in, until it is answered. */
export class RequestLease {
  readonly #deps: RequestLeaseDeps
  readonly #request: Request
  /** Whose requests and units are counted: an account, or a publishable key. */
  readonly #callerId: string
  readonly #rules: AdmissionRules
  readonly #otherHeaders: CallerHeaders["other"]
  /** How many more requests would be let in now. */
  readonly #requestsLeft: number
  #isInFlight = false
  /** What units were taken of; null: none were. */
  #charged: TakeUnitsResult | null = null

  constructor(
    needs: RequestLeaseDeps,
    request: Request,
    subject: string,
    rules: AdmissionRules,
    more: CallerHeaders["other"],
    secondLeft: number,
  ) {
    this.#deps = needs
    this.#request = request
    this.#callerId = subject
    this.#rules = rules
    this.#otherHeaders = more
    this.#requestsLeft = secondLeft
  }

  /** Begins what is in flight; false: as much as may be is. */
  acquireInFlight(): boolean {
    const { inFlight: max } = this.#rules.limits
    if (max === null) return true
    this.#isInFlight = this.#deps.inFlight.tryAcquire(this.#callerId, max)
    return this.#isInFlight
  }

  /** Takes units of the day. Throws, or rejects with, `quota_exceeded`. A promise only when the store has to be asked. */
  charge(units: number): void | Promise<void> {
    const { unitsPerDay } = this.#rules.limits
    if (unitsPerDay === null) return
    const taken = this.#deps.units.take(this.#callerId, units, unitsPerDay)
    return taken instanceof Promise ? this.#applyLater(taken) : this.#apply(taken)
  }

  /** Gives units back: those that a failure of ours has cost, or that were taken for what was not done. */
  refund(units: number): void {
    if (!this.#charged?.isTaken) return
    this.#deps.units.refund(this.#callerId, units, this.#charged.day)
    this.#charged = { ...this.#charged, remaining: this.#charged.remaining + units }
  }

  /** What the answer has to carry, as of now. */
  headers(): CallerHeaders {
    const { limits, policyHeader } = this.#rules
    if (policyHeader === null) return { policy: policyHeader, remaining: "", other: this.#otherHeaders }
    const { unitsPerDay } = limits
    const dayLeft =
      unitsPerDay === null ? 0 : (this.#charged?.remaining ?? this.#deps.units.remaining(this.#callerId, unitsPerDay))
    const remaining = this.#deps.formatRateLimit(limits, this.#requestsLeft, dayLeft, this.#deps.clock())
    return { policy: policyHeader, remaining, other: this.#otherHeaders }
  }

  /** Has the refusal of the request carry it too. */
  attachRefusalHeaders(): void {
    this.#deps.refusalHeaders.set(this.#request, this.headers())
  }

  /** Ends what is in flight. It is called once. */
  release(): void {
    if (this.#isInFlight) this.#deps.inFlight.release(this.#callerId)
  }

  async #applyLater(taken: Promise<TakeUnitsResult>): Promise<void> {
    this.#apply(await taken)
  }

  #apply(taken: TakeUnitsResult): void {
    this.#charged = taken
    if (taken.isTaken) return
    this.#deps.meter.increment("mailkind_limited_total", 1, this.#rules.tierLabel, "units")
    throw quotaExceeded(this.#rules.limits.unitsPerDay ?? 0, taken.day, this.#deps.clock())
  }
}

/** The day is the one whose units are used up: after a clock was set back over midnight, that is not the clock's own. */
function quotaExceeded(limit: number, day: number, nowMs: number): Problem {
  const resetsAtMs = dayEndMs(day)
  return new Problem("quota_exceeded", `The ${limit} units of the day are used up.`, {
    retry_after: Math.ceil((resetsAtMs - nowMs) / 1000),
    limit,
    resets_at: new Date(resetsAtMs).toISOString(),
  })
}
