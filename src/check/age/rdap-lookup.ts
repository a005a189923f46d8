import { LRUCache } from "lru-cache"
import { CircuitBreaker, type CircuitBreakerBounds } from "../../base/circuit-breaker.ts"
import { type Release, Semaphore } from "../../base/concurrency.ts"
import type { Fetch } from "../../base/fetch.ts"
import { type Finding, known, unknown } from "../../base/finding.ts"
import type { Clock, SetTimer } from "../../base/outside-world.ts"
import { isLoopbackUrl, type RdapRequestDeps, type RdapResponse, rdapDomainUrl, requestRdap } from "./rdap-request.ts"
import { parseRegistration } from "./rdap-response.ts"

/** When a domain was registered, in milliseconds since the Unix epoch. */
export type DomainRegistration = { readonly registeredAtMs: number }

/** For one lookup with its redirect, after it has waited for its server. */
const RDAP_LOOKUP_TIMEOUT_MS = 3000

/** How many servers have a limiter: all of the bootstrap, which names 600, and those to which they redirect. */
const SERVER_LIMITERS_MAX = 2000

type RdapLookupDeps = RdapRequestDeps & {
  readonly setTimer: SetTimer
  /** Fetches from a server to which another server redirects, at public addresses only. */
  readonly fetchPublicUrl: Fetch
}

/** Queries the server at the base URL for when a domain was registered. It never rejects. */
export type RdapLookup = (base: string, domain: string) => Promise<RdapLookupResult>

/** The result of one lookup. A null registration: the registry does not say, or does not know the domain. */
export type RdapLookupResult = {
  readonly registration: Finding<DomainRegistration | null>
  /** False: the server was not queried or throttled us, because too many lookups wait for it, it fails, or it asked us to wait. */
  readonly wasQueried: boolean
}

/**
 * Builds the lookup of a domain's registration. Each server has a limiter: a server of the bootstrap by its base URL, which
 * identifies the registry, and the target of a redirect by its origin.
 */
export function createRdapLookup(deps: RdapLookupDeps, bounds: ServerLimiterBounds): RdapLookup {
  const limiters = new LRUCache<string, ServerLimiter>({ max: SERVER_LIMITERS_MAX })
  const limiterOf = (server: string): ServerLimiter => {
    const limiter = limiters.get(server) ?? new ServerLimiter(deps.clock, bounds)
    limiters.set(server, limiter)
    return limiter
  }

  /** Follows one redirect. A second redirect is `unavailable`. */
  const query = async (
    base: string,
    domain: string,
    report: ServerPermit,
    deadline: AbortSignal,
  ): Promise<RdapResponse> => {
    const url = new URL(rdapDomainUrl(base, domain))
    const response = await requestRdap(deps, url, deadline)
    report(callOutcome(response))
    if (response.kind !== "redirected") return response
    const { to } = response
    const isSameOrigin = to.origin === url.origin
    const reportRedirect = limiterOf(isSameOrigin ? base : to.origin).acquire()
    if (reportRedirect === null) return { kind: "refused" }
    const fetchUrl = isSameOrigin || isLoopbackUrl(to) ? deps.fetchUrl : deps.fetchPublicUrl
    const redirected = await requestRdap({ ...deps, fetchUrl }, to, deadline)
    reportRedirect(callOutcome(redirected))
    return redirected
  }

  return async (base, domain) => {
    const limiter = limiterOf(base)
    const release = await limiter.enqueue()
    if (release === null) return UNAVAILABLE
    const report = limiter.acquire() // null if the server was blocked while this lookup waited
    if (report === null) {
      release()
      return UNAVAILABLE
    }
    const deadline = new AbortController()
    const cancelTimer = deps.setTimer(RDAP_LOOKUP_TIMEOUT_MS, () => deadline.abort())
    const lookup = query(base, domain, report, deadline.signal).finally(() => {
      cancelTimer()
      release()
    })
    // A defect: a trial call without an outcome would keep the server blocked for ever.
    lookup.catch(() => report({ kind: "failed" }))
    const response = await lookup
    return { registration: registrationOf(response, domain, deps.clock()), wasQueried: response.kind !== "throttled" }
  }
}

