import { LIMITS } from "../contract/limits.ts"
import type { KnownKey } from "../customers/keys/held-keys.ts"
import { isAllowedOrigin } from "../customers/keys/origin.ts"
import type { RateLimiter } from "../customers/quota/rate-limiter.ts"
import type { TierLimits } from "../customers/quota/tier-limits.ts"
import type { HeldTerms } from "../customers/terms/held-terms.ts"
import { termsHeaders } from "../customers/terms/terms-headers.ts"
import type { UsageMeter } from "../customers/usage/usage-meter.ts"
import { invalidKey } from "./caller.ts"
import { readableBy } from "./cors.ts"
import type { Extra } from "./extra-headers.ts"
import { Pass, type PassNeeds, type Rules } from "./pass.ts"
import { Problem } from "./problem.ts"
import { policyText, stateTexts } from "./rate-limit-headers.ts"
import { tierOf } from "./watch.ts"

/** What callers are admitted by. */
export type AdmissionNeeds = Omit<PassNeeds, "stateText"> & {
  readonly terms: HeldTerms
  /** The limits of each tier, by its number. */
  readonly tiers: readonly TierLimits[]
  readonly rates: RateLimiter
  readonly usage: UsageMeter
  readonly clientOf: (request: Request) => string
}

type Needs = AdmissionNeeds & PassNeeds

/**
 * Lets a caller with a key in; throws the first refusal, in the documented order: terms, kind of key, origin, requests a
 * second, requests in flight. Null: nothing limits the caller, and nothing is to be told it.
 */
export type Admit = (request: Request, known: KnownKey, takesPublishable: boolean) => Pass | null

/** What a publishable key may do; nothing limits how many of its requests are in flight. */
const PUBLISHABLE = rulesOf(
  {
    requestsPerSecond: LIMITS.publishablePerSecond,
    inFlight: null,
    unitsPerDay: LIMITS.publishableUnitsPerDay,
  },
  "publishable",
)

/** What one visitor of a page may do: a page is read by many. */
const VISITOR_RATE = { ...rateOf(LIMITS.publishableClientPerSecond), isBurstWhole: true } as const

/** Builds what lets callers in. */
export function admission(given: AdmissionNeeds): Admit {
  const needs = { ...given, stateText: stateTexts() }
  const tiers = needs.tiers.map((limits, tier) => rulesOf(limits, String(tier)))
  return (request, known, takesPublishable) => {
    const { key, account } = known
    const more = termsTold(needs, known)
    if (key.kind === "publishable") return publishablePass(needs, request, known, takesPublishable, more)
    const rules = tiers[account.tier]
    if (rules === undefined || (more === null && isUnlimited(rules))) return null
    return passed(needs, request, known, account.id, rules, more)
  }
}

function rulesOf(limits: TierLimits, tier: string): Rules {
  const { requestsPerSecond } = limits
  return {
    limits,
    rate: requestsPerSecond === null ? null : rateOf(requestsPerSecond),
    policy: policyText(limits),
    tier,
  }
}

function rateOf(perSecond: number) {
  return { perSecond, burst: perSecond * LIMITS.burstFactor }
}

const isUnlimited = ({ limits, policy }: Rules): boolean => policy === null && limits.inFlight === null

/** Headers that tell of new terms; null: there is nothing to tell. Throws when they were not accepted in time. */
function termsTold({ terms }: Needs, { account }: KnownKey): Extra["more"] {
  const state = terms.stateOf(account)
  if (state.kind === "accepted") return null
  if (state.kind === "grace") return termsHeaders(state)
  throw new Problem(
    "terms_not_accepted",
    `The terms of version ${state.version} were not accepted in time; somebody of the account has to sign in and accept them.`,
    {},
    termsHeaders(state),
  )
}

function publishablePass(
  needs: Needs,
  request: Request,
  known: KnownKey,
  takesPublishable: boolean,
  told: Extra["more"],
): Pass {
  if (told !== null) needs.extras.set(request, { policy: null, state: "", more: told })
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
  const { id } = known.key
  const more = { ...told, ...readableBy(origin) }
  const { waitS } = needs.rates.admit(`${id} ${needs.clientOf(request)}`, VISITOR_RATE)
  if (waitS === 0) return passed(needs, request, known, id, PUBLISHABLE, more)
  new Pass(needs, request, id, PUBLISHABLE, more, 0).tellRefusal()
  throw tooFast(needs, known, LIMITS.publishableClientPerSecond, waitS, "a second from one client address", "rate")
}

function passed(
  needs: Needs,
  request: Request,
  known: KnownKey,
  subject: string,
  rules: Rules,
  more: Extra["more"],
): Pass {
  const { limits, rate } = rules
  const admitted = rate === null ? UNTIMED : needs.rates.admit(subject, rate)
  const pass = new Pass(needs, request, subject, rules, more, admitted.remaining)
  if (admitted.waitS > 0) {
    pass.tellRefusal()
    throw tooFast(needs, known, limits.requestsPerSecond ?? 0, admitted.waitS, "a second", "rate")
  }
  if (!pass.enter()) {
    pass.tellRefusal()
    throw tooFast(needs, known, limits.inFlight ?? 0, 1, "at once", "in_flight")
  }
  return pass
}

const UNTIMED = { waitS: 0, remaining: 0 }

function tooFast(
  { usage, meter }: Needs,
  { key, account }: KnownKey,
  limit: number,
  waitS: number,
  how: string,
  of: "rate" | "in_flight",
): Problem {
  usage.note(account.id, key, { kind: "rate_limited" })
  meter.raise("mailkind_limited_total", 1, tierOf(key, account), of)
  return new Problem("rate_limited", `At most ${limit} requests ${how} are answered.`, { retry_after: waitS, limit })
}
