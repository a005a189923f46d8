import { DAY_MS } from "../base/utc-day.ts"

/** What a caller may do; null: as much as it likes. */
type Limits = { readonly requestsPerSecond: number | null; readonly unitsPerDay: number | null }

const DAY_SECONDS = DAY_MS / 1000

/**
 * The value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10): the policy `second` counts requests, `day`
 * counts units until 00:00 UTC. A burst that is let through beyond the rate is no part of the policy, so it is not told. It is
 * the whole of what the caller may, on however many nodes, since it is that which lasts; what is left is told by each node of
 * its own share, since it is that which decides about the next request.
 * Null without any policy: a list without members is not sent (RFC 9651 §4.1).
 */
export function policyText({ requestsPerSecond, unitsPerDay }: Limits): string | null {
  const policies = [
    ...(requestsPerSecond === null ? [] : [`"second";q=${requestsPerSecond};w=1`]),
    ...(unitsPerDay === null ? [] : [`"day";q=${unitsPerDay};w=${DAY_SECONDS}`]),
  ]
  return policies.length === 0 ? null : policies.join(", ")
}

/** Tells the value of `RateLimit`: what is left of each policy, and the seconds until it is whole again. */
export type StateText = (limits: Limits, secondLeft: number, dayLeft: number, nowMs: number) => string

/** Builds a `StateText`. What two answers in a row have in common is written once: the parts around the units of the day. */
export function stateTexts(): StateText {
  let [second, untilMidnight] = [Number.NaN, ""]
  let [lastLeft, untilDay] = [Number.NaN, ""]
  return ({ requestsPerSecond, unitsPerDay }, secondLeft, dayLeft, nowMs) => {
    const now = Math.floor(nowMs / 1000)
    if (now !== second) [second, untilMidnight] = [now, `;t=${DAY_SECONDS - (now % DAY_SECONDS)}`]
    if (requestsPerSecond === null) return unitsPerDay === null ? "" : `"day";r=${dayLeft}${untilMidnight}`
    const left = Math.min(secondLeft, requestsPerSecond)
    if (unitsPerDay === null) return `"second";r=${left};t=1`
    // Most callers are far below their rate, and told the same of it each time.
    if (left !== lastLeft) [lastLeft, untilDay] = [left, `"second";r=${left};t=1, "day";r=`]
    return `${untilDay}${dayLeft}${untilMidnight}`
  }
}
