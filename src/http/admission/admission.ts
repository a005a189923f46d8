import { derived } from "../../base/lazy.ts"
import { LIMITS } from "../../contract/limits.ts"
import { TIERS } from "../../contract/tiers.ts"
import { unitSubject } from "../../customers/accounts/unit-subjects.ts"
import type { CallerCredentials, CallerKey, CallerKeyLimits } from "../../customers/keys/key-cache.ts"
import type { NetworkWatch } from "../../customers/keys/network-watch.ts"
import { isAllowedOrigin } from "../../customers/keys/origins.ts"
import type { RateLimiter } from "../../customers/quota/rate/rate-limiter.ts"
import { type RateSubject, rateSubject } from "../../customers/quota/rate/rate-subject.ts"
import type { TierLimits } from "../../customers/quota/tier-limits.ts"
import { type TermsCache, termsHeaders } from "../../customers/terms/terms-cache.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import { callerOf, type Exchange } from "../exchange.ts"
import { tierLabel } from "../metrics/request-observer.ts"
import { accountSuspended, invalidKey } from "../request/caller.ts"
import { type CallerHeaders, rateLimitPolicy } from "../response/caller-headers.ts"
import { corsHeaders } from "../response/cors.ts"
import { Problem, rateLimited } from "../response/problem.ts"
import { type AdmissionRules, RequestLease, type RequestLeaseDeps } from "./request-lease.ts"

/** Dependencies of admission. */
export type AdmissionDeps = RequestLeaseDeps & {
  readonly terms: TermsCache
  /** The limits of each tier, by its number. */
  readonly tiers: readonly TierLimits[]
  readonly rates: RateLimiter
  readonly usage: UsageMeter
  readonly clientOf: (request: Request) => string
  /** The exact address of the client, for the networks that a key allows. */
  readonly addressOf: (request: Request) => string
  readonly keyNetworks: Pick<NetworkWatch, "isDue" | "record">
}

/**
 * Admits a request of an identified caller, and gives the exchange its lease; none, where the caller has no limits and its responses need no
 * further headers. Throws the first refusal in the documented order: suspension, terms, kind of key, origin, network, requests a second,
 * requests in flight.
 */
export type Admit = (exchange: Exchange, acceptsPublishable: boolean) => void

/** The limits of a publishable key. Its units are those of all publishable keys of the account. Its requests in flight are not limited. */
const PUBLISHABLE_RULES = admissionRules(
  {
    requestsPerSecond: LIMITS.publishablePerSecond,
    inFlight: null,
    unitsPerDay: LIMITS.publishableUnitsPerDay,
  },
  "publishable",
)

/** The rate of one visitor of a page, who shares the publishable key with all other visitors. */
const VISITOR_RATE = { ...rateWithBurst(LIMITS.publishableClientPerSecond), isBurstWhole: true } as const

/** Creates admission: terms, origin, rate and requests in flight, in the documented order of refusals (DECISIONS 26). */
export function createAdmission(deps: AdmissionDeps): Admit {
  const rulesOfTier = TIERS.map((_, tier) =>
    derived(
      () => deps.tiers[tier],
      limits => (limits === undefined ? undefined : admissionRules(limits, String(tier))),
    ),
  )
  return (exchange, acceptsPublishable) => {
    const caller = callerOf(exchange)
    const { key, account } = caller
    if (account.suspendedAtMs !== undefined) throw accountSuspended(caller)
    const noticeHeaders = termsNoticeHeaders(deps, caller)
    if (key.kind === "publishable") {
      admitPublishable(deps, exchange, caller, acceptsPublishable, noticeHeaders)
      return
    }
    if (key.limits !== undefined) assertAllowedNetwork(deps, exchange, key.limits, noticeHeaders)
    if (deps.keyNetworks.isDue(key.id)) deps.keyNetworks.record(key.id, deps.clientOf(exchange.request))
    const ofTier = rulesOfTier[account.tier]?.()
    if (ofTier === undefined) return
    const rules = rulesOf(key, ofTier)
    if (noticeHeaders === null && isUnlimited(rules)) return
    acquireLease(deps, exchange, caller, rateSubject("caller", account.id), account.id, rules, noticeHeaders)
  }
}

function assertAllowedNetwork(
  deps: AdmissionDeps,
  exchange: Exchange,
  { allowsClient }: CallerKeyLimits,
  noticeHeaders: CallerHeaders["other"],
): void {
  if (allowsClient === null || allowsClient(deps.addressOf(exchange.request))) return
  exchange.callerHeaders = unlimitedHeaders(noticeHeaders)
  throw new Problem("forbidden_network", "This key does not allow requests from your network.")
}

/** The headers of a caller whose limits are not known yet; null: there are none. */
const unlimitedHeaders = (other: CallerHeaders["other"]): CallerHeaders | null =>
  other === null ? null : { policy: null, remaining: "", other }

function admissionRules(limits: TierLimits, tierLabel: string): AdmissionRules {
  const { requestsPerSecond } = limits
  return {
    limits,
    key: null,
    told: limits,
    rate: requestsPerSecond === null ? null : rateWithBurst(requestsPerSecond),
    policyHeader: rateLimitPolicy(limits),
    tierLabel,
  }
}

/** The rules of keys with limits of their own. Their limits are read anew with each change, and so are the rules then. */
const rulesByLimits = new WeakMap<CallerKeyLimits, AdmissionRules>()

