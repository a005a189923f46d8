import { derived } from "../../base/lazy.ts"
import { LIMITS } from "../../contract/limits.ts"
import { TIERS } from "../../contract/tiers.ts"
import { unitSubject } from "../../customers/accounts/unit-subjects.ts"
import type { KeyAuthenticator } from "../../customers/keys/key-authenticator.ts"
import type { CallerCredentials, CallerKey, CallerKeyLimits } from "../../customers/keys/key-cache.ts"
import type { NetworkWatch } from "../../customers/keys/network-watch.ts"
import { isAllowedOrigin } from "../../customers/keys/origins.ts"
import type { RateLimiter } from "../../customers/quota/rate/rate-limiter.ts"
import type { TierLimits } from "../../customers/quota/tier-limits.ts"
import { type TermsCache, termsHeaders } from "../../customers/terms/terms-cache.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import { type RequestObserver, tierLabel } from "../metrics/request-observer.ts"

import { accountSuspended, identifyCaller, invalidKey, RefusedKey, unauthorized } from "../request/caller.ts"

import { type CallerHeaders, createRateLimitFormatter, rateLimitPolicy } from "../response/caller-headers.ts"
import { corsHeaders } from "../response/cors.ts"
import { Problem, rateLimited } from "../response/problem.ts"
import type { LoadShedder } from "./load-shedder.ts"
import { type AdmissionRules, RequestLease, type RequestLeaseDeps } from "./request-lease.ts"

