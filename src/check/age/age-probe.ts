import { LRUCache } from "lru-cache"
import { type Finding, known, unknown } from "../../base/finding.ts"
import { boundedByCount } from "../../base/lru-bounds.ts"
import type { Clock } from "../../base/outside-world.ts"
import { SingleFlight } from "../../base/single-flight.ts"
import { type CacheLifetime, DAY_MS, isFresh } from "../../base/time.ts"
import type { CacheStatus } from "../cache-status.ts"
import { type AgeStore, readStoredFact, type StoredAge } from "../fact-store.ts"
import type { RdapBootstrap } from "./rdap-bootstrap.ts"
import type { DomainRegistration, RdapLookup, RdapLookupResult, ServerLimiterBounds } from "./rdap-lookup.ts"

/** When a domain was registered; null: the registry does not say, or no RDAP server is known for the domain. */
export type AgeProbeResult = CacheStatus & { readonly registration: Finding<DomainRegistration | null> }

/** Looks up the ages of domains. Names are registrable domains as A-labels, lower case. */
export type AgeProbe = {
  /**
   * Looks up when a domain was registered. A fresh result comes without a promise. A promise never rejects, and all callers share
   * it while the lookup is in flight. The lookup continues when its callers stop waiting, and the next caller gets its result.
   */
  readonly lookup: (domain: string) => AgeProbeResult | Promise<AgeProbeResult>
  /** The result if it is in memory, or if no RDAP server is known for the domain; undefined: `lookup` would have to wait. */
  readonly fresh: (domain: string) => AgeProbeResult | undefined
  /** The age in whole days, if it is in memory; null: it is not, or the registry does not say. */
  readonly cachedAgeDays: (domain: string) => number | null
  /** Changes whenever an age arrives in memory. */
  readonly ageVersion: () => number
}

/** The bootstrap in use. */
export type BootstrapSource = {
  /** Null: there is none yet. */
  readonly current: () => RdapBootstrap | null
  /** Waits for the first bootstrap; null: there is none. It never rejects. */
  readonly ready: () => Promise<RdapBootstrap | null>
}

type AgeProbeDeps = {
  readonly lookupRegistration: RdapLookup
  readonly bootstrap: BootstrapSource
  /** Null: results are only kept in memory. */
  readonly store: AgeStore | null
  readonly clock: Clock
  /** Receives a failure to read the store. The registry is queried then. */
  readonly onError: (error: unknown) => void
}

