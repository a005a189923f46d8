import type { Deadline } from "../../base/concurrency.ts"
import { FactCache } from "../../base/fact-cache.ts"
import { known, unknown } from "../../base/finding.ts"
import type { Clock } from "../../base/outside-world.ts"
import { DAY_MS } from "../../base/time.ts"
import type { CacheStatus } from "../cache-status.ts"
import { type HomepageStore, readStoredFact, type StoredHomepage } from "../fact-store.ts"
import type { HomepageProbe, HomepageProbeResult } from "./homepage-probe.ts"

/** What a domain's homepage is, and how long that is fresh. */
export type HomepageResult = CacheStatus & Pick<HomepageProbeResult, "homepage" | "wasFetched">

/** For a homepage, and for the lack of one. */
const HOMEPAGE_TTL_MS = DAY_MS
const HOMEPAGE_KIND = { entriesMax: 10_000, failureTtlMs: 30_000, staleMs: 0, staleTtlMs: 0 }
/** How many homepages are probed at the same time. Each may take a megabyte. */
const IN_FLIGHT_MAX = 64

type HomepageCacheDeps = {
  readonly probe: HomepageProbe
  /** Null: results are only kept in memory. */
  readonly store: HomepageStore | null
  /** How many domains are cached. Absent: 10 000. */
  readonly entriesMax?: number | undefined
  readonly clock: Clock
  /** Receives a failure to read the store. The homepage is probed then. */
  readonly onError: (error: unknown) => void
}

/** Probes each homepage once a day for all callers. Names are registrable domains as A-labels, lower case. */
export class HomepageCache {
  readonly #deps: HomepageCacheDeps
  readonly #cache: FactCache<StoredHomepage["state"], HomepageResult>

  constructor(deps: HomepageCacheDeps) {
    this.#deps = deps
    const { entriesMax = HOMEPAGE_KIND.entriesMax } = deps
    this.#cache = new FactCache({ ...HOMEPAGE_KIND, entriesMax }, deps.clock, cachedHomepage)
  }

  /** The fresh result in memory; undefined: there is none. */
  fresh(domain: string): HomepageResult | undefined {
    return this.#cache.fresh(domain)
  }

  /**
   * The stored result, or that of a probe within the deadline. Callers share a running lookup; if that of another caller times out
   * before the own deadline, it is repeated. It never rejects.
   */
  lookup(domain: string, deadline: Deadline): Promise<HomepageResult> {
    const running = this.#cache.flights.get(domain)
    if (running !== undefined) return this.#join(running, domain, deadline)
    if (this.#cache.flights.size >= IN_FLIGHT_MAX) return Promise.resolve(OVERLOADED)
    return this.#cache.flights.run(domain, () => this.#readOrProbe(domain, deadline))
  }

  async #join(running: Promise<HomepageResult>, domain: string, deadline: Deadline): Promise<HomepageResult> {
    const result = await running
    const isLate = !result.homepage.known && result.homepage.cause === "timed_out"
    return isLate && !deadline.isExpired ? this.lookup(domain, deadline) : result
  }

  async #readOrProbe(domain: string, deadline: Deadline): Promise<HomepageResult> {
    const { probe, store, clock, onError } = this.#deps
    const stored = await readStoredFact(store, domain, onError)
    if (stored !== null) {
      this.#cache.setAnswer(domain, known(stored.state), HOMEPAGE_TTL_MS, stored.checkedAtMs)
      const cached = this.fresh(domain)
      if (cached !== undefined) return cached
    }
    const { homepage, movedTo, parkingSignal, wasFetched } = await probe(domain, deadline)
    if (!homepage.known) return { ...this.#cache.setFailure(domain, homepage), wasFetched }
    const evidence = movedTo ?? parkingSignal?.key ?? null
    store?.write(domain, { state: homepage.value, evidence, checkedAtMs: clock() })
    return { ...this.#cache.setAnswer(domain, homepage, HOMEPAGE_TTL_MS), wasFetched }
  }
}

const cachedHomepage = (
  homepage: HomepageResult["homepage"],
  isCached: boolean,
  freshUntilMs: number,
): HomepageResult => ({ homepage, isCached, freshUntilMs, wasFetched: false })

const OVERLOADED: HomepageResult = {
  homepage: unknown("unavailable"),
  isCached: false,
  freshUntilMs: 0,
  wasFetched: false,
}
