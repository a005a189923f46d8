import type { Clock } from "../base/clock.ts"
import { LIMITS } from "../contract/limits.ts"
import type { KnownKey } from "../customers/keys/held-keys.ts"
import { isAllowedOrigin } from "../customers/keys/origin.ts"
import type { InFlight } from "../customers/quota/in-flight.ts"
import type { Taken } from "../customers/quota/lease.ts"
import type { RateLimiter } from "../customers/quota/rate-limiter.ts"
import type { TierLimits } from "../customers/quota/tier-limits.ts"
import type { Units } from "../customers/quota/units.ts"
import type { HeldTerms } from "../customers/terms/held-terms.ts"
import { termsHeaders } from "../customers/terms/terms-headers.ts"
import type { UsageMeter } from "../customers/usage/usage-meter.ts"
import { invalidKey } from "./caller.ts"
import { readableBy } from "./cors.ts"
import type { Extra, ExtraHeaders } from "./extra-headers.ts"
import { Problem } from "./problem.ts"
import { type Left, limitHeaders } from "./rate-limit-headers.ts"

/** What callers are admitted by. */
export type AdmissionNeeds = {
  readonly terms: HeldTerms
  /** The limits of each tier, by its number. */
  readonly tiers: readonly TierLimits[]
  readonly rates: RateLimiter
  readonly inFlight: InFlight
  readonly units: Units
  readonly usage: UsageMeter
  readonly clientOf: (request: Request) => string
  readonly clock: Clock
  readonly extras: ExtraHeaders
}

/** What a publishable key may do; nothing limits how many of its requests are in flight. */
const PUBLISHABLE: TierLimits = {
  requestsPerSecond: LIMITS.publishablePerSecond,
  inFlight: null,
  unitsPerDay: LIMITS.publishableUnitsPerDay,
}

/** One request that was let in, until it is answered. */
export type Pass = {
  /** Takes units of the day. Throws, or rejects with, `quota_exceeded`. A promise only when the store has to be asked. */
  readonly charge: (units: number) => void | Promise<void>
  /** Gives units back that a failure of ours has cost. */
  readonly refund: (units: number) => void
  /** Ends what is in flight. It is called once. */
  readonly leave: () => void
}

/** Lets a caller with a key in; throws the first refusal, in the documented order. */
export type Admit = (request: Request, known: KnownKey, takesPublishable: boolean) => Pass | null

/** Nothing limits the caller, and nothing is to be told it. */
const UNLIMITED = null

/** Builds what lets callers in: terms, kind of key, origin, requests a second, requests in flight. */
export function admission(needs: AdmissionNeeds): Admit {
  return (request, known, takesPublishable) => {
    const { key, account } = known
    const told = termsTold(needs, known)
    if (key.kind === "publishable") return publishablePass(needs, request, known, takesPublishable, told)
    const limits = needs.tiers[account.tier]
    if (limits === undefined || isUnlimited(limits)) {
      if (told !== undefined) needs.extras.set(request, told)
      return UNLIMITED
    }
    return pass(needs, request, known, { subject: account.id, limits, extra: told ?? {} })
  }
}

const isUnlimited = ({ requestsPerSecond, inFlight, unitsPerDay }: TierLimits): boolean =>
  requestsPerSecond === null && inFlight === null && unitsPerDay === null

/** Headers that tell of new terms; undefined: there is nothing to tell. Throws when they were not accepted in time. */
function termsTold({ terms }: AdmissionNeeds, { account }: KnownKey): Extra | undefined {
  const state = terms.stateOf(account)
  if (state.kind === "accepted") return undefined
  if (state.kind === "grace") return termsHeaders(state)
  throw new Problem(
    "terms_not_accepted",
    `The terms of version ${state.version} were not accepted in time; somebody of the account has to sign in and accept them.`,
    {},
    termsHeaders(state),
  )
}

function publishablePass(
  needs: AdmissionNeeds,
  request: Request,
  known: KnownKey,
  takesPublishable: boolean,
  told: Extra | undefined,
): Pass {
  if (!takesPublishable) throw invalidKey("This endpoint takes secret keys; the one that was sent is publishable.")
  const origin = request.headers.get("origin")
  if (origin === null || !isAllowedOrigin(known.key.origins, origin)) {
    throw new Problem(
      "forbidden_origin",
      origin === null
        ? "A publishable key comes from a page: no `Origin` was sent."
        : "The key does not allow this origin.",
    )
  }
  const extra = { ...told, ...readableBy(origin) }
  // A page is read by many: one visitor gets a small part of what the key may do.
  const client = `${known.key.id} ${needs.clientOf(request)}`
  const { waitS } = needs.rates.admit(client, rateOf(LIMITS.publishableClientPerSecond))
  needs.extras.set(request, extra)
  if (waitS > 0) throw tooFast(needs, known, LIMITS.publishableClientPerSecond, waitS, "from one client address")
  return pass(needs, request, known, { subject: known.key.id, limits: PUBLISHABLE, extra })
}

const rateOf = (perSecond: number) => ({ perSecond, burst: perSecond * LIMITS.burstFactor })

type Limited = {
  /** Whose requests and units are counted: an account, or a publishable key. */
  readonly subject: string
  readonly limits: TierLimits
  readonly extra: Extra
}

function pass(needs: AdmissionNeeds, request: Request, known: KnownKey, { subject, limits, extra }: Limited): Pass {
  const { rates, inFlight, units, clock, extras } = needs
  const { requestsPerSecond, inFlight: inFlightMax, unitsPerDay } = limits
  const rate = requestsPerSecond === null ? null : rates.admit(subject, rateOf(requestsPerSecond))
  const left = (): Left => ({
    second: rate === null ? null : rate.remaining,
    day: unitsPerDay === null ? null : units.remaining(subject, unitsPerDay),
  })
  const tell = (): void => extras.set(request, { ...extra, ...limitHeaders(limits, left(), clock()) })
  tell()
  if (rate !== null && rate.waitS > 0) throw tooFast(needs, known, requestsPerSecond ?? 0, rate.waitS, "a second")
  if (inFlightMax !== null && !inFlight.enter(subject, inFlightMax)) {
    throw tooFast(needs, known, inFlightMax, 1, "at once")
  }
  /** The day that units were taken of. */
  let day = 0
  const taken = (answer: Taken): void => {
    tell()
    if (!answer.isTaken) throw quotaExceeded(unitsPerDay ?? 0, clock())
    day = answer.day
  }
  return {
    charge: count => {
      if (unitsPerDay === null) return
      const answer = units.take(subject, count, unitsPerDay)
      return answer instanceof Promise ? answer.then(taken) : taken(answer)
    },
    refund: count => {
      if (unitsPerDay !== null && day > 0) units.giveBack(subject, count, day)
    },
    leave: () => {
      if (inFlightMax !== null) inFlight.leave(subject)
    },
  }
}

function tooFast(
  { usage }: AdmissionNeeds,
  { key, account }: KnownKey,
  limit: number,
  waitS: number,
  how: string,
): Problem {
  usage.note(account.id, key, { kind: "rate_limited" })
  return new Problem("rate_limited", `At most ${limit} requests ${how} are answered.`, { retry_after: waitS, limit })
}

const DAY_MS = 86_400_000

function quotaExceeded(limit: number, nowMs: number): Problem {
  const midnightMs = (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS
  return new Problem("quota_exceeded", `The ${limit} units of the day are used up.`, {
    retry_after: Math.ceil((midnightMs - nowMs) / 1000),
    limit,
    resets_at: new Date(midnightMs).toISOString(),
  })
}
