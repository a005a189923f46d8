import { LRUCache } from "lru-cache"
import type { Clock } from "../../base/clock.ts"
import { type Finding, known } from "../../base/finding.ts"
import type { ShelvedAge } from "./fact-shelf.ts"
import type { Fresh } from "./found.ts"
import type { Registration } from "./rdap-look-up.ts"

/** What a registry told of a domain: when it was registered; null: it does not tell, or no server is known that could. */
export type AgeFound = Fresh & { readonly registration: Finding<Registration | null> }

/** How many domains are held in memory, about 200 bytes each, and for how long. */
export type AgeHoldBounds = {
  readonly entriesMax: number
  readonly foundMs: number
  /** That the registry does not tell, or does not know the domain. */
  readonly untoldMs: number
  /** A failure, so that a domain that is asked about again and again does not reach the server each time. */
  readonly failureMs: number
}

/** What look-ups of ages found, by domain, the least recently used dropped first. */
export class HeldAges {
  readonly #clock: Clock
  readonly #bounds: AgeHoldBounds
  readonly #held: LRUCache<string, AgeFound>

  constructor(clock: Clock, bounds: AgeHoldBounds) {
    this.#clock = clock
    this.#bounds = bounds
    this.#held = new LRUCache({ max: bounds.entriesMax })
  }

  /** What is held of the domain and need not be asked for again; undefined: nothing. */
  fresh(domain: string): AgeFound | undefined {
    const found = this.#held.get(domain)
    return found !== undefined && this.#clock() < found.freshUntilMs ? found : undefined
  }

  /** Holds what was found then, and gives it. A clock elsewhere that is ahead of ours makes nothing hold for longer. */
  keepAge(domain: string, { registeredAtMs, checkedAtMs }: ShelvedAge): AgeFound {
    const { foundMs, untoldMs } = this.#bounds
    const found = {
      registration: known(registeredAtMs === null ? null : { registeredAtMs }),
      isCached: true,
      freshUntilMs: Math.min(checkedAtMs, this.#clock()) + (registeredAtMs === null ? untoldMs : foundMs),
    }
    this.#held.set(domain, found)
    return found
  }

  /** Holds a failure, unless nobody was asked about the domain, and gives it. */
  keepFailure(domain: string, registration: Finding<never>, isAsked: boolean): AgeFound {
    const freshUntilMs = this.#clock() + (isAsked ? this.#bounds.failureMs : 0)
    const found = { registration, isCached: false, freshUntilMs }
    if (isAsked) this.#held.set(domain, found)
    return found
  }
}
