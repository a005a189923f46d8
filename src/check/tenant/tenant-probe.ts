import {
  type CallOutcome,
  type CallPermit,
  CircuitBreaker,
  type CircuitBreakerBounds,
} from "../../base/circuit-breaker.ts"
import { KeyedSemaphore, type Release, Semaphore } from "../../base/concurrency.ts"
import { assert } from "../../base/errors.ts"
import { FactCache, type FactKind } from "../../base/fact-cache.ts"
import type { Fetch } from "../../base/fetch.ts"
import { type Finding, unknown } from "../../base/finding.ts"
import type { Clock, SetTimer } from "../../base/outside-world.ts"
import { SingleFlight } from "../../base/single-flight.ts"
import { DAY_MS } from "../../base/time.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { CacheStatus } from "../cache-status.ts"
import type { Tenant } from "../verdict/evidence.ts"
import type { IdentityCloud, IdentityUrls } from "./identity-endpoint.ts"
import { createCanaryLookup, createTenantLookup, type TenantLookupResult } from "./tenant-lookup.ts"

/** A domain's tenant in suite_b; null: it has none. */
export type TenantProbeResult = CacheStatus & { readonly tenant: Finding<Tenant | null> }

/** The bounds of tenant lookups. */
export type TenantProbeBounds = {
  readonly cache: FactKind & {
    readonly answerTtlMs: number
    /** For a tenant whose way of signing in is not known. */
    readonly partialTtlMs: number
  }
  /** For each cloud. It opens only if a lookup of a reserved domain fails too: anybody can have lookups of their own domains fail. */
  readonly breaker: CircuitBreakerBounds
  /** Lookups in flight, of two requests each. */
  readonly inFlightMax: number
  /** Lookups of one caller in flight, and waiting for others to finish. */
  readonly inFlightPerCallerMax: number
  /** Lookups that wait for others to finish, and further ones that wait for those of the same caller. */
  readonly waitingMax: number
}

const MINUTE_MS = 60_000

/** The bounds in use. */
export const TENANT_PROBE_BOUNDS: TenantProbeBounds = {
  cache: {
    ...{ entriesMax: 20_000, answerTtlMs: DAY_MS, partialTtlMs: MINUTE_MS },
    ...{ failureTtlMs: 30_000, staleMs: DAY_MS, staleTtlMs: 30_000 },
  },
  breaker: { failuresMax: 5, openMs: 30_000, openMinMs: 1000, openMaxMs: 10 * MINUTE_MS },
  inFlightMax: 64,
  inFlightPerCallerMax: LIMITS.tenantLookupsPerCallerMax,
  waitingMax: 1000,
}

/** Entries, hits and misses of the cache, how many lookups had each outcome, and how many clouds have an open breaker. */
export type TenantProbeStats = {
  readonly entries: number
  readonly hits: number
  readonly misses: number
  readonly tenant: number
  readonly none: number
  readonly failed: number
  readonly openBreakerCount: number
}

type TenantProbeDeps = {
  readonly fetchUrl: Fetch
  readonly urls: IdentityUrls
  readonly clock: Clock
  readonly setTimer: SetTimer
}

/** Looks up a domain's tenant at the endpoints of one cloud. Domains are A-labels, lower case. */
export class TenantProbe {
  readonly #urls: IdentityUrls
  readonly #clock: Clock
  readonly #bounds: TenantProbeBounds["cache"]
  readonly #startLookup: ReturnType<typeof createTenantLookup>
  readonly #cache: FactCache<Tenant | null, TenantProbeResult>
  readonly #semaphore: Semaphore
  readonly #callers: KeyedSemaphore<string>
  readonly #breakers: ReadonlyMap<string, CircuitBreaker>
  /** The lookups that wait for a slot of their caller. */
  readonly #waiting = new SingleFlight<string, TenantProbeResult>()
  readonly #counts = { hits: 0, misses: 0, tenant: 0, none: 0, failed: 0 }

