import { FactCache, type FactKind } from "../../base/fact-cache.ts"
import { type Finding, known, unknown } from "../../base/finding.ts"
import type { Clock } from "../../base/outside-world.ts"
import { DAY_MS } from "../../base/time.ts"
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
  readonly cache: FactKind & {
    readonly knownTtlMs: number
    /** For domains whose age the registry does not know. */
    readonly noDataTtlMs: number
  }
  /** Lookups in flight, including those that wait for their server. */
  readonly inFlightMax: number
  /** For each server. */
  readonly server: ServerLimiterBounds
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The bounds in use. */
export const AGE_PROBE_BOUNDS: AgeProbeBounds = {
  cache: {
    ...{ entriesMax: 20_000, knownTtlMs: 30 * DAY_MS, noDataTtlMs: HOUR_MS },
    ...{ failureTtlMs: 30_000, staleMs: 0, staleTtlMs: 0 },
  },
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

const ageResult = (
  registration: AgeProbeResult["registration"],
  isCached: boolean,
  freshUntilMs: number,
): AgeProbeResult => ({ registration, isCached, freshUntilMs })

/** Builds an age probe: it searches memory, then the store, and then queries the registry. */
export function createAgeProbe(deps: AgeProbeDeps, bounds: AgeProbeBounds): AgeProbe {
  const { lookupRegistration, bootstrap, store, clock, onError } = deps
  const cache = new FactCache(bounds.cache, clock, ageResult)
  let version = 0

  /** The result for a domain without an RDAP server. It counts as cached, because it needs no query. */
  const withoutServer = () => ageResult(known(null), true, clock() + bounds.cache.noDataTtlMs)
  const unavailable = () => ageResult(unknown("unavailable"), false, clock())
  const cacheAge = (domain: string, { registeredAtMs, checkedAtMs }: StoredAge): AgeProbeResult => {
    const { knownTtlMs, noDataTtlMs } = bounds.cache
    version++
    return registeredAtMs === null
      ? cache.setAnswer(domain, known(null), noDataTtlMs, checkedAtMs)
      : cache.setAnswer(domain, known({ registeredAtMs }), knownTtlMs, checkedAtMs)
  }
  const storeResult = (domain: string, { registration, wasQueried }: RdapLookupResult): AgeProbeResult => {
    if (registration.known) {
      const age = { registeredAtMs: registration.value?.registeredAtMs ?? null, checkedAtMs: clock() }
      store?.write(domain, age)
      return cacheAge(domain, age)
    }
    // A server that was not queried may be queried at once.
    return wasQueried ? cache.setFailure(domain, registration) : { ...unavailable(), registration }
  }
  const readOrQuery = async (domain: string): Promise<AgeProbeResult> => {
    const stored = await readStoredFact(store, domain, onError)
    if (stored !== null) cacheAge(domain, stored)
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
    const available = fresh(domain) ?? cache.flights.get(domain)
    if (available !== undefined) return available
    return cache.flights.size >= bounds.inFlightMax
      ? unavailable()
      : cache.flights.run(domain, () => readOrQuery(domain))
  }
  const cachedAgeDays: AgeProbe["cachedAgeDays"] = domain => {
    const registration = cache.fresh(domain)?.registration
    return registration?.known && registration.value !== null ? ageInDays(registration.value, clock()) : null
  }
  return { lookup, fresh, cachedAgeDays, ageVersion: () => version }
}
