import type { CallerLimits } from "./caller-limits.ts"
import type { Rate, RateLimiter } from "./rate-limiter.ts"

/**
 * What one of several nodes, which know nothing of each other's requests, admits of what all of them may: its part, so that
 * all together admit the whole. What a part comes to is worked out once for each change of how many there are.
 */
export class NodeShare {
  #count = 1
  #position = 0
  #rates = new WeakMap<Rate, Rate>()

  /** Has the node share with `count` nodes, itself included, among which it has a position, from zero. */
  among({ count, position }: { readonly count: number; readonly position: number }): void {
    this.#count = count
    this.#position = position
    this.#rates = new WeakMap()
  }

  /** The node's part of a rate. At least one request at once is in it: where there are more nodes than that, these are more. */
  rateOf(rate: Rate): Rate {
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
  mostOf(max: number): number {
    if (this.#count === 1) return max
    const rest = this.#position < max % this.#count ? 1 : 0
    return Math.max(1, Math.floor(max / this.#count) + rest)
  }
}

/** Limits that hold callers to this node's share. */
export function sharedAmongNodes({ keyless, rates, inFlight }: CallerLimits, share: NodeShare): CallerLimits {
  const sharing = (limiter: RateLimiter): RateLimiter => ({
    admit: (caller, rate) => limiter.admit(caller, share.rateOf(rate)),
  })
  return {
    keyless: sharing(keyless),
    rates: sharing(rates),
    inFlight: {
      enter: (caller, max) => inFlight.enter(caller, share.mostOf(max)),
      leave: caller => inFlight.leave(caller),
      get callersCount() {
        return inFlight.callersCount
      },
    },
  }
}
