import type { Clock } from "../base/outside-world.ts"
import type { CachingResolver } from "./dns/dns-types.ts"

/** Where a result came from, and how long it is fresh. */
export type CacheStatus = {
  /** Every part came from a cache, fresh or stale. False: nothing was queried, or a part was not cached or failed. */
  readonly isCached: boolean
  /** Until when a new query would give the same, in milliseconds since the Unix epoch. */
  readonly freshUntilMs: number
}

/** Combines the cache status of several DNS answers. */
type CacheStatusTracker = {
  /** Wraps a resolver so that each answer counts. A failure counts as fresh for `failureTtlMs`. */
  readonly track: (resolver: CachingResolver, failureTtlMs: number) => CachingResolver
  /** The same for answers that a result can do without: a failure leaves the others cached. */
  readonly trackOptional: (resolver: CachingResolver, failureTtlMs: number) => CachingResolver
  /** The status of all answers so far: all came from a cache, and until when the first of them is fresh. */
  readonly status: () => CacheStatus
}

/** Builds a tracker without answers: nothing is cached, and nothing is fresh. */
export function createCacheStatusTracker(clock: Clock): CacheStatusTracker {
  let earliestMs: number | null = null
  let areAllCached = true
  const record = (isCached: boolean, freshUntilMs: number): void => {
    earliestMs = Math.min(earliestMs ?? freshUntilMs, freshUntilMs)
    areAllCached &&= isCached
  }
  const tracking =
    (isOptional: boolean) =>
    (resolver: CachingResolver, failureTtlMs: number): CachingResolver =>
    question =>
      resolver(question).then(answer => {
        if (answer.known) record(answer.value.isCached, answer.value.freshUntilMs)
        else record(isOptional, clock() + failureTtlMs)
        return answer
      })
  return {
    track: tracking(false),
    trackOptional: tracking(true),
    status: () => ({ isCached: earliestMs !== null && areAllCached, freshUntilMs: earliestMs ?? clock() }),
  }
}
