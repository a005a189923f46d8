import { LIMITS } from "../../contract/limits.ts"
import type { KeyAuthenticator } from "../../customers/keys/key-authenticator.ts"
import type { CallerCredentials } from "../../customers/keys/key-cache.ts"
import { isAllowedOrigin } from "../../customers/keys/origins.ts"
import type { RateLimiter } from "../../customers/quota/rate/rate-limiter.ts"
import type { TierLimits } from "../../customers/quota/tier-limits.ts"
import { type TermsCache, termsHeaders } from "../../customers/terms/terms-cache.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import { type RequestObserver, tierLabel } from "../metrics/request-observer.ts"
import { identifyCaller, invalidKey, unauthorized } from "../request/caller.ts"
import { type CallerHeaders, createRateLimitFormatter, rateLimitPolicy } from "../response/caller-headers.ts"
import { corsHeaders } from "../response/cors.ts"
import { Problem } from "../response/problem.ts"
import type { LoadShedder } from "./load-shedder.ts"
import { type AdmissionRules, RequestLease, type RequestLeaseDeps } from "./request-lease.ts"

/** What callers are admitted by. */
export type AdmissionDeps = Omit<RequestLeaseDeps, "formatRateLimit"> & {
  readonly terms: TermsCache
  /** The limits of each tier, by its number. */
  readonly tiers: readonly TierLimits[]
  readonly rates: RateLimiter
  readonly usage: UsageMeter
  readonly clientOf: (request: Request) => string
}

type AdmitDeps = AdmissionDeps & RequestLeaseDeps

/**
 * Lets a caller with a key in; throws the first refusal, in the documented order: terms, kind of key, origin, requests a
 * second, requests in flight. Null: nothing limits the caller, and nothing is to be told it.
 */
export type Admit = (request: Request, known: CallerCredentials, takesPublishable: boolean) => RequestLease | null

/** What a publishable key may do; nothing limits how many of its requests are in flight. */
const PUBLISHABLE_RULES = admissionRules(
  {
    requestsPerSecond: LIMITS.publishablePerSecond,
    inFlight: null,
    unitsPerDay: LIMITS.publishableUnitsPerDay,
  },
  "publishable",
)

/** What one visitor of a page may do: a page is read by many. */
const VISITOR_RATE = { ...rateWithBurst(LIMITS.publishableClientPerSecond), isBurstWhole: true } as const

/** Builds what lets callers in. */
export function createAdmission(given: AdmissionDeps): Admit {
  const needs = { ...given, formatRateLimit: createRateLimitFormatter() }
  const tiers = needs.tiers.map((limits, tier) => admissionRules(limits, String(tier)))
  return (request, known, takesPublishable) => {
    const { key, account } = known
    const more = termsNoticeHeaders(needs, known)
    if (key.kind === "publishable") return admitPublishable(needs, request, known, takesPublishable, more)
    const rules = tiers[account.tier]
    if (rules === undefined || (more === null && isUnlimited(rules))) return null
    return acquireLease(needs, request, known, account.id, rules, more)
  }
}

function admissionRules(limits: TierLimits, tierLabel: string): AdmissionRules {
  const { requestsPerSecond } = limits
  return {
    limits,
    rate: requestsPerSecond === null ? null : rateWithBurst(requestsPerSecond),
    policyHeader: rateLimitPolicy(limits),
    tierLabel,
  }
}

function rateWithBurst(perSecond: number) {
  return { perSecond, burst: perSecond * LIMITS.burstFactor }
}

const isUnlimited = ({ limits, policyHeader }: AdmissionRules): boolean =>
  policyHeader === null && limits.inFlight === null

/** Headers that tell of new terms; null: there is nothing to tell. Throws when they were not accepted in time. */
function termsNoticeHeaders({ terms }: AdmitDeps, { account }: CallerCredentials): CallerHeaders["other"] {
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

function admitPublishable(
  needs: AdmitDeps,
  request: Request,
  known: CallerCredentials,
  takesPublishable: boolean,
  told: CallerHeaders["other"],
): RequestLease {
  if (told !== null) needs.refusalHeaders.set(request, { policy: null, remaining: "", other: told })
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
  const more = { ...told, ...corsHeaders(origin) }
  const { waitS } = needs.rates.admit(`${id} ${needs.clientOf(request)}`, VISITOR_RATE)
  if (waitS === 0) return acquireLease(needs, request, known, id, PUBLISHABLE_RULES, more)
  new RequestLease(needs, request, id, PUBLISHABLE_RULES, more, 0).attachRefusalHeaders()
  throw rateLimited(needs, known, LIMITS.publishableClientPerSecond, waitS, "a second from one client address", "rate")
}

function acquireLease(
  needs: AdmitDeps,
  request: Request,
  known: CallerCredentials,
  subject: string,
  rules: AdmissionRules,
  more: CallerHeaders["other"],
): RequestLease {
  const { limits, rate } = rules
  const admitted = rate === null ? NO_RATE_LIMIT : needs.rates.admit(subject, rate)
  const pass = new RequestLease(needs, request, subject, rules, more, admitted.remaining)
  if (admitted.waitS > 0) {
    pass.attachRefusalHeaders()
    throw rateLimited(needs, known, limits.requestsPerSecond ?? 0, admitted.waitS, "a second", "rate")
  }
  if (!pass.acquireInFlight()) {
    pass.attachRefusalHeaders()
    throw rateLimited(needs, known, limits.inFlight ?? 0, 1, "at once", "in_flight")
  }
  return pass
}

const NO_RATE_LIMIT = { waitS: 0, remaining: 0 }

function rateLimited(
  { usage, meter }: AdmitDeps,
  { key, account }: CallerCredentials,
  limit: number,
  waitS: number,
  how: string,
  of: "rate" | "in_flight",
): Problem {
  usage.record(account.id, key, { kind: "rate_limited" })
  meter.increment("mailkind_limited_total", 1, tierLabel(key, account), of)
  return new Problem("rate_limited", `At most ${limit} requests ${how} are answered.`, { retry_after: waitS, limit })
}

/** Answers a request that needs a secret key, which was let in by the pass; null: nothing limits it. A heavy one gives way first. */
export type WithSecretKey = (
  request: Request,
  work: (known: CallerCredentials, pass: RequestLease | null) => Promise<Response>,
  isHeavy?: boolean,
) => Promise<Response>

/** Builds the way into every endpoint that takes secret keys only. */
export function createWithSecretKey(
  keys: KeyAuthenticator,
  admit: Admit,
  watch: RequestObserver,
  load: LoadShedder,
): WithSecretKey {
  return async (request, work, isHeavy = false) => {
    const known = await identifyCaller(request.headers, keys)
    if (known === null) throw unauthorized()
    watch.setCaller(request, known)
    const pass = admit(request, known, false)
    try {
      load.assertCapacity(isHeavy)
      return await work(known, pass)
    } catch (error) {
      pass?.attachRefusalHeaders()
      throw error
    } finally {
      pass?.release()
    }
  }
}
