import { DAY_MS } from "../base/utc-day.ts"

/** What a caller may do; null: as much as it likes. */
type Limits = { readonly requestsPerSecond: number | null; readonly unitsPerDay: number | null }

const DAY_SECONDS = DAY_MS / 1000

/**
 * The value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10): the policy `second` counts requests, `day`
 * counts units until 00:00 UTC. A burst that is let through beyond the rate is no part of the policy, so it is not told.
 * Null without any policy: a list without members is not sent (RFC 9651 §4.1).
 */
export function policyText({ requestsPerSecond, unitsPerDay }: Limits): string | null {
  const policies = [
    ...(requestsPerSecond === null ? [] : [`"second";q=${requestsPerSecond};w=1`]),
    ...(unitsPerDay === null ? [] : [`"day";q=${unitsPerDay};w=${DAY_SECONDS}`]),
  ]
  return policies.length === 0 ? null : policies.join(", ")
}

/** The value of `RateLimit`: what is left of each policy, and the seconds until it is whole again. */
export function stateText(
  { requestsPerSecond, unitsPerDay }: Limits,
  secondLeft: number,
  dayLeft: number,
  nowMs: number,
): string {
  const second = requestsPerSecond === null ? "" : `"second";r=${Math.min(secondLeft, requestsPerSecond)};t=1`
  if (unitsPerDay === null) return second
  const day = `"day";r=${dayLeft};t=${DAY_SECONDS - (Math.floor(nowMs / 1000) % DAY_SECONDS)}`
  return second === "" ? day : `${second}, ${day}`
}
