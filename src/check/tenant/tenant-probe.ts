import { LRUCache } from "lru-cache"
import { type CallOutcome, CircuitBreaker, type CircuitBreakerBounds } from "../../base/circuit-breaker.ts"
import { type Release, Semaphore } from "../../base/concurrency.ts"
import { assert } from "../../base/errors.ts"
import type { Fetch } from "../../base/fetch.ts"
import { type Finding, unknown } from "../../base/finding.ts"
import type { Clock, SetTimer } from "../../base/outside-world.ts"
import { DAY_MS } from "../../base/time.ts"
import type { TenantProbeResult } from "../cache-status.ts"
import type { IdentityCloud, IdentityUrls } from "./identity-endpoint.ts"
import { createTenantLookup, type TenantLookup, type TenantLookupResult } from "./tenant-lookup.ts"

/** What bounds the look-ups of tenants. */
export type TenantProbeBounds = {
  readonly cache: TenantCacheBounds
  readonly breaker: CircuitBreakerBounds
  /** Look-ups under way; each makes two requests. */
  readonly inFlightMax: number
  /** Look-ups that wait for others to end. */
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

/**
 * Asks suite_b whose tenant a domain is, at the endpoints of one cloud. What is held is given at once; else the promise
 * never rejects, and is the same for all who ask while the look-up is under way. The look-up has a deadline of its own, so
 * it goes on when they stop waiting, and the next one to ask is given what it found.
 */
type TenantProbe = {
  readonly lookup: (
    domain: string,
    organisational: string,
    cloud?: IdentityCloud,
  ) => TenantProbeResult | Promise<TenantProbeResult>
  /** What it has done so far, and how it stands. */
  readonly stats: () => TenantProbeStats
}

/** How many answers are held, how often that was enough, what came of look-ups, and how many endpoints are left alone now. */
export type TenantProbeStats = {
  readonly entries: number
  readonly hits: number
  readonly misses: number
  readonly tenant: number
  readonly none: number
  readonly failed: number
  readonly openBreakerCount: number
}

/** What a probe asks, and how it tells and bides the time. */
type TenantProbeDeps = {
  readonly fetchUrl: Fetch
  readonly urls: IdentityUrls
  readonly clock: Clock
  readonly setTimer: SetTimer
}

/** Builds the probe of tenants. The domain is lower-case A-labels, `organisational` its registrable domain. */
export function createTenantProbe(
  { fetchUrl, urls, clock, setTimer }: TenantProbeDeps,
  bounds: TenantProbeBounds,
): TenantProbe {
  const lookUp = createTenantLookup(fetchUrl, clock, setTimer)
  const held = new TenantCache(clock, bounds.cache)
  const slots = new Semaphore(bounds.inFlightMax, bounds.waitingMax)
  const breakers = new Map(Object.values(urls).map(base => [base, new CircuitBreaker(clock, bounds.breaker)]))
  const underWay = new Map<string, Promise<TenantProbeResult>>()
  const counts = { hits: 0, misses: 0, tenant: 0, none: 0, failed: 0 }

  /** What is told when nobody can be asked now. */
  const notAsked = (key: string): TenantProbeResult =>
    held.stale(key) ?? { tenant: unknown("unavailable"), isCached: false, freshUntilMs: clock() }

  /** Makes a look-up that has its slot, unless the breaker has opened while it waited. */
  const lookedUp = async (
    leave: Release,
    breaker: CircuitBreaker,
    key: string,
    begin: () => TenantLookup,
  ): Promise<TenantProbeResult> => {
    const pass = breaker.acquire()
    if (pass === null) {
      leave()
      return notAsked(key)
    }
    const { result: found, finished } = begin()
    const result = await found
    counts[lookupOutcome(result)]++
    pass(callOutcome(result)) // before the slot is the next one's, which may have to be kept back
    void finished.then(leave)
    return held.set(key, result)
  }

  const lookup: TenantProbe["lookup"] = (domain, organisational, cloud = "worldwide") => {
    const base = urls[cloud]
    const key = `${base}/${domain}`
    const ready = held.fresh(key) ?? underWay.get(key)
    if (ready !== undefined) {
      counts.hits++
      return ready
    }
    counts.misses++
    const breaker = breakers.get(base)
    assert(breaker !== undefined, "the endpoints of every cloud have a breaker")
    const slot = breaker.isOpen ? null : slots.acquire()
    if (slot === null) return notAsked(key)
    const found = slot
      .then(leave => lookedUp(leave, breaker, key, () => lookUp(base, domain, organisational)))
      .finally(() => underWay.delete(key))
    underWay.set(key, found)
    return found
  }
  return { lookup, stats: () => ({ ...counts, entries: held.size, openBreakerCount: countOpenBreakers(breakers) }) }
}

const countOpenBreakers = (breakers: ReadonlyMap<string, CircuitBreaker>): number =>
  [...breakers.values()].filter(({ isOpen }) => isOpen).length

const lookupOutcome = ({ tenant }: TenantLookupResult): "tenant" | "none" | "failed" =>
  tenant.known ? (tenant.value === null ? "none" : "tenant") : "failed"

/** An endpoint that says that there is no tenant works as well as one that names it. */
const callOutcome = ({ tenant, retryAfterMs }: TenantLookupResult): CallOutcome =>
  tenant.known ? { kind: "answered" } : { kind: "failed", retryAfterMs }

/** How many answers are held, and for how long. */
type TenantCacheBounds = {
  readonly entriesMax: number
  readonly answerTtlMs: number
  /** A tenant of which nobody told how its people sign in. */
  readonly partialTtlMs: number
  /** A failure, so that a domain that is asked about again and again does not reach the endpoint each time. */
  readonly failureTtlMs: number
  /** How long past its time an answer still serves while the endpoint fails. */
  readonly staleTtlMs: number
}

type TenantCacheEntry = { readonly result: TenantProbeResult; readonly staleUntilMs: number }

/** What look-ups found, by key, the least recently used dropped first. */
class TenantCache {
  readonly #clock: Clock
  readonly #bounds: TenantCacheBounds
  /** It keeps no time of its own: an answer past its time is still of use. */
  readonly #entries: LRUCache<string, TenantCacheEntry>

  constructor(clock: Clock, bounds: TenantCacheBounds) {
    this.#clock = clock
    this.#bounds = bounds
    this.#entries = new LRUCache({ max: bounds.entriesMax })
  }

  /** How many answers are held. */
  get size(): number {
    return this.#entries.size
  }

  /** What is held for the key and need not be asked for again; undefined: nothing. */
  fresh(key: string): TenantProbeResult | undefined {
    const found = this.#entries.get(key)?.result
    return found !== undefined && this.#clock() < found.freshUntilMs ? found : undefined
  }

  /** The answer that still serves while nobody can be asked, fresh for no time; undefined: there is none. */
  stale(key: string): TenantProbeResult | undefined {
    const held = this.#staleEntry(key)
    return held === undefined ? undefined : { ...held.result, freshUntilMs: this.#clock() }
  }

  /** Holds what was found, and gives what is to be told: after a failure the answer that was held before, if it still serves. */
  set(key: string, { tenant, isComplete }: TenantLookupResult): TenantProbeResult {
    const { answerTtlMs, partialTtlMs, staleTtlMs } = this.#bounds
    if (!tenant.known) return this.#setFailure(key, tenant)
    const freshUntilMs = this.#clock() + (isComplete ? answerTtlMs : partialTtlMs)
    const result = { tenant, isCached: true, freshUntilMs }
    this.#entries.set(key, { result, staleUntilMs: freshUntilMs + staleTtlMs })
    return { ...result, isCached: false }
  }

  #setFailure(key: string, tenant: Finding<never>): TenantProbeResult {
    const freshUntilMs = this.#clock() + this.#bounds.failureTtlMs
    const before = this.#staleEntry(key)
    const result = before === undefined ? { tenant, isCached: false, freshUntilMs } : { ...before.result, freshUntilMs }
    this.#entries.set(key, { result, staleUntilMs: before?.staleUntilMs ?? freshUntilMs })
    return result
  }

  #staleEntry(key: string): TenantCacheEntry | undefined {
    const held = this.#entries.get(key)
    return held?.result.tenant.known && this.#clock() < held.staleUntilMs ? held : undefined
  }
}
