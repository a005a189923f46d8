import type { Extra } from "./extra-headers.ts"

/** How much is left of each limit; null: nothing limits it. */
export type Left = { readonly second: number | null; readonly day: number | null }

/** What a caller may do; null: as much as it likes. */
type Limits = { readonly requestsPerSecond: number | null; readonly unitsPerDay: number | null }

const DAY_SECONDS = 86_400

/**
 * `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10): the policy `second` counts requests, `day`
 * counts units until 00:00 UTC. A burst that is let through beyond the rate is no part of the policy, so it is not told.
 */
export function limitHeaders({ requestsPerSecond, unitsPerDay }: Limits, left: Left, nowMs: number): Extra {
  const policies: string[] = []
  const states: string[] = []
  if (requestsPerSecond !== null) {
    policies.push(`"second";q=${requestsPerSecond};w=1`)
    states.push(`"second";r=${Math.min(left.second ?? 0, requestsPerSecond)};t=1`)
  }
  if (unitsPerDay !== null) {
    policies.push(`"day";q=${unitsPerDay};w=${DAY_SECONDS}`)
    states.push(`"day";r=${left.day ?? 0};t=${DAY_SECONDS - (Math.floor(nowMs / 1000) % DAY_SECONDS)}`)
  }
  return { "RateLimit-Policy": policies.join(", "), RateLimit: states.join(", ") }
}
