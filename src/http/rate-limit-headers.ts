import { flat } from "../base/flat.ts"
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

/** The last digits of the units that are left, which is all that two answers in a row differ in. */
const TAIL_COUNT = 1000
const TAILS = Array.from({ length: TAIL_COUNT }, (_, tail) => String(tail).padStart(3, "0"))

/**
 * Builds a `StateText`. What two answers in a row have in common is written once: all but the last digits of the units. To
 * write a number and put three parts together takes more than half as long again.
 */
export function stateTexts(): StateText {
  const untilTail = untilTails()
  const untilMidnight = untilMidnights()
  return ({ requestsPerSecond, unitsPerDay }, secondLeft, dayLeft, nowMs) => {
    const left = requestsPerSecond === null ? null : Math.min(secondLeft, requestsPerSecond)
    if (unitsPerDay === null) return secondText(left)
    const thousands = Math.floor(dayLeft / TAIL_COUNT)
    const tail = thousands === 0 ? dayLeft : TAILS[dayLeft % TAIL_COUNT]
    return `${untilTail(left, thousands)}${tail}${untilMidnight(nowMs)}`
  }
}

const secondText = (left: number | null): string => (left === null ? "" : `"second";r=${left};t=1`)

/** What stands before the last digits. Most callers are far below their rate, and told the same of it each time. */
function untilTails(): (left: number | null, thousands: number) => string {
  let [heldLeft, heldThousands, held]: [number | null, number, string] = [null, Number.NaN, ""]
  return (left, thousands) => {
    if (left !== heldLeft || thousands !== heldThousands) {
      const second = left === null ? "" : `${secondText(left)}, `
      held = flat(`${second}"day";r=${thousands === 0 ? "" : thousands}`)
      heldLeft = left
      heldThousands = thousands
    }
    return held
  }
}

/** What stands after them. */
function untilMidnights(): (nowMs: number) => string {
  let [heldSecond, held] = [Number.NaN, ""]
  return nowMs => {
    const second = Math.floor(nowMs / 1000)
    if (second !== heldSecond) {
      held = flat(`;t=${DAY_SECONDS - (second % DAY_SECONDS)}`)
      heldSecond = second
    }
    return held
  }
}
