import type { RateSubject } from "./rate-subject.ts"

/** How often a caller may send a request. */
export type RateLimit = {
  readonly perSecond: number
  /** How many requests may come at once after a pause, at least one. */
  readonly burst: number
  /** The burst is one visitor's, who may reach one node only, so each of several nodes admits the whole burst. */
  readonly isBurstWhole?: true
}

/** Whether a request was admitted, and what the caller may do next. */
export type RateLimitResult = {
  /** Zero: admitted. Otherwise the whole seconds until the caller may try again. */
  readonly waitS: number
  /** How many more requests would be admitted now. */
  readonly remaining: number
}

/**
 * Limits the rate of each caller by the generic cell rate algorithm (ITU-T I.371): it stores one number a caller, the instant at which
 * the debt of all admitted requests is cleared at the steady rate. A caller whose rate changes is held to the new one from its next
 * request on, and a caller without debt needs no memory.
 */
export type RateLimiter = {
  /** Admits the caller at the cost of one request, or refuses it at no cost. */
  readonly admit: (caller: RateSubject, rate: RateLimit) => RateLimitResult
}

/** Instants are sums of fractions: a request that is incomplete by less than this part counts as complete. */
const ROUNDING_TOLERANCE = 1e-6

/** The time in which the debt of one request is cleared. */
export const intervalMs = ({ perSecond }: RateLimit): number => 1000 / perSecond

/**
 * A caller's debt, as the time until it is cleared, given that time under the caller's previous rate. It is at most a whole burst of
 * the current rate.
 */
export function debtMs(clearedInMs: number, rate: RateLimit): number {
  return Math.min(Math.max(clearedInMs, 0), intervalMs(rate) * rate.burst)
}

/** How many requests, with fractions, a caller with this debt may send now. Below one it is refused. */
export function requestsLeft(owedMs: number, rate: RateLimit): number {
  const interval = intervalMs(rate)
  return (interval * rate.burst - owedMs) / interval + ROUNDING_TOLERANCE
}

/** The result for a caller that had so many requests left. */
export function rateLimitResult(left: number, rate: RateLimit): RateLimitResult {
  if (left < 1) return { waitS: Math.ceil(((1 - left) * intervalMs(rate)) / 1000), remaining: 0 }
  return { waitS: 0, remaining: Math.floor(left) - 1 }
}
