import { LRUCache } from "lru-cache"
import {
  type CallOutcome,
  type CallPermit,
  CircuitBreaker,
  type CircuitBreakerBounds,
} from "../../base/circuit-breaker.ts"
import { type Release, Semaphore } from "../../base/concurrency.ts"
import { assert } from "../../base/errors.ts"
import type { Fetch } from "../../base/fetch.ts"
import { type Finding, unknown } from "../../base/finding.ts"
import type { Clock, SetTimer } from "../../base/outside-world.ts"
import { SingleFlight } from "../../base/single-flight.ts"
import { type CacheLifetime, DAY_MS, isFresh } from "../../base/time.ts"
import type { CacheStatus } from "../cache-status.ts"
import type { Tenant } from "../verdict/evidence.ts"
import type { IdentityCloud, IdentityUrls } from "./identity-endpoint.ts"
import { createCanaryLookup, createTenantLookup, type TenantLookup, type TenantLookupResult } from "./tenant-lookup.ts"

/** A domain's tenant in suite_b; null: it has none. */
export type TenantProbeResult = CacheStatus & { readonly tenant: Finding<Tenant | null> }

/** The bounds of tenant lookups. */
export type TenantProbeBounds = {
  readonly cache: TenantCacheBounds
  /** For each cloud. It opens only if a lookup of a reserved domain fails too: anybody can have lookups of their own domains fail. */
  readonly breaker: CircuitBreakerBounds
  /** Lookups in flight, of two requests each. */
  readonly inFlightMax: number
  /** Lookups that wait for others to finish. */
  readonly waitingMax: number
}

const MINUTE_MS = 60_000

/** The bounds in use. */
export const TENANT_PROBE_BOUNDS: TenantProbeBounds = {
  cache: { entriesMax: 20_000, answerTtlMs: DAY_MS, partialTtlMs: MINUTE_MS, failureTtlMs: 30_000, staleTtlMs: DAY_MS },
  breaker: { failuresMax: 5, openMs: 30_000, openMinMs: 1000, openMaxMs: 10 * MINUTE_MS },
  inFlightMax: 64,
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
  readonly #startLookup: ReturnType<typeof createTenantLookup>
  readonly #cache: TenantCache
  readonly #semaphore: Semaphore
  readonly #breakers: ReadonlyMap<string, CircuitBreaker>
  readonly #flights = new SingleFlight<string, TenantProbeResult>()
  readonly #counts = { hits: 0, misses: 0, tenant: 0, none: 0, failed: 0 }

  constructor({ fetchUrl, urls, clock, setTimer }: TenantProbeDeps, bounds: TenantProbeBounds) {
    this.#urls = urls
    this.#clock = clock
    this.#startLookup = createTenantLookup(fetchUrl, clock, setTimer)
    this.#cache = new TenantCache(clock, bounds.cache)
    this.#semaphore = new Semaphore(bounds.inFlightMax, bounds.waitingMax)
    const callCanary = createCanaryLookup(fetchUrl, clock, setTimer)
    this.#breakers = new Map(
      Object.values(urls).map(base => [base, new CircuitBreaker(clock, bounds.breaker, () => callCanary(base))]),
    )
  }

  /**
   * A fresh cached result comes without a promise. A promise never rejects, and all callers share it while the lookup is in
   * flight. The lookup has a deadline of its own: it continues when its callers stop waiting, and the next caller gets its
   * result from the cache.
   */
  lookup(
    domain: string,
    organisationalDomain: string,
    cloud: IdentityCloud = "worldwide",
  ): TenantProbeResult | Promise<TenantProbeResult> {
    const base = this.#urls[cloud]
    const key = `${base}/${domain}`
    const available = this.#cache.fresh(key) ?? this.#flights.get(key)
    if (available !== undefined) {
      this.#counts.hits++
      return available
    }
    this.#counts.misses++
    const breaker = this.#breakers.get(base)
    assert(breaker !== undefined, "the endpoints of every cloud have a breaker")
    const permit = breaker.isOpen ? null : this.#semaphore.acquire()
    if (permit === null) return this.#withoutLookup(key)
    const start = (): TenantLookup => this.#startLookup(base, domain, organisationalDomain)
    const acquire = (): CallPermit | null => breaker.acquire(organisationalDomain)
    return this.#flights.run(key, () => permit.then(release => this.#runLookup(release, acquire, key, start)))
  }

  stats(): TenantProbeStats {
    const openBreakerCount = [...this.#breakers.values()].filter(({ isOpen }) => isOpen).length
    return { ...this.#counts, entries: this.#cache.size, openBreakerCount }
  }

  /** The result without a lookup: a stale answer, or `unavailable`. */
  #withoutLookup(key: string): TenantProbeResult {
    return this.#cache.stale(key) ?? { tenant: unknown("unavailable"), isCached: false, freshUntilMs: this.#clock() }
  }

  /** Runs a lookup that holds a permit of the semaphore, unless the breaker opened while it waited for that. */
  async #runLookup(
    release: Release,
    acquire: () => CallPermit | null,
    key: string,
    start: () => TenantLookup,
  ): Promise<TenantProbeResult> {
    const report = acquire()
    if (report === null) {
      release()
      return this.#withoutLookup(key)
    }
    const { result, finished } = start()
    const settled = await result
    this.#counts[lookupOutcome(settled)]++
    await report(callOutcome(settled)) // before the release: it may open the breaker for the next lookup
    void finished.then(release)
    return this.#cache.set(key, settled)
  }
}