const UNAVAILABLE: RdapLookupResult = { registration: unknown("unavailable"), wasQueried: false }

/** A server that refuses a request or redirects it works. */
function callOutcome(response: RdapResponse): ServerCallOutcome {
  if (response.kind === "throttled") return response
  return { kind: response.kind === "failed" || response.kind === "timed_out" ? "failed" : "answered" }
}

function registrationOf(response: RdapResponse, domain: string, nowMs: number): Finding<DomainRegistration | null> {
  if (response.kind === "timed_out") return unknown("timed_out")
  if (response.kind === "not_found") return known(null)
  if (response.kind !== "answered") return unknown("unavailable")
  const parsed = parseRegistration(response.json, domain, nowMs)
  if (parsed.kind === "unreadable") return unknown("unavailable")
  return known(parsed.kind === "registered" ? { registeredAtMs: parsed.registeredAtMs } : null)
}

/** The limits for requests to one RDAP server. */
export type ServerLimiterBounds = {
  /** Requests in flight. */
  readonly inFlightMax: number
  /** Requests that wait for others to finish. */
  readonly waitingMax: number
  readonly breaker: CircuitBreakerBounds
  /** The pause after the server throttled us without a `Retry-After`. */
  readonly throttleMs: number
  /** The bounds of the pause for which the server can ask. */
  readonly throttleMinMs: number
  readonly throttleMaxMs: number
}

/** The outcome of one request to a server. */
export type ServerCallOutcome =
  | { readonly kind: "answered" }
  | { readonly kind: "failed" }
  /** The server has no capacity for us. `retryAfterMs` null: it did not say for how long. */
  | { readonly kind: "throttled"; readonly retryAfterMs: number | null }

/** The permit for one request. It is called once, with the outcome. */
type ServerPermit = (outcome: ServerCallOutcome) => void

/** Limits the requests to one RDAP server: a semaphore, a pause when the server throttles us, and a circuit breaker. */
export class ServerLimiter {
  readonly #clock: Clock
  readonly #bounds: ServerLimiterBounds
  readonly #semaphore: Semaphore
  readonly #breaker: CircuitBreaker
  #throttledUntilMs = 0

  constructor(clock: Clock, bounds: ServerLimiterBounds) {
    this.#clock = clock
    this.#bounds = bounds
    this.#semaphore = new Semaphore(bounds.inFlightMax, bounds.waitingMax)
    this.#breaker = new CircuitBreaker(clock, bounds.breaker)
  }

  /** Whether no request may be sent now. */
  get isBlocked(): boolean {
    return this.#clock() < this.#throttledUntilMs || this.#breaker.isOpen
  }

  /** Resolves when the request may start; it holds the function that releases its place. Null: the server is blocked, or too many requests wait. */
  enqueue(): Promise<Release> | null {
    return this.isBlocked ? null : this.#semaphore.acquire()
  }

  /** The permit for a request; null: the server is blocked. */
  acquire(): ServerPermit | null {
    const report = this.isBlocked ? null : this.#breaker.acquire()
    if (report === null) return null
    return outcome => {
      // A server that throttles us works, so that is no failure for the breaker.
      report(outcome.kind === "failed" ? { kind: "failed", retryAfterMs: null } : { kind: "answered" })
      if (outcome.kind === "throttled") this.#throttle(outcome.retryAfterMs)
    }
  }

  /** Pauses all requests. Of several pauses the longest counts. */
  #throttle(retryAfterMs: number | null): void {
    const { throttleMs, throttleMinMs, throttleMaxMs } = this.#bounds
    const ms = Math.min(Math.max(retryAfterMs ?? throttleMs, throttleMinMs), throttleMaxMs)
    this.#throttledUntilMs = Math.max(this.#throttledUntilMs, this.#clock() + ms)
  }
}