/** The bounds of age lookups. */
type AgeProbeBounds = {
  readonly cache: AgeCacheBounds
  /** Lookups in flight, including those that wait for their server. */
  readonly inFlightMax: number
  /** For each server. */
  readonly server: ServerLimiterBounds
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The bounds in use. */
export const AGE_PROBE_BOUNDS: AgeProbeBounds = {
  cache: { entriesMax: 20_000, knownTtlMs: 30 * DAY_MS, noDataTtlMs: HOUR_MS, failureTtlMs: 30_000 },
  inFlightMax: 2000,
  server: {
    inFlightMax: 4,
    waitingMax: 100,
    breaker: { failuresMax: 5, openMs: 30_000, openMinMs: 1000, openMaxMs: HOUR_MS },
    throttleMs: MINUTE_MS,
    throttleMinMs: 1000,
    throttleMaxMs: HOUR_MS,
  },
}

/** How many whole days ago the domain was registered; 0 if that is in the future, because the registry's clock is ahead of ours. */
export const ageInDays = ({ registeredAtMs }: DomainRegistration, nowMs: number): number =>
  Math.max(0, Math.floor((nowMs - registeredAtMs) / DAY_MS))

/** Builds an age probe: it searches memory, then the store, and then queries the registry. */
export function createAgeProbe(deps: AgeProbeDeps, bounds: AgeProbeBounds): AgeProbe {
  const { lookupRegistration, bootstrap, store, clock, onError } = deps
  const cache = new AgeCache(clock, bounds.cache)
  const flights = new SingleFlight<string, AgeProbeResult>()

  /** The result for a domain without an RDAP server. It counts as cached, because it needs no query. */
  const withoutServer = (): AgeProbeResult => ({
    registration: known(null),
    isCached: true,
    freshUntilMs: clock() + bounds.cache.noDataTtlMs,
  })
  const unavailable = (): AgeProbeResult => ({
    registration: unknown("unavailable"),
    isCached: false,
    freshUntilMs: clock(),
  })

  const storeResult = (domain: string, { registration, wasQueried }: RdapLookupResult): AgeProbeResult => {
    if (!registration.known) return cache.setFailure(domain, registration, wasQueried)
    const age = { registeredAtMs: registration.value?.registeredAtMs ?? null, checkedAtMs: clock() }
    store?.write(domain, age)
    return { ...cache.setAge(domain, age), isCached: false }
  }
  const readOrQuery = async (domain: string): Promise<AgeProbeResult> => {
    const stored = await readStoredFact(store, domain, onError)
    if (stored !== null) cache.setAge(domain, stored)
    const cached = cache.fresh(domain)
    if (cached !== undefined) return cached
    const servers = bootstrap.current() ?? (await bootstrap.ready())
    if (servers === null) return unavailable()
    const server = servers.serverOf(domain)
    return server === null ? withoutServer() : storeResult(domain, await lookupRegistration(server, domain))
  }

  const fresh: AgeProbe["fresh"] = domain =>
    cache.fresh(domain) ?? (bootstrap.current()?.serverOf(domain) === null ? withoutServer() : undefined)
  const lookup: AgeProbe["lookup"] = domain => {
    const available = fresh(domain) ?? flights.get(domain)
    if (available !== undefined) return available
    return flights.size >= bounds.inFlightMax ? unavailable() : flights.run(domain, () => readOrQuery(domain))
  }
  const cachedAgeDays: AgeProbe["cachedAgeDays"] = domain => {
    const registration = cache.fresh(domain)?.registration
    return registration?.known && registration.value !== null ? ageInDays(registration.value, clock()) : null
  }
  return { lookup, fresh, cachedAgeDays, ageVersion: () => cache.version }
}

/** How many domains are cached, about 200 bytes each, and for how long. */
type AgeCacheBounds = {
  readonly entriesMax: number
  readonly knownTtlMs: number
  /** For domains of which the registry does not know the age. */
  readonly noDataTtlMs: number
  /** For a failure, so that repeated checks of a domain do not reach the server each time. */
  readonly failureTtlMs: number
}

/** Results by domain. The least recently used is evicted first. */
class AgeCache {
  readonly #clock: Clock
  readonly #bounds: AgeCacheBounds
  readonly #entries: LRUCache<string, CacheLifetime & { readonly result: AgeProbeResult }>
  #version = 0

  constructor(clock: Clock, bounds: AgeCacheBounds) {
    this.#clock = clock
    this.#bounds = bounds
    this.#entries = new LRUCache(boundedByCount(bounds.entriesMax))
  }

  /** How many ages have arrived. */
  get version(): number {
    return this.#version
  }

  /** The fresh result; undefined: there is none. */
  fresh(domain: string): AgeProbeResult | undefined {
    const entry = this.#entries.get(domain)
    return entry !== undefined && isFresh(entry, this.#clock()) ? entry.result : undefined
  }

  /** Caches an age and returns the result. If another process with a clock ahead of ours found it, it is not fresh for longer. */
  setAge(domain: string, { registeredAtMs, checkedAtMs }: StoredAge): AgeProbeResult {
    const { knownTtlMs, noDataTtlMs } = this.#bounds
    const result = {
      registration: known(registeredAtMs === null ? null : { registeredAtMs }),
      isCached: true,
      freshUntilMs: Math.min(checkedAtMs, this.#clock()) + (registeredAtMs === null ? noDataTtlMs : knownTtlMs),
    }
    this.#set(domain, result)
    this.#version++
    return result
  }

  /** Returns the result of a failure, and caches it if the server was queried. */
  setFailure(domain: string, registration: Finding<never>, wasQueried: boolean): AgeProbeResult {
    const freshUntilMs = this.#clock() + (wasQueried ? this.#bounds.failureTtlMs : 0)
    const result = { registration, isCached: false, freshUntilMs }
    if (wasQueried) this.#set(domain, result)
    return result
  }

  #set(domain: string, result: AgeProbeResult): void {
    this.#entries.set(domain, { result, cachedAtMs: this.#clock(), freshUntilMs: result.freshUntilMs })
  }
}
