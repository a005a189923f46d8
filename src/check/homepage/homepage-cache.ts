import type { Deadline } from "../../base/concurrency.ts"
import { known, unknown } from "../../base/finding.ts"
import type { Clock } from "../../base/outside-world.ts"
import { DAY_MS } from "../../base/time.ts"
import { TwoGenerationCache } from "../../base/two-generation-cache.ts"
import type { CacheStatus } from "../cache-status.ts"
import type { HomepageStore, StoredHomepage } from "../fact-store.ts"
import type { HomepageProbe, HomepageProbeResult } from "./homepage-probe.ts"

/** What is known of a homepage, and for how long. */
export type HomepageResult = CacheStatus & Pick<HomepageProbeResult, "homepage">

/** How long a homepage that was seen, and the lack of one, holds; and how long a failure, which is nobody's answer. */
const HOMEPAGE_TTL_MS = DAY_MS
const FAILURE_TTL_MS = 30_000
/** How many domains are held at least, about 150 bytes each. */
const CACHED_HOMEPAGES_MIN = 5_000
/** How many are looked at at once: each may take a megabyte. */
const IN_FLIGHT_MAX = 64

type HomepageCacheDeps = {
  readonly probe: HomepageProbe
  /** Null: what is known is kept in memory alone. */
  readonly store: HomepageStore | null
  readonly clock: Clock
  /** Is told why the shelf could not be read; the page is asked for then. */
  readonly onError: (error: unknown) => void
}

/** Homepages that were looked at, each once a day, whoever asks. Names are registrable domains as A-labels, lower case. */
export class HomepageCache {
  readonly #deps: HomepageCacheDeps
  readonly #entries = new TwoGenerationCache<string, HomepageResult>(CACHED_HOMEPAGES_MIN)
  readonly #inFlight = new Map<string, Promise<HomepageResult>>()

  constructor(needs: HomepageCacheDeps) {
    this.#deps = needs
  }

  /** What is held in memory and need not be asked for again; undefined: nothing. */
  fresh(domain: string): HomepageResult | undefined {
    const held = this.#entries.get(domain)
    return held !== undefined && this.#deps.clock() < held.freshUntilMs ? held : undefined
  }

  /** What is held, on the shelf, or there within the budget of the first who asks. It never rejects. */
  lookup(domain: string, budget: Deadline): Promise<HomepageResult> {
    const underWay = this.#inFlight.get(domain)
    if (underWay !== undefined) return underWay
    if (this.#inFlight.size >= IN_FLIGHT_MAX) return Promise.resolve(OVERLOADED)
    const found = this.#find(domain, budget).finally(() => this.#inFlight.delete(domain))
    this.#inFlight.set(domain, found)
    return found
  }

  async #find(domain: string, budget: Deadline): Promise<HomepageResult> {
    const { probe, store, clock } = this.#deps
    const shelved = await this.#readStored(domain)
    if (shelved !== null) {
      // A clock elsewhere that is ahead of ours makes nothing hold for longer.
      const freshUntilMs = Math.min(shelved.checkedAtMs, clock()) + HOMEPAGE_TTL_MS
      const held = { homepage: known(shelved.state), isCached: true, freshUntilMs }
      this.#entries.set(domain, held)
      return held
    }
    const { homepage, movedTo, parkingSignal } = await probe(domain, budget)
    const checkedAtMs = clock()
    const found = {
      homepage,
      isCached: false,
      freshUntilMs: checkedAtMs + (homepage.known ? HOMEPAGE_TTL_MS : FAILURE_TTL_MS),
    }
    this.#entries.set(domain, { ...found, isCached: homepage.known })
    if (homepage.known)
      store?.write(domain, { state: homepage.value, evidence: movedTo ?? parkingSignal?.key ?? null, checkedAtMs })
    return found
  }

  /** What is on the shelf and fresh; null: nothing is, or the shelf fails. */
  async #readStored(domain: string): Promise<StoredHomepage | null> {
    const { store, clock, onError } = this.#deps
    try {
      const found = (await store?.read(domain)) ?? null
      return found !== null && clock() < found.checkedAtMs + HOMEPAGE_TTL_MS ? found : null
    } catch (error) {
      onError(error)
      return null
    }
  }
}

const OVERLOADED: HomepageResult = { homepage: unknown("unavailable"), isCached: false, freshUntilMs: 0 }
