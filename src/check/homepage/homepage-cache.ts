import type { Deadline } from "../../base/concurrency.ts"
import { known, unknown } from "../../base/finding.ts"
import type { Clock } from "../../base/outside-world.ts"
import { SingleFlight } from "../../base/single-flight.ts"
import { type CacheLifetime, DAY_MS, isFresh } from "../../base/time.ts"
import { TwoGenerationCache } from "../../base/two-generation-cache.ts"
import type { CacheStatus } from "../cache-status.ts"
import { type HomepageStore, readStoredFact, type StoredHomepage } from "../fact-store.ts"
import type { HomepageProbe, HomepageProbeResult } from "./homepage-probe.ts"

/** What a domain's homepage is, and how long that is fresh. */
export type HomepageResult = CacheStatus & Pick<HomepageProbeResult, "homepage" | "wasFetched">

/** For a homepage, and for the lack of one. */
const HOMEPAGE_TTL_MS = DAY_MS
const FAILURE_TTL_MS = 30_000
/** How many domains are cached at least, about 150 bytes each. */
const CACHED_HOMEPAGES_MIN = 5_000
/** How many homepages are probed at the same time. Each may take a megabyte. */
const IN_FLIGHT_MAX = 64

type HomepageCacheDeps = {
  readonly probe: HomepageProbe
  /** Null: results are only kept in memory. */
  readonly store: HomepageStore | null
  readonly clock: Clock
  /** Receives a failure to read the store. The homepage is probed then. */
  readonly onError: (error: unknown) => void
}

/** Probes each homepage once a day for all callers. Names are registrable domains as A-labels, lower case. */
export class HomepageCache {
  readonly #deps: HomepageCacheDeps
  readonly #entries = new TwoGenerationCache<string, CacheLifetime & { readonly result: HomepageResult }>(
    CACHED_HOMEPAGES_MIN,
  )
  readonly #flights = new SingleFlight<string, HomepageResult>()

  constructor(deps: HomepageCacheDeps) {
    this.#deps = deps
  }

  /** The fresh result in memory; undefined: there is none. */
  fresh(domain: string): HomepageResult | undefined {
    const entry = this.#entries.get(domain)
    return entry !== undefined && isFresh(entry, this.#deps.clock()) ? entry.result : undefined
  }

  /**
   * The stored result, or that of a probe within the deadline. Callers share a running lookup; if that of another caller times out
   * before the own deadline, it is repeated. It never rejects.
   */
  lookup(domain: string, deadline: Deadline): Promise<HomepageResult> {
    const running = this.#flights.get(domain)
    if (running !== undefined) return this.#join(running, domain, deadline)
    if (this.#flights.size >= IN_FLIGHT_MAX) return Promise.resolve(OVERLOADED)
    return this.#flights.run(domain, () => this.#readOrProbe(domain, deadline))
  }

  async #join(running: Promise<HomepageResult>, domain: string, deadline: Deadline): Promise<HomepageResult> {
    const result = await running
    const isLate = !result.homepage.known && result.homepage.cause === "timed_out"
    return isLate && !deadline.isExpired ? this.lookup(domain, deadline) : result
  }

  async #readOrProbe(domain: string, deadline: Deadline): Promise<HomepageResult> {
    const { probe, store, clock } = this.#deps
    const stored = await this.#readStored(domain)
    if (stored !== null) {
      // If another process with a clock ahead of ours stored it, it is not fresh for longer.
      const freshUntilMs = Math.min(stored.checkedAtMs, clock()) + HOMEPAGE_TTL_MS
      const result = { homepage: known(stored.state), isCached: true, freshUntilMs, wasFetched: false }
      this.#entries.set(domain, { result, cachedAtMs: clock(), freshUntilMs })
      return result
    }
    const { homepage, movedTo, parkingSignal, wasFetched } = await probe(domain, deadline)
    const checkedAtMs = clock()
    const freshUntilMs = checkedAtMs + (homepage.known ? HOMEPAGE_TTL_MS : FAILURE_TTL_MS)
    const result = { homepage, isCached: homepage.known, freshUntilMs, wasFetched: false }
    this.#entries.set(domain, { result, cachedAtMs: checkedAtMs, freshUntilMs })
    if (homepage.known)
      store?.write(domain, { state: homepage.value, evidence: movedTo ?? parkingSignal?.key ?? null, checkedAtMs })
    return { homepage, isCached: false, freshUntilMs, wasFetched }
  }

  /** The stored homepage if it is fresh; null: there is none. */
  async #readStored(domain: string): Promise<StoredHomepage | null> {
    const { store, clock, onError } = this.#deps
    const stored = await readStoredFact(store, domain, onError)
    return stored !== null && clock() < stored.checkedAtMs + HOMEPAGE_TTL_MS ? stored : null
  }
}

const OVERLOADED: HomepageResult = {
  homepage: unknown("unavailable"),
  isCached: false,
  freshUntilMs: 0,
  wasFetched: false,
}
