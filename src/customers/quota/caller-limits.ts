import type { Clock } from "../../base/clock.ts"
import type { InFlight } from "./in-flight.ts"
import { LocalInFlight } from "./local-in-flight.ts"
import { LocalRates } from "./local-rates.ts"
import type { RateLimiter } from "./rate-limiter.ts"

/** What limits how often callers come, and how many of their requests are under way. */
export type CallerLimits = {
  /** Callers without a key, by their address. */
  readonly keyless: RateLimiter
  /** Callers with a key. */
  readonly rates: RateLimiter
  readonly inFlight: InFlight
}

/** How many callers are remembered by their rate. */
const CALLERS_MAX = 100_000

/** Builds the limits of a server that is one process. */
export function localLimits(clock: Clock): CallerLimits {
  return {
    keyless: new LocalRates(clock, CALLERS_MAX),
    rates: new LocalRates(clock, CALLERS_MAX),
    inFlight: new LocalInFlight(),
  }
}