const lookupOutcome = ({ tenant }: TenantLookupResult): "tenant" | "none" | "failed" =>
  tenant.known ? (tenant.value === null ? "none" : "tenant") : "failed"

/** That there is no tenant is an answer too. */
const callOutcome = ({ tenant, retryAfterMs }: TenantLookupResult): CallOutcome =>
  tenant.known ? { kind: "answered" } : { kind: "failed", retryAfterMs }

/** How many results are cached, and for how long. */
type TenantCacheBounds = {
  readonly entriesMax: number
  readonly answerTtlMs: number
  /** For a tenant of which it is not known how its users sign in. */
  readonly partialTtlMs: number
  /** For a failure, so that repeated checks of a domain do not reach the endpoint each time. */
  readonly failureTtlMs: number
  /** How long after its TTL an answer replaces a failure. */
  readonly staleTtlMs: number
}

type TenantCacheEntry = CacheLifetime & { readonly result: TenantProbeResult; readonly staleUntilMs: number }

/** Lookup results by key. The least recently used is evicted first. */
class TenantCache {
  readonly #clock: Clock
  readonly #bounds: TenantCacheBounds
  /** It does not expire entries, because a stale entry is still useful. */
  readonly #entries: LRUCache<string, TenantCacheEntry>

  constructor(clock: Clock, bounds: TenantCacheBounds) {
    this.#clock = clock
    this.#bounds = bounds
    this.#entries = new LRUCache({ max: bounds.entriesMax })
  }

  get size(): number {
    return this.#entries.size
  }

  /** The fresh result; undefined: there is none. */
  fresh(key: string): TenantProbeResult | undefined {
    const entry = this.#entries.get(key)
    return entry !== undefined && isFresh(entry, this.#clock()) ? entry.result : undefined
  }

  /** The answer that replaces a failure, with no freshness; undefined: there is none. */
  stale(key: string): TenantProbeResult | undefined {
    const entry = this.#staleEntry(key)
    return entry === undefined ? undefined : { ...entry.result, freshUntilMs: this.#clock() }
  }

  /** Caches a result and returns what the caller gets: for a failure, the previous answer if it is not too old. */
  set(key: string, { tenant, isComplete }: TenantLookupResult): TenantProbeResult {
    const { answerTtlMs, partialTtlMs, staleTtlMs } = this.#bounds
    if (!tenant.known) return this.#setFailure(key, tenant)
    const cachedAtMs = this.#clock()
    const freshUntilMs = cachedAtMs + (isComplete ? answerTtlMs : partialTtlMs)
    const result = { tenant, isCached: true, freshUntilMs }
    this.#entries.set(key, { result, cachedAtMs, freshUntilMs, staleUntilMs: freshUntilMs + staleTtlMs })
    return { ...result, isCached: false }
  }

  #setFailure(key: string, tenant: Finding<never>): TenantProbeResult {
    const cachedAtMs = this.#clock()
    const freshUntilMs = cachedAtMs + this.#bounds.failureTtlMs
    const previous = this.#staleEntry(key)
    const result =
      previous === undefined ? { tenant, isCached: false, freshUntilMs } : { ...previous.result, freshUntilMs }
    this.#entries.set(key, { result, cachedAtMs, freshUntilMs, staleUntilMs: previous?.staleUntilMs ?? freshUntilMs })
    return result
  }

  #staleEntry(key: string): TenantCacheEntry | undefined {
    const entry = this.#entries.get(key)
    return entry?.result.tenant.known && this.#clock() < entry.staleUntilMs ? entry : undefined
  }
}
