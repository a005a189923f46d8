import type { Clock } from "../../base/outside-world.ts"
import { type InFlightLimiter, LocalInFlightLimiter } from "./in-flight/in-flight-limiter.ts"
import { LocalRateLimiter } from "./rate/local-rate-limiter.ts"
import type { RateLimit, RateLimiter } from "./rate/rate-limiter.ts"

/** The limiters of a process: how often callers may send requests, and how many may be in flight. */
export type CallerLimits = {
  /** Callers without a key, by their address. */
  readonly keyless: RateLimiter
  /** Callers with a key. */
  readonly rates: RateLimiter
  readonly inFlight: InFlightLimiter
}

/** How many callers a rate limiter remembers. */
const CALLERS_MAX = 100_000

/** Creates the limiters of a server that is one process. */
export function createLocalLimits(clock: Clock): CallerLimits {
  return {
    keyless: new LocalRateLimiter(clock, CALLERS_MAX),
    rates: new LocalRateLimiter(clock, CALLERS_MAX),
    inFlight: new LocalInFlightLimiter(),
  }
}

/**
 * This node's share of the limits. Nodes do not know each other's requests, so each admits its part and all together admit the whole
 * (DECISIONS 34). Shares are computed once for each change of the count of nodes.
 */
export class NodeShare {
  #count = 1
  #position = 0
  #rates = new WeakMap<RateLimit, RateLimit>()

  /** Sets the count of nodes, this one included, and its position among them, from zero. */
  setPosition({ count, position }: { readonly count: number; readonly position: number }): void {
    this.#count = count
    this.#position = position
    this.#rates = new WeakMap()
  }

  /** The share of a rate. Its burst is at least one, so more nodes than the whole burst admit more in all. */
  shareOfRate(rate: RateLimit): RateLimit {
    if (this.#count === 1) return rate
    const cached = this.#rates.get(rate)
    if (cached !== undefined) return cached
    const { perSecond, burst, isBurstWhole = false } = rate
    const share = {
      perSecond: perSecond / this.#count,
      burst: isBurstWhole ? burst : Math.max(1, burst / this.#count),
    }
    this.#rates.set(rate, share)
    return share
  }

  /** The share of a count, at least one. The nodes of the first positions take the remainder. */
  shareOfMax(max: number): number {
    if (this.#count === 1) return max
    const remainder = this.#position < max % this.#count ? 1 : 0
    return Math.max(1, Math.floor(max / this.#count) + remainder)
  }
}

/** Wraps limiters so that they admit only this node's share. */
export function createNodeLimits({ keyless, rates, inFlight }: CallerLimits, share: NodeShare): CallerLimits {
  const withShare = (limiter: RateLimiter): RateLimiter => ({
    admit: (caller, rate) => limiter.admit(caller, share.shareOfRate(rate)),
  })
  return {
    keyless: withShare(keyless),
    rates: withShare(rates),
    inFlight: {
      tryAcquire: (caller, max) => inFlight.tryAcquire(caller, share.shareOfMax(max)),
      release: caller => inFlight.release(caller),
      get callersCount() {
        return inFlight.callersCount
      },
    },
  }
}