/** Dependencies of admission. */
export type AdmissionDeps = Omit<RequestLeaseDeps, "formatRateLimit"> & {
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

type AdmitDeps = AdmissionDeps & RequestLeaseDeps

/**
 * Admits a request with a key. Throws the first refusal in the documented order: suspension, terms, kind of key, origin, network, requests a
 * second, requests in flight. Null: the caller has no limits, and its responses need no further headers.
 */
export type Admit = (request: Request, caller: CallerCredentials, acceptsPublishable: boolean) => RequestLease | null

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
export function createAdmission(admissionDeps: AdmissionDeps): Admit {
  const deps = { ...admissionDeps, formatRateLimit: createRateLimitFormatter() }
  const rulesOfTier = TIERS.map((_, tier) =>
    derived(
      () => deps.tiers[tier],
      limits => (limits === undefined ? undefined : admissionRules(limits, String(tier))),
    ),
  )
  return (request, caller, acceptsPublishable) => {
    const { key, account } = caller
    if (account.suspendedAtMs !== undefined) throw accountSuspended(caller)
    const noticeHeaders = termsNoticeHeaders(deps, caller)
    if (key.kind === "publishable") return admitPublishable(deps, request, caller, acceptsPublishable, noticeHeaders)
    if (key.limits !== undefined) assertAllowedNetwork(deps, request, key.limits, noticeHeaders)
    if (deps.keyNetworks.isDue(key.id)) deps.keyNetworks.record(key.id, deps.clientOf(request))
    const ofTier = rulesOfTier[account.tier]?.()
    if (ofTier === undefined) return null
    const rules = rulesOf(key, ofTier)
    if (noticeHeaders === null && isUnlimited(rules)) return null
    return acquireLease(deps, request, caller, account.id, account.id, rules, noticeHeaders)
  }
}

function assertAllowedNetwork(
  deps: AdmitDeps,
  request: Request,
  { allowsClient }: CallerKeyLimits,
  noticeHeaders: CallerHeaders["other"],
): void {
  if (allowsClient === null || allowsClient(deps.addressOf(request))) return
  if (noticeHeaders !== null) deps.refusalHeaders.set(request, { policy: null, remaining: "", other: noticeHeaders })
  throw new Problem("forbidden_network", "This key does not allow requests from your network.")
}

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
function termsNoticeHeaders({ terms }: AdmitDeps, { account }: CallerCredentials): CallerHeaders["other"] {
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
  deps: AdmitDeps,
  request: Request,
  caller: CallerCredentials,
  acceptsPublishable: boolean,
  noticeHeaders: CallerHeaders["other"],
): RequestLease {
  if (noticeHeaders !== null) deps.refusalHeaders.set(request, { policy: null, remaining: "", other: noticeHeaders })
  if (!acceptsPublishable) throw invalidKey("This endpoint needs a secret key. You sent a publishable one.")
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
  const { waitS } = deps.rates.admit(`${id} ${deps.clientOf(request)}`, VISITOR_RATE)
  if (waitS === 0) return acquireLease(deps, request, caller, id, unitsSubject, rules, otherHeaders)
  deps.refusalHeaders.set(request, { policy: rules.policyHeader, remaining: "", other: otherHeaders })
  throw recordRateLimited(
    deps,
    caller,
    LIMITS.publishableClientPerSecond,
    waitS,
    "per second from one client address",
    "client",
  )
}

function acquireLease(
  deps: AdmitDeps,
  request: Request,
  caller: CallerCredentials,
  callerId: string,
  unitsSubject: string,
  rules: AdmissionRules,
  otherHeaders: CallerHeaders["other"],
): RequestLease {
  const { limits, rate, key } = rules
  // The key's own rate comes first, so that a key that is too fast takes nothing of the rate that it shares with other keys.
  const ofKey = key === null || key.rate === null ? NO_RATE_LIMIT : deps.rates.admit(`key ${key.id}`, key.rate)
  const ofCaller = rate === null || ofKey.waitS > 0 ? NO_RATE_LIMIT : deps.rates.admit(callerId, rate)
  const requestsLeft = Math.min(ofKey.remaining, ofCaller.remaining)
  const lease = new RequestLease(deps, request, callerId, unitsSubject, rules, otherHeaders, requestsLeft)
  if (ofKey.waitS > 0) {
    lease.attachRefusalHeaders()
    throw recordRateLimited(
      deps,
      caller,
      key?.requestsPerSecond ?? 0,
      ofKey.waitS,
      "per second with this key",
      "second",
    )
  }
  if (ofCaller.waitS > 0) {
    lease.attachRefusalHeaders()
    throw recordRateLimited(deps, caller, limits.requestsPerSecond ?? 0, ofCaller.waitS, "a second", "second")
  }
  if (!lease.acquireInFlight()) {
    lease.attachRefusalHeaders()
    throw recordRateLimited(deps, caller, limits.inFlight ?? 0, 1, "at once", "concurrent")
  }
  return lease
}

const NO_RATE_LIMIT = { waitS: 0, remaining: Number.POSITIVE_INFINITY }

/** Counts the refusal and gives its problem. */
function recordRateLimited(
  { usage, meter }: AdmitDeps,
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

/**
 * Admits a request that needs a secret key, calls `handle` with its caller, and releases the lease when the response is
 * there. A lease of null: the caller has no limits. A heavy request is shed earlier than others.
 */
export type WithSecretKey = (
  request: Request,
  handle: (caller: CallerCredentials, lease: RequestLease | null) => Promise<Response>,
  isHeavy?: boolean,
) => Promise<Response>

/** The caller of a request with a key. The observer gets it too, also when its key is refused. */
async function identifyObserved(
  request: Request,
  keys: KeyAuthenticator,
  observer: RequestObserver,
): Promise<CallerCredentials> {
  try {
    const caller = await identifyCaller(request.headers, keys)
    if (caller === null) throw unauthorized(request.headers)
    observer.setCaller(request, caller)
    return caller
  } catch (error) {
    if (error instanceof RefusedKey) observer.setCaller(request, error.credentials)
    throw error
  }
}

/** Creates the wrapper of endpoints that take secret keys only. */
export function createWithSecretKey(
  keys: KeyAuthenticator,
  admit: Admit,
  observer: RequestObserver,
  loadShedder: LoadShedder,
): WithSecretKey {
  return async (request, handle, isHeavy = false) => {
    const caller = await identifyObserved(request, keys, observer)
    const lease = admit(request, caller, false)
    try {
      loadShedder.assertCapacity(isHeavy)
      return await handle(caller, lease)
    } catch (error) {
      lease?.attachRefusalHeaders()
      throw error
    } finally {
      lease?.release()
    }
  }
}
