import type { Budget } from "../../base/budget.ts"
import type { Clock } from "../../base/clock.ts"
import { known, unknown } from "../../base/finding.ts"
import { Recent } from "../../base/recent.ts"
import { DAY_MS } from "../../base/utc-day.ts"
import type { HomepageShelf, ShelvedHomepage } from "./fact-shelf.ts"
import type { Fresh } from "./found.ts"
import type { HomepageFound, HomepageProbe } from "./homepage.ts"

/** What is known of a homepage, and for how long. */
export type HeldHomepage = Fresh & Pick<HomepageFound, "homepage">

/** How long a homepage that was seen, and the lack of one, holds; and how long a failure, which is nobody's answer. */
const SEEN_MS = DAY_MS
const FAILED_MS = 30_000
/** How many domains are held at least, about 150 bytes each. */
const HELD_MIN = 5_000
/** How many are looked at at once: each may take a megabyte. */
const UNDER_WAY_MAX = 64

type Needs = {
  readonly probe: HomepageProbe
  /** Null: what is known is kept in memory alone. */
  readonly shelf: HomepageShelf | null
  readonly clock: Clock
  /** Is told why the shelf could not be read; the page is asked for then. */
  readonly failed: (error: unknown) => void
}

/** Homepages that were looked at, each once a day, whoever asks. Names are registrable domains as A-labels, lower case. */
export class HeldHomepages {
  readonly #needs: Needs
  readonly #held = new Recent<string, HeldHomepage>(HELD_MIN)
  readonly #underWay = new Map<string, Promise<HeldHomepage>>()

  constructor(needs: Needs) {
    this.#needs = needs
  }

  /** What is held in memory and need not be asked for again; undefined: nothing. */
  fresh(domain: string): HeldHomepage | undefined {
    const held = this.#held.get(domain)
    return held !== undefined && this.#needs.clock() < held.freshUntilMs ? held : undefined
  }

  /** What is held, on the shelf, or there within the budget of the first who asks. It never rejects. */
  ask(domain: string, budget: Budget): Promise<HeldHomepage> {
    const underWay = this.#underWay.get(domain)
    if (underWay !== undefined) return underWay
    if (this.#underWay.size >= UNDER_WAY_MAX) return Promise.resolve(TOO_MANY)
    const found = this.#find(domain, budget).finally(() => this.#underWay.delete(domain))
    this.#underWay.set(domain, found)
    return found
  }

  async #find(domain: string, budget: Budget): Promise<HeldHomepage> {
    const { probe, shelf, clock } = this.#needs
    const shelved = await this.#shelved(domain)
    if (shelved !== null) {
      // A clock elsewhere that is ahead of ours makes nothing hold for longer.
      const freshUntilMs = Math.min(shelved.checkedAtMs, clock()) + SEEN_MS
      const held = { homepage: known(shelved.state), isCached: true, freshUntilMs }
      this.#held.set(domain, held)
      return held
    }
    const { homepage, movedTo, mark } = await probe(domain, budget)
    const checkedAtMs = clock()
    const found = { homepage, isCached: false, freshUntilMs: checkedAtMs + (homepage.known ? SEEN_MS : FAILED_MS) }
    this.#held.set(domain, { ...found, isCached: homepage.known })
    if (homepage.known)
      shelf?.write(domain, { state: homepage.value, evidence: movedTo ?? mark?.key ?? null, checkedAtMs })
    return found
  }

  /** What is on the shelf and fresh; null: nothing is, or the shelf fails. */
  async #shelved(domain: string): Promise<ShelvedHomepage | null> {
    const { shelf, clock, failed } = this.#needs
    try {
      const found = (await shelf?.read(domain)) ?? null
      return found !== null && clock() < found.checkedAtMs + SEEN_MS ? found : null
    } catch (error) {
      failed(error)
      return null
    }
  }
}

const TOO_MANY: HeldHomepage = { homepage: unknown("unavailable"), isCached: false, freshUntilMs: 0 }
