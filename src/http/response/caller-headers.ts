import { DAY_MS, dayEndMs, secondsUntil, utcDay } from "../../base/time.ts"

/** The limits that headers tell. Null: unlimited. */
export type PolicyLimits = { readonly requestsPerSecond: number | null; readonly unitsPerDay: number | null }

const DAY_SECONDS = DAY_MS / 1000

/**
 * The value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10): the policy `second` counts requests, `day`
 * counts units until 00:00 UTC. It does not include the burst beyond the rate. It is the caller's limit over all nodes,
 * while `RateLimit` gives what is left of this node's share, which decides about the next request.
 * Null: no policy, because an empty list is not sent (RFC 9651 §4.1).
 */
export function rateLimitPolicy({ requestsPerSecond, unitsPerDay }: PolicyLimits): string | null {
  const policies = [
    ...(requestsPerSecond === null ? [] : [`"second";q=${requestsPerSecond};w=1`]),
    ...(unitsPerDay === null ? [] : [`"day";q=${unitsPerDay};w=${DAY_SECONDS}`]),
  ]
  return policies.length === 0 ? null : policies.join(", ")
}

/**
 * The value of `RateLimit`: what is left of each policy, and the seconds until it is reset. `unitsLeft` null: it is not
 * known, so the policy `day` is left out. `day`: the day whose units are left. Empty: nothing can be told.
 */
export function rateLimitState(
  { requestsPerSecond, unitsPerDay }: PolicyLimits,
  requestsLeft: number,
  unitsLeft: number | null,
  nowMs: number,
  day: number = utcDay(nowMs),
): string {
  const second = requestsPerSecond === null ? "" : `"second";r=${Math.min(requestsLeft, requestsPerSecond)};t=1`
  if (unitsPerDay === null || unitsLeft === null) return second
  const resetS = secondsUntil(dayEndMs(day), nowMs)
  return `${second}${second === "" ? "" : ", "}"day";r=${unitsLeft};t=${resetS}`
}

/** The headers that depend on the caller. */
export type CallerHeaders = {
  /** The value of `RateLimit-Policy`; null: the caller has no limits. */
  readonly policy: string | null
  /** The value of `RateLimit`; meaningless without a policy. Empty: the header is not sent. */
  readonly remaining: string
  /** The headers about new terms and about CORS, by name; null: none. */
  readonly other: Readonly<Record<string, string>> | null
}

/** All headers by name. */
export function headerFields({ policy, remaining, other }: CallerHeaders): Readonly<Record<string, string>> {
  if (policy === null) return { ...other }
  return { ...other, "RateLimit-Policy": policy, ...(remaining === "" ? {} : { RateLimit: remaining }) }
}

/** A limit that refuses a request. The window of a limit of requests at once is null. */
export type MetLimit = {
  readonly policy: "second" | "client" | "concurrent" | "day" | "reports"
  readonly limit: number
  readonly windowS: number | null
  readonly left: number
  readonly resetS: number
}

/** The headers of the caller with the limit that was met, in the place of the caller's own of that name or before all. */
export function withMetLimit(
  headers: Readonly<Record<string, string>>,
  { policy, limit, windowS, left, resetS }: MetLimit,
): Readonly<Record<string, string>> {
  const window = windowS === null ? "" : `;w=${windowS}`
  return {
    ...headers,
    "RateLimit-Policy": putItem(headers["RateLimit-Policy"], policy, `"${policy}";q=${limit}${window}`),
    RateLimit: putItem(headers["RateLimit"], policy, `"${policy}";r=${left};t=${resetS}`),
  }
}

/** A list of a header with the item of that name. */
function putItem(list: string | undefined, name: string, item: string): string {
  const items = list === undefined ? [] : list.split(", ")
  const at = items.findIndex(other => other.startsWith(`"${name}"`))
  return (at < 0 ? [item, ...items] : items.with(at, item)).join(", ")
}
