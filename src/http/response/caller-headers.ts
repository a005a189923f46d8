import { flattenString } from "../../base/text.ts"
import { DAY_MS } from "../../base/time.ts"

/** What a caller may do; null: as much as it likes. */
type PolicyLimits = { readonly requestsPerSecond: number | null; readonly unitsPerDay: number | null }

const DAY_SECONDS = DAY_MS / 1000

/**
 * The value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10): the policy `second` counts requests, `day`
 * counts units until 00:00 UTC. A burst that is let through beyond the rate is no part of the policy, so it is not told. It is
 * the whole of what the caller may, on however many nodes, since it is that which lasts; what is left is told by each node of
 * its own share, since it is that which decides about the next request.
 * Null without any policy: a list without members is not sent (RFC 9651 §4.1).
 */
export function rateLimitPolicy({ requestsPerSecond, unitsPerDay }: PolicyLimits): string | null {
  const policies = [
    ...(requestsPerSecond === null ? [] : [`"second";q=${requestsPerSecond};w=1`]),
    ...(unitsPerDay === null ? [] : [`"day";q=${unitsPerDay};w=${DAY_SECONDS}`]),
  ]
  return policies.length === 0 ? null : policies.join(", ")
}

/** Tells the value of `RateLimit`: what is left of each policy, and the seconds until it is whole again. */
export type FormatRateLimit = (limits: PolicyLimits, secondLeft: number, dayLeft: number, nowMs: number) => string

/** The last digits of the units that are left, which is all that two answers in a row differ in. */
const TAIL_VALUES = 1000
const TAILS = Array.from({ length: TAIL_VALUES }, (_, tail) => String(tail).padStart(3, "0"))

/**
 * Builds a `FormatRateLimit`. What two answers in a row have in common is written once: all but the last digits of the units. To
 * write a number and put three parts together takes more than half as long again.
 */
export function createRateLimitFormatter(): FormatRateLimit {
  const untilTail = createPrefixFormatter()
  const untilMidnight = createSuffixFormatter()
  return ({ requestsPerSecond, unitsPerDay }, secondLeft, dayLeft, nowMs) => {
    const left = requestsPerSecond === null ? null : Math.min(secondLeft, requestsPerSecond)
    if (unitsPerDay === null) return formatSecond(left)
    const thousands = Math.floor(dayLeft / TAIL_VALUES)
    const tail = thousands === 0 ? dayLeft : TAILS[dayLeft % TAIL_VALUES]
    return `${untilTail(left, thousands)}${tail}${untilMidnight(nowMs)}`
  }
}

const formatSecond = (left: number | null): string => (left === null ? "" : `"second";r=${left};t=1`)

/** What stands before the last digits. Most callers are far below their rate, and told the same of it each time. */
function createPrefixFormatter(): (left: number | null, thousands: number) => string {
  let [heldLeft, heldThousands, held]: [number | null, number, string] = [null, Number.NaN, ""]
  return (left, thousands) => {
    if (left !== heldLeft || thousands !== heldThousands) {
      const second = left === null ? "" : `${formatSecond(left)}, `
      held = flattenString(`${second}"day";r=${thousands === 0 ? "" : thousands}`)
      heldLeft = left
      heldThousands = thousands
    }
    return held
  }
}

/** What stands after them. */
function createSuffixFormatter(): (nowMs: number) => string {
  let [heldSecond, held] = [Number.NaN, ""]
  return nowMs => {
    const second = Math.floor(nowMs / 1000)
    if (second !== heldSecond) {
      held = flattenString(`;t=${DAY_SECONDS - (second % DAY_SECONDS)}`)
      heldSecond = second
    }
    return held
  }
}

/** Headers that an answer has beside those of every answer. */
export type CallerHeaders = {
  /** The value of `RateLimit-Policy`; null: nothing limits the caller. */
  readonly policy: string | null
  /** What was left of that, the value of `RateLimit`. */
  readonly remaining: string
  /** That terms changed, that a page of another origin may read it; null: neither. */
  readonly other: Readonly<Record<string, string>> | null
}

/** All of them by name. */
export function headerFields({ policy, remaining, other }: CallerHeaders): Readonly<Record<string, string>> {
  return { ...other, ...(policy === null ? {} : { "RateLimit-Policy": policy, RateLimit: remaining }) }
}

/**
 * What the refusal of a request has to carry, kept beside the request. It is written only when something is refused: an
 * answer that is given takes its headers along.
 */
export class RefusalHeaders {
  readonly #byRequest = new WeakMap<Request, CallerHeaders>()

  /** Keeps the headers for the request, in place of those before. */
  set(request: Request, extra: CallerHeaders): void {
    this.#byRequest.set(request, extra)
  }

  /** The headers that were kept for the request, by name; undefined: none. */
  get(request: Request): Readonly<Record<string, string>> | undefined {
    const extra = this.#byRequest.get(request)
    return extra === undefined ? undefined : headerFields(extra)
  }
}
