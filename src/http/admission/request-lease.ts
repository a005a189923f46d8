import { dayEndMs } from "../../base/time.ts"
import type { InFlightLimiter } from "../../customers/quota/in-flight/in-flight-limiter.ts"
import type { RateLimit } from "../../customers/quota/rate/rate-limiter.ts"
import type { TierLimits } from "../../customers/quota/tier-limits.ts"
import type { TakeUnitsResult } from "../../customers/quota/units/unit-lease.ts"
import type { UnitQuota } from "../../customers/quota/units/unit-quota.ts"
import type { Meter } from "../metrics/meter.ts"
import { type CallerHeaders, type PolicyLimits, rateLimitState } from "../response/caller-headers.ts"
import { keyQuotaMessage, quotaExceeded } from "../response/problem.ts"

/** The limits of one key, which hold beside those of its caller. */
type KeyRules = {
  /** The id that its rate and units are counted under. */
  readonly id: string
  readonly requestsPerSecond: number | null
  readonly unitsPerDay: number | null
  /** Null: unlimited. */
  readonly rate: RateLimit | null
}

/** The limits of a kind of caller, with the values that are derived from them once. */
export type AdmissionRules = {
  readonly limits: TierLimits
  /** Null: the key has no limits of its own. */
  readonly key: KeyRules | null
  /** What the headers tell: the smaller of the limits of the caller and of the key. */
  readonly told: PolicyLimits
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
  readonly meter: Meter
}

/** An admitted request: it holds a place among the caller's requests in flight, and the units that it was charged. */
export class RequestLease {
  readonly #deps: RequestLeaseDeps
  /** The id that rates and requests in flight are counted under: of the account, or of the publishable key. */
  readonly #callerId: string
  /** The subject that units are leased under. */
  readonly #unitsSubject: string
  readonly #rules: AdmissionRules
  readonly #otherHeaders: CallerHeaders["other"]
  /** How many further requests the rate would admit at once. */
  readonly #requestsLeft: number
  #isInFlight = false
  /** The units of the caller that were charged; null: none were. */
  #charged: TakeUnitsResult | null = null
  /** The units of the key's own limit that were charged; null: none were, or the key has none. */
  #keyCharged: TakeUnitsResult | null = null

  constructor(
    deps: RequestLeaseDeps,
    callerId: string,
    unitsSubject: string,
    rules: AdmissionRules,
    otherHeaders: CallerHeaders["other"],
    requestsLeft: number,
  ) {
    this.#deps = deps
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
    const { key } = this.#rules
    return key === null || key.unitsPerDay === null
      ? this.#chargeCaller(units)
      : this.#chargeBoth(key.id, key.unitsPerDay, units)
  }

  #chargeCaller(units: number): void | Promise<void> {
    const { unitsPerDay } = this.#rules.limits
    if (unitsPerDay === null) return
    const result = this.#deps.units.take(this.#unitsSubject, units, unitsPerDay)
    return result instanceof Promise ? this.#applyLater(result, units) : this.#apply(result, units)
  }

  /** Returns units that were charged, because the server failed or did less than was charged for. */
  refund(units: number): void {
    this.#charged = this.#refunded(this.#unitsSubject, this.#charged, units)
    const { key } = this.#rules
    if (key !== null) this.#keyCharged = this.#refunded(key.id, this.#keyCharged, units)
  }

  #refunded(subject: string, charged: TakeUnitsResult | null, units: number): TakeUnitsResult | null {
    if (!charged?.isTaken) return charged
    this.#deps.units.refund(subject, units, charged.day)
    return { ...charged, remaining: charged.remaining + units }
  }

  /** Takes the units of the key first, and returns them when the caller has too few: all or none are taken. */
  async #chargeBoth(keyId: string, perDay: number, units: number): Promise<void> {
    const taken = await this.#deps.units.take(keyId, units, perDay)
    if (!taken.isTaken) {
      this.#keyCharged = taken
      throw this.#unitsRefusal(taken, units, perDay, keyQuotaMessage(units, taken.remaining, perDay))
    }
    try {
      await this.#chargeCaller(units)
      this.#keyCharged = taken
    } catch (error) {
      this.#deps.units.refund(keyId, units, taken.day)
      throw error
    }
  }

  /** The headers of the response, as of now. */
  headers(): CallerHeaders {
    const { told, policyHeader } = this.#rules
    if (policyHeader === null) return { policy: policyHeader, remaining: "", other: this.#otherHeaders }
    const { units } = this.#deps
    const today = units.today()
    const remaining = rateLimitState(told, this.#requestsLeft, this.#unitsLeft(today), units.now(), today)
    return { policy: policyHeader, remaining, other: this.#otherHeaders }
  }

  /** The same with their day. Asks the database where it is not known how many units are left of the day. */
  async headersOfDay(): Promise<{ readonly headers: CallerHeaders; readonly day: number }> {
    const { limits, key } = this.#rules
    const { units } = this.#deps
    if (limits.unitsPerDay !== null) await units.readRemaining(this.#unitsSubject, limits.unitsPerDay)
    if (key !== null && key.unitsPerDay !== null) await units.readRemaining(key.id, key.unitsPerDay)
    return { headers: this.headers(), day: this.#deps.units.today() }
  }

  /** The day of the units that were charged; null: none were. */
  get chargedDay(): number | null {
    return this.#charged?.day ?? this.#keyCharged?.day ?? null
  }

  /** Units that are left of `today`; null: unlimited, or not known. What was charged before midnight tells nothing about the new day. */
  #unitsLeft(today: number): number | null {
    const { limits, key } = this.#rules
    const left = this.#leftOf(this.#unitsSubject, limits.unitsPerDay, this.#charged, today)
    if (key === null || key.unitsPerDay === null) return left
    const leftOfKey = this.#leftOf(key.id, key.unitsPerDay, this.#keyCharged, today)
    if (limits.unitsPerDay === null || leftOfKey === 0) return leftOfKey
    return left === null || leftOfKey === null ? null : Math.min(left, leftOfKey)
  }

  #leftOf(subject: string, perDay: number | null, charged: TakeUnitsResult | null, today: number): number | null {
    if (perDay === null) return null
    return charged?.day === today ? charged.remaining : this.#deps.units.remaining(subject, perDay)
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
    if (!result.isTaken) throw this.#unitsRefusal(result, needed, this.#rules.limits.unitsPerDay ?? 0, null)
  }

  /** Counts the refusal and gives its problem. `detail` null: the sentence about the caller's units. */
  #unitsRefusal({ day, remaining }: TakeUnitsResult, needed: number, limit: number, detail: string | null) {
    this.#deps.meter.increment("mailkind_limited_total", 1, this.#rules.tierLabel, "units")
    // The day differs from the clock's day when the clock was set back over midnight.
    return quotaExceeded({ needed, remaining, limit }, dayEndMs(day), this.#deps.units.now(), detail)
  }
}
