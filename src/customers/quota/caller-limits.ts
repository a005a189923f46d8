import type { Clock } from "../../base/outside-world.ts"
import { type InFlightLimiter, LocalInFlightLimiter } from "./in-flight/in-flight-limiter.ts"
import { LocalRateLimiter } from "./rate/local-rate-limiter.ts"
import type { RateLimit, RateLimiter } from "./rate/rate-limiter.ts"

/** What limits how often callers come, and how many of their requests are under way. */
export type CallerLimits = {
  /** Callers without a key, by their address. */
  readonly keyless: RateLimiter
  /** Callers with a key. */
  readonly rates: RateLimiter
  readonly inFlight: InFlightLimiter
}

/** How many callers are remembered by their rate. */
const CALLERS_MAX = 100_000

/** Builds the limits of a server that is one process. */
export function createLocalLimits(clock: Clock): CallerLimits {
  return {
    keyless: new LocalRateLimiter(clock, CALLERS_MAX),
    rates: new LocalRateLimiter(clock, CALLERS_MAX),
    inFlight: new LocalInFlightLimiter(),
  }
}

/**
 * What one of several nodes, which know nothing of each other's requests, admits of what all of them may: its part, so that
 * all together admit the whole. What a part comes to is worked out once for each change of how many there are.
 */
export class NodeShare {
  #count = 1
  #position = 0
  #rates = new WeakMap<RateLimit, RateLimit>()

  /** Has the node share with `count` nodes, itself included, among which it has a position, from zero. */
  setPosition({ count, position }: { readonly count: number; readonly position: number }): void {
    this.#count = count
    this.#position = position
    this.#rates = new WeakMap()
  }

  /** The node's part of a rate. At least one request at once is in it: where there are more nodes than that, these are more. */
  shareOfRate(rate: RateLimit): RateLimit {
    if (this.#count === 1) return rate
    const known = this.#rates.get(rate)
    if (known !== undefined) return known
    const { perSecond, burst, isBurstWhole = false } = rate
    const part = {
      perSecond: perSecond / this.#count,
      burst: isBurstWhole ? burst : Math.max(1, burst / this.#count),
    }
    this.#rates.set(rate, part)
    return part
  }

  /** The node's part of so many at once, one at least. What does not divide is with the nodes of the first positions. */
  shareOfMax(max: number): number {
    if (this.#count === 1) return max
    const rest = this.#position < max % this.#count ? 1 : 0
    return Math.max(1, Math.floor(max / this.#count) + rest)
  }
}

/** Limits that hold callers to this node's share. */
export function createNodeLimits({ keyless, rates, inFlight }: CallerLimits, share: NodeShare): CallerLimits {
  const sharing = (limiter: RateLimiter): RateLimiter => ({
    admit: (caller, rate) => limiter.admit(caller, share.shareOfRate(rate)),
  })
  return {
    keyless: sharing(keyless),
    rates: sharing(rates),
    inFlight: {
      tryAcquire: (caller, max) => inFlight.tryAcquire(caller, share.shareOfMax(max)),
      release: caller => inFlight.release(caller),
      get callersCount() {
        return inFlight.callersCount
      },
    },
  }
}