  constructor({ fetchUrl, urls, clock, setTimer }: TenantProbeDeps, bounds: TenantProbeBounds) {
    this.#urls = urls
    this.#clock = clock
    this.#startLookup = createTenantLookup(fetchUrl, clock, setTimer)
    this.#bounds = bounds.cache
    this.#cache = new FactCache(bounds.cache, clock, (tenant, isCached, freshUntilMs) => ({
      tenant,
      isCached,
      freshUntilMs,
    }))
    this.#semaphore = new Semaphore(bounds.inFlightMax, bounds.waitingMax)
    this.#callers = new KeyedSemaphore(bounds.inFlightPerCallerMax, bounds.waitingMax)
    const callCanary = createCanaryLookup(fetchUrl, clock, setTimer)
    this.#breakers = new Map(
      Object.values(urls).map(base => [base, new CircuitBreaker(clock, bounds.breaker, () => callCanary(base))]),
    )
  }

  /**
   * A fresh cached result comes without a promise. A promise never rejects, and all callers share it while the lookup is in
   * flight. The lookup has a deadline of its own: it continues when its callers stop waiting, and the next caller gets its
   * result from the cache. A caller, which is an account or the network of a visitor, has a bounded number of lookups at the
   * same time, and further ones wait in its own queue. A null or absent caller is the operator, whose lookups are not limited.
   */
  lookup(
    domain: string,
    organisationalDomain: string,
    cloud: IdentityCloud = "worldwide",
    callerId: string | null = null,
  ): TenantProbeResult | Promise<TenantProbeResult> {
    const base = this.#urls[cloud]
    const key = `${base}/${domain}`
    const available = this.#available(key) ?? this.#waiting.get(`${callerId} ${key}`)
    if (available !== undefined) {
      this.#counts.hits++
      return available
    }
    this.#counts.misses++
    const query = { domain, organisationalDomain, base, key }
    if (callerId === null) return this.#startFlight(query, NO_SLOT)
    const slot = this.#breakerOf(base).isOpen ? null : this.#callers.acquire(callerId)
    if (slot === null) return this.#withoutLookup(key)
    if (!(slot instanceof Promise)) return this.#startFlight(query, slot)
    // Others do not join a lookup that waits in the queue of its caller: they would wait for that caller.
    return this.#waiting.run(`${callerId} ${key}`, () => slot.then(release => this.#afterWaiting(query, release)))
  }

  stats(): TenantProbeStats {
    const openBreakerCount = [...this.#breakers.values()].filter(({ isOpen }) => isOpen).length
    return { ...this.#counts, entries: this.#cache.size, openBreakerCount }
  }

  /** The fresh cached result, or the lookup that is in flight. */
  #available(key: string): TenantProbeResult | Promise<TenantProbeResult> | undefined {
    return this.#cache.fresh(key) ?? this.#cache.flights.get(key)
  }

  #breakerOf(base: string): CircuitBreaker {
    const breaker = this.#breakers.get(base)
    assert(breaker !== undefined, "the endpoints of every cloud have a breaker")
    return breaker
  }

  /** Another caller may have looked the domain up while the lookup waited for its turn. */
  #afterWaiting(query: TenantQuery, release: Release): TenantProbeResult | Promise<TenantProbeResult> {
    const available = this.#available(query.key)
    if (available === undefined) return this.#startFlight(query, release)
    release()
    return available
  }

  /** Starts a lookup as soon as it has a permit of the semaphore. `releaseCaller` is called when it has ended. */
  #startFlight(query: TenantQuery, releaseCaller: Release): TenantProbeResult | Promise<TenantProbeResult> {
    const permit = this.#breakerOf(query.base).isOpen ? null : this.#semaphore.acquire()
    if (permit === null) {
      releaseCaller()
      return this.#withoutLookup(query.key)
    }
    return this.#cache.flights.run(query.key, async () => {
      const releasePermit = await permit
      return this.#runLookup(query, () => {
        releasePermit()
        releaseCaller()
      })
    })
  }

  /** The result without a lookup: a stale answer, or `unavailable`. */
  #withoutLookup(key: string): TenantProbeResult {
    return this.#cache.stale(key) ?? { tenant: unknown("unavailable"), isCached: false, freshUntilMs: this.#clock() }
  }

  /** Runs a lookup that holds a permit of the semaphore, unless the breaker opened while it waited for that. */
  async #runLookup(query: TenantQuery, release: Release): Promise<TenantProbeResult> {
    const { domain, organisationalDomain, base, key } = query
    let finished = Promise.resolve()
    let report: CallPermit | null = null
    try {
      report = this.#breakerOf(base).acquire(organisationalDomain)
      if (report === null) return this.#withoutLookup(key)
      const lookup = this.#startLookup(base, domain, organisationalDomain)
      finished = lookup.finished
      const settled = await lookup.result
      this.#counts[lookupOutcome(settled)]++
      await report(callOutcome(settled)) // before the release: it may open the breaker for the next lookup
      return this.#cacheResult(key, settled)
    } catch (defect) {
      // A trial call whose outcome nobody hears would keep the breaker open for ever.
      await report?.({ kind: "failed", retryAfterMs: null })
      throw defect
    } finally {
      void finished.then(release, release)
    }
  }

  #cacheResult(key: string, { tenant, isComplete }: TenantLookupResult): TenantProbeResult {
    if (!tenant.known) return this.#cache.setFailure(key, tenant)
    return this.#cache.setAnswer(key, tenant, isComplete ? this.#bounds.answerTtlMs : this.#bounds.partialTtlMs)
  }
}

/** One lookup. `base` is the URL of a cloud's endpoints, and `key` identifies it in the cache. */
type TenantQuery = {
  readonly domain: string
  readonly organisationalDomain: string
  readonly base: string
  readonly key: string
}

/** The operator's lookups hold no slot. */
const NO_SLOT: Release = () => undefined

const lookupOutcome = ({ tenant }: TenantLookupResult): "tenant" | "none" | "failed" =>
  tenant.known ? (tenant.value === null ? "none" : "tenant") : "failed"

/** That there is no tenant is an answer too. */
const callOutcome = ({ tenant, retryAfterMs }: TenantLookupResult): CallOutcome =>
  tenant.known ? { kind: "answered" } : { kind: "failed", retryAfterMs }
