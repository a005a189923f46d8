import { LRUCache } from "lru-cache"
import { type Finding, known, unknown } from "../../base/finding.ts"
import type { Clock } from "../../base/outside-world.ts"
import { DAY_MS } from "../../base/time.ts"
import type { CacheStatus } from "../cache-status.ts"
import type { AgeStore, StoredAge } from "../fact-store.ts"
import type { RdapBootstrap } from "./rdap-bootstrap.ts"
import type { DomainRegistration, RdapLookup, RdapLookupResult, ServerLimiterBounds } from "./rdap-lookup.ts"

/** What bounds the look-ups of ages. */
type AgeProbeBounds = {
  readonly cache: AgeCacheBounds
  /** Look-ups under way, waiting ones included. */
  readonly inFlightMax: number
  /** Of each server. */
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

/** Asks how old domains are. Names are registrable domains as A-labels, lower case. */
export type AgeProbe = {
  /**
   * Asks when a domain was registered. What is held is given at once; else the promise never rejects, and is the same for
   * all who ask meanwhile. The look-up goes on when they stop waiting, and the next one to ask is given what it found.
   */
  readonly lookup: (domain: string) => AgeProbeResult | Promise<AgeProbeResult>
  /** What `ask` would give at once: it is held in memory, or no server is known that could tell; undefined: it would ask. */
  readonly fresh: (domain: string) => AgeProbeResult | undefined
  /** The domain's age in whole days by what is held in memory; null: nothing is, or the registry does not tell. */
  readonly cachedAgeDays: (domain: string) => number | null
}

/** Which server knows a domain: the bootstrap that is there, or null, and a promise of it that never rejects. */
export type BootstrapSource = {
  readonly current: () => RdapBootstrap | null
  readonly ready: () => Promise<RdapBootstrap | null>
}

/** What a probe asks, and where it keeps what it was told. */
type AgeProbeDeps = {
  readonly lookupRegistration: RdapLookup
  readonly bootstrap: BootstrapSource
  /** Null: what is known is kept in memory alone. */
  readonly store: AgeStore | null
  readonly clock: Clock
  /** Is told why the shelf could not be read; the registry is asked then. */
  readonly onError: (error: unknown) => void
}

/** How many whole days lie between the registration and now; 0 when the registry's clock is ahead of ours. */
export const ageInDays = ({ registeredAtMs }: DomainRegistration, nowMs: number): number =>
  Math.max(0, Math.floor((nowMs - registeredAtMs) / DAY_MS))

/** Builds the probe of ages. */
export function createAgeProbe(world: AgeProbeDeps, bounds: AgeProbeBounds): AgeProbe {
  const { lookupRegistration, bootstrap, store, clock } = world
  const held = new AgeCache(clock, bounds.cache)
  const underWay = new Map<string, Promise<AgeProbeResult>>()

  /** Nobody is known who could tell; that was known before anybody asked. */
  const unserved = (): AgeProbeResult => ({
    registration: known(null),
    isCached: true,
    freshUntilMs: clock() + bounds.cache.noDataTtlMs,
  })
  const notAsked = (): AgeProbeResult => ({
    registration: unknown("unavailable"),
    isCached: false,
    freshUntilMs: clock(),
  })

  const keep = (domain: string, { registration, wasQueried }: RdapLookupResult): AgeProbeResult => {
    if (!registration.known) return held.setFailure(domain, registration, wasQueried)
    const age = { registeredAtMs: registration.value?.registeredAtMs ?? null, checkedAtMs: clock() }
    store?.write(domain, age)
    return { ...held.setAge(domain, age), isCached: false }
  }
  const find = async (domain: string): Promise<AgeProbeResult> => {
    const shelved = await readStoredAge(world, domain)
    if (shelved !== null) held.setAge(domain, shelved)
    const fresh = held.fresh(domain)
    if (fresh !== undefined) return fresh
    const inUse = bootstrap.current() ?? (await bootstrap.ready())
    if (inUse === null) return notAsked()
    const base = inUse.serverOf(domain)
    return base === null ? unserved() : keep(domain, await lookupRegistration(base, domain))
  }

  const fresh: AgeProbe["fresh"] = domain =>
    held.fresh(domain) ?? (bootstrap.current()?.serverOf(domain) === null ? unserved() : undefined)
  const lookup: AgeProbe["lookup"] = domain => {
    const ready = fresh(domain) ?? underWay.get(domain)
    if (ready !== undefined) return ready
    if (underWay.size >= bounds.inFlightMax) return notAsked()
    const found = find(domain).finally(() => underWay.delete(domain))
    underWay.set(domain, found)
    return found
  }
  const cachedAgeDays: AgeProbe["cachedAgeDays"] = domain => {
    const registration = held.fresh(domain)?.registration
    return registration?.known && registration.value !== null ? ageInDays(registration.value, clock()) : null
  }
  return { lookup, fresh, cachedAgeDays }
}

/** What is on the shelf; null: nothing, or the shelf fails. */
async function readStoredAge({ store, onError }: AgeProbeDeps, domain: string): Promise<StoredAge | null> {
  try {
    return (await store?.read(domain)) ?? null
  } catch (error) {
    onError(error)
    return null
  }
}

/** What a registry told of a domain: when it was registered; null: it does not tell, or no server is known that could. */
export type AgeProbeResult = CacheStatus & { readonly registration: Finding<DomainRegistration | null> }

/** How many domains are held in memory, about 200 bytes each, and for how long. */
type AgeCacheBounds = {
  readonly entriesMax: number
  readonly knownTtlMs: number
  /** That the registry does not tell, or does not know the domain. */
  readonly noDataTtlMs: number
  /** A failure, so that a domain that is asked about again and again does not reach the server each time. */
  readonly failureTtlMs: number
}

/** What look-ups of ages found, by domain, the least recently used dropped first. */
class AgeCache {
  readonly #clock: Clock
  readonly #bounds: AgeCacheBounds
  readonly #entries: LRUCache<string, AgeProbeResult>

  constructor(clock: Clock, bounds: AgeCacheBounds) {
    this.#clock = clock
    this.#bounds = bounds
    this.#entries = new LRUCache({ max: bounds.entriesMax })
  }

  /** What is held of the domain and need not be asked for again; undefined: nothing. */
  fresh(domain: string): AgeProbeResult | undefined {
    const found = this.#entries.get(domain)
    return found !== undefined && this.#clock() < found.freshUntilMs ? found : undefined
  }

  /** Holds what was found then, and gives it. A clock elsewhere that is ahead of ours makes nothing hold for longer. */
  setAge(domain: string, { registeredAtMs, checkedAtMs }: StoredAge): AgeProbeResult {
    const { knownTtlMs, noDataTtlMs } = this.#bounds
    const found = {
      registration: known(registeredAtMs === null ? null : { registeredAtMs }),
      isCached: true,
      freshUntilMs: Math.min(checkedAtMs, this.#clock()) + (registeredAtMs === null ? noDataTtlMs : knownTtlMs),
    }
    this.#entries.set(domain, found)
    return found
  }

  /** Holds a failure, unless nobody was asked about the domain, and gives it. */
  setFailure(domain: string, registration: Finding<never>, isAsked: boolean): AgeProbeResult {
    const freshUntilMs = this.#clock() + (isAsked ? this.#bounds.failureTtlMs : 0)
    const found = { registration, isCached: false, freshUntilMs }
    if (isAsked) this.#entries.set(domain, found)
    return found
  }
}
