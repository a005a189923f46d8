/** How often a caller may come. */
export type RateLimit = {
  readonly perSecond: number
  /** How many may come at once after a pause, at least one. */
  readonly burst: number
  /**
   * The burst is what one visitor does at once, who may come to one node alone: where several serve, each admits the whole of it.
   */
  readonly isBurstWhole?: true
}

/** Whether a request was admitted, and what the caller may do next. */
export type RateLimitResult = {
  /** Zero: admitted. Else the whole seconds until the caller may try again. */
  readonly waitS: number
  /** How many more would be admitted now. */
  readonly remaining: number
}

/**
 * Admits each caller at its own rate. It keeps one number a caller: the moment at which all that was admitted would be
 * paid for at the steady rate (the generic cell rate algorithm). So a caller whose rate changes is held to the new one
 * from its next request on, and who has paid needs no memory.
 */
export type RateLimiter = {
  /** Admits the caller, which costs it one request, or refuses it, which costs nothing. */
  readonly admit: (caller: string, rate: RateLimit) => RateLimitResult
}

/** Instants are sums of fractions: what is short of a whole request by less than this part of one counts as whole. */
const ROUNDING_TOLERANCE = 1e-6

/** How long one request takes to be paid for. */
export const intervalMs = ({ perSecond }: RateLimit): number => 1000 / perSecond

/**
 * What a caller owes, as the time until it has paid. Nobody owes more than a burst, unless its burst was longer before:
 * then it owes the whole of the new one from now on.
 */
export function debtMs(paidInMs: number, rate: RateLimit): number {
  return Math.min(Math.max(paidInMs, 0), intervalMs(rate) * rate.burst)
}

/** How many requests, and what part of another, a caller who owes so much may send now; under one it is refused. */
export function requestsLeft(owed: number, rate: RateLimit): number {
  const interval = intervalMs(rate)
  return (interval * rate.burst - owed) / interval + ROUNDING_TOLERANCE
}

/** What a caller is told who had so many requests left. */
export function rateLimitResult(left: number, rate: RateLimit): RateLimitResult {
  if (left < 1) return { waitS: Math.ceil(((1 - left) * intervalMs(rate)) / 1000), remaining: 0 }
  return { waitS: 0, remaining: Math.floor(left) - 1 }
}