/** The rules of the caller, with the limits of its key beside them. */
function rulesOf({ id, limits: own }: CallerKey, ofCaller: AdmissionRules): AdmissionRules {
  if (own === undefined) return ofCaller
  const cached = rulesByLimits.get(own)
  if (cached !== undefined) return cached
  const { requestsPerSecond, unitsPerDay } = own
  const told = {
    requestsPerSecond: smallerLimit(ofCaller.limits.requestsPerSecond, requestsPerSecond),
    unitsPerDay: smallerLimit(ofCaller.limits.unitsPerDay, unitsPerDay),
  }
  const rate = requestsPerSecond === null ? null : rateWithBurst(requestsPerSecond)
  const key = { id, requestsPerSecond, unitsPerDay, rate }
  const rules = { ...ofCaller, key, told, policyHeader: rateLimitPolicy(told) }
  rulesByLimits.set(own, rules)
  return rules
}

const smallerLimit = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

function rateWithBurst(perSecond: number) {
  return { perSecond, burst: perSecond * LIMITS.burstFactor }
}

const isUnlimited = ({ limits, policyHeader }: AdmissionRules): boolean =>
  policyHeader === null && limits.inFlight === null

/** The headers that announce new terms; null: the account has accepted the current ones. Throws when the notice period is over. */
function termsNoticeHeaders({ terms }: AdmissionDeps, { account }: CallerCredentials): CallerHeaders["other"] {
  const state = terms.stateOf(account)
  if (state.kind === "accepted") return null
  if (state.kind === "grace") return termsHeaders(state)
  throw new Problem(
    "terms_not_accepted",
    `The account did not accept the terms of version ${state.version} before the last day. Sign in and accept them.`,
    {},
    termsHeaders(state),
  )
}

function admitPublishable(
  deps: AdmissionDeps,
  exchange: Exchange,
  caller: CallerCredentials,
  acceptsPublishable: boolean,
  noticeHeaders: CallerHeaders["other"],
): void {
  exchange.callerHeaders = unlimitedHeaders(noticeHeaders)
  if (!acceptsPublishable) throw invalidKey("This endpoint needs a secret key. You sent a publishable one.")
  const { request } = exchange
  const origin = request.headers.get("origin")
  if (origin === null || !isAllowedOrigin(caller.key.origins, origin)) {
    throw new Problem(
      "forbidden_origin",
      origin === null
        ? "A publishable key works only from a web page. The request has no `Origin`."
        : "This key does not allow this origin.",
    )
  }
  const { id } = caller.key
  // One pool of units for all publishable keys: a new key brings no new units.
  const unitsSubject = unitSubject(caller.account.id, "publishable")
  const rules = rulesOf(caller.key, PUBLISHABLE_RULES)
  const otherHeaders = { ...noticeHeaders, ...corsHeaders(origin) }
  const { waitS } = deps.rates.admit(rateSubject("visitor", `${id} ${deps.clientOf(request)}`), VISITOR_RATE)
  if (waitS > 0) {
    exchange.callerHeaders = { policy: rules.policyHeader, remaining: "", other: otherHeaders }
    throw recordRateLimited(
      deps,
      caller,
      LIMITS.publishableClientPerSecond,
      waitS,
      "per second from one client address",
      "client",
    )
  }
  acquireLease(deps, exchange, caller, rateSubject("caller", id), unitsSubject, rules, otherHeaders)
}

function acquireLease(
  deps: AdmissionDeps,
  exchange: Exchange,
  caller: CallerCredentials,
  limited: RateSubject,
  unitsSubject: string,
  rules: AdmissionRules,
  otherHeaders: CallerHeaders["other"],
): void {
  const { limits, rate, key } = rules
  // The key's own rate comes first, so that a key that is too fast takes nothing of the rate that it shares with other keys.
  const ofKey =
    key === null || key.rate === null ? NO_RATE_LIMIT : deps.rates.admit(rateSubject("key", key.id), key.rate)
  const ofCaller = rate === null || ofKey.waitS > 0 ? NO_RATE_LIMIT : deps.rates.admit(limited, rate)
  const requestsLeft = Math.min(ofKey.remaining, ofCaller.remaining)
  const lease = new RequestLease(deps, limited, unitsSubject, rules, otherHeaders, requestsLeft)
  // A refusal tells the limits too.
  exchange.lease = lease
  if (ofKey.waitS > 0)
    throw recordRateLimited(
      deps,
      caller,
      key?.requestsPerSecond ?? 0,
      ofKey.waitS,
      "per second with this key",
      "second",
    )
  if (ofCaller.waitS > 0)
    throw recordRateLimited(deps, caller, limits.requestsPerSecond ?? 0, ofCaller.waitS, "per second", "second")
  if (!lease.acquireInFlight()) throw recordRateLimited(deps, caller, limits.inFlight ?? 0, 1, "at once", "concurrent")
}

const NO_RATE_LIMIT = { waitS: 0, remaining: Number.POSITIVE_INFINITY }

/** Counts the refusal and gives its problem. */
function recordRateLimited(
  { usage, meter }: AdmissionDeps,
  { key, account }: CallerCredentials,
  limit: number,
  waitS: number,
  unit: string,
  policy: "second" | "client" | "concurrent",
): Problem {
  usage.record(account.id, key, { kind: "rate_limited" })
  const label = policy === "concurrent" ? "in_flight" : "rate"
  meter.increment("mailkind_limited_total", 1, tierLabel(key, account), label)
  return rateLimited(`The limit is ${limit} requests ${unit}.`, waitS, limit, policy)
}
