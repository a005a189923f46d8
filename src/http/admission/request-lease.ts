import type { Clock } from "../../base/outside-world.ts"
import { dayEndMs } from "../../base/time.ts"
import type { InFlightLimiter } from "../../customers/quota/in-flight/in-flight-limiter.ts"
import type { RateLimit } from "../../customers/quota/rate/rate-limiter.ts"
import type { TierLimits } from "../../customers/quota/tier-limits.ts"
import type { TakeUnitsResult } from "../../customers/quota/units/unit-lease.ts"
import type { UnitQuota } from "../../customers/quota/units/unit-quota.ts"
import type { Meter } from "../metrics/meter.ts"
import type { CallerHeaders, FormatRateLimit, RefusalHeaders } from "../response/caller-headers.ts"
import { quotaExceeded } from "../response/problem.ts"

/** The limits of a kind of caller, with the values that are derived from them once. */
export type AdmissionRules = {
  readonly limits: TierLimits
  /** Null: unlimited. */
  readonly rate: RateLimit | null
  /** The value of `RateLimit-Policy`; null: neither rate nor units are limited. */
  readonly policyHeader: string | null
  /** The value of the metric label `tier` under which refusals are counted. */
  readonly tierLabel: string
}

/** Dependencies of a request's lease. */
export type RequestLeaseDeps = {
  readonly units: UnitQuota
  readonly inFlight: InFlightLimiter
  readonly clock: Clock
  readonly refusalHeaders: RefusalHeaders
  readonly formatRateLimit: FormatRateLimit
  readonly meter: Meter
}

/** An admitted request: it holds a place among the caller's requests in flight, and the units that it was charged. */
export class RequestLease {
  readonly #deps: RequestLeaseDeps
  readonly #request: Request
  /** The id that rates and requests in flight are counted under: of the account, or of the publishable key. */
  readonly #callerId: string
  /** The subject that units are leased under. */
  readonly #unitsSubject: string
  readonly #rules: AdmissionRules
  readonly #otherHeaders: CallerHeaders["other"]
  /** How many further requests the rate would admit at once. */
  readonly #requestsLeft: number
  #isInFlight = false
  /** The result of `charge`; null: nothing was charged. */
  #charged: TakeUnitsResult | null = null

  constructor(
    deps: RequestLeaseDeps,
    request: Request,
    callerId: string,
    unitsSubject: string,
    rules: AdmissionRules,
    otherHeaders: CallerHeaders["other"],
    requestsLeft: number,
  ) {
    this.#deps = deps
    this.#request = request
    this.#callerId = callerId
    this.#unitsSubject = unitsSubject
    this.#rules = rules
    this.#otherHeaders = otherHeaders
    this.#requestsLeft = requestsLeft
  }

  /** Counts the request as in flight. False: the caller has as many in flight as it may have, and this one is not counted. */
  acquireInFlight(): boolean {
    const { inFlight: max } = this.#rules.limits
    if (max === null) return true
    this.#isInFlight = this.#deps.inFlight.tryAcquire(this.#callerId, max)
    return this.#isInFlight
  }

  /** Takes units from the day's quota. Throws, or rejects with, `quota_exceeded`. Gives a promise only when the database is needed. */
  charge(units: number): void | Promise<void> {
    const { unitsPerDay } = this.#rules.limits
    if (unitsPerDay === null) return
    const result = this.#deps.units.take(this.#unitsSubject, units, unitsPerDay)
    return result instanceof Promise ? this.#applyLater(result, units) : this.#apply(result, units)
  }

  /** Returns units that were charged, because the server failed or did less than was charged for. */
  refund(units: number): void {
    if (!this.#charged?.isTaken) return
    this.#deps.units.refund(this.#unitsSubject, units, this.#charged.day)
    this.#charged = { ...this.#charged, remaining: this.#charged.remaining + units }
  }

  /** The headers of the response, as of now. */
  headers(): CallerHeaders {
    const { limits, policyHeader } = this.#rules
    if (policyHeader === null) return { policy: policyHeader, remaining: "", other: this.#otherHeaders }
    const { units, clock, formatRateLimit } = this.#deps
    const today = units.today()
    const remaining = formatRateLimit(limits, this.#requestsLeft, this.#unitsLeft(today), clock(), today)
    return { policy: policyHeader, remaining, other: this.#otherHeaders }
  }

  /** The same with their day. Asks the database where it is not known how many units are left of the day. */
  async headersOfDay(): Promise<{ readonly headers: CallerHeaders; readonly day: number }> {
    const { unitsPerDay } = this.#rules.limits
    if (unitsPerDay !== null) await this.#deps.units.readRemaining(this.#unitsSubject, unitsPerDay)
    return { headers: this.headers(), day: this.#deps.units.today() }
  }

  /** The day of the units that were charged; null: none were. */
  get chargedDay(): number | null {
    return this.#charged?.day ?? null
  }

  /** Units that are left of `today`; null: unlimited, or not known. What was charged before midnight tells nothing about the new day. */
  #unitsLeft(today: number): number | null {
    const { unitsPerDay } = this.#rules.limits
    if (unitsPerDay === null) return null
    if (this.#charged?.day === today) return this.#charged.remaining
    return this.#deps.units.remaining(this.#unitsSubject, unitsPerDay)
  }

  /** Gives the same headers to the problem response of this request. */
  attachRefusalHeaders(): void {
    this.#deps.refusalHeaders.set(this.#request, this.headers())
  }

  /** The request is no longer in flight. Must be called once. */
  release(): void {
    if (this.#isInFlight) this.#deps.inFlight.release(this.#callerId)
  }

  async #applyLater(result: Promise<TakeUnitsResult>, needed: number): Promise<void> {
    this.#apply(await result, needed)
  }

  #apply(result: TakeUnitsResult, needed: number): void {
    this.#charged = result
    if (result.isTaken) return
    this.#deps.meter.increment("mailkind_limited_total", 1, this.#rules.tierLabel, "units")
    const limit = this.#rules.limits.unitsPerDay ?? 0
    // The day differs from the clock's day when the clock was set back over midnight.
    const { day, remaining } = result
    throw quotaExceeded({ needed, remaining, limit }, dayEndMs(day), this.#deps.clock())
  }
}
