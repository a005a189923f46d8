import { LRUCache } from "lru-cache"
import type { Clock } from "../../base/clock.ts"
import type { Finding } from "../../base/finding.ts"
import type { TenantFound } from "./found.ts"
import type { LookedUp } from "./tenant-look-up.ts"

/** How many answers are held, and for how long. */
export type HoldBounds = {
  readonly entriesMax: number
  readonly answerMs: number
  /** A tenant of which nobody told how its people sign in. */
  readonly partMs: number
  /** A failure, so that a domain that is asked about again and again does not reach the endpoint each time. */
  readonly failureMs: number
  /** How long past its time an answer still serves while the endpoint fails. */
  readonly staleMs: number
}

type Held = { readonly found: TenantFound; readonly staleUntilMs: number }

/** What look-ups found, by key, the least recently used dropped first. */
export class HeldTenants {
  readonly #clock: Clock
  readonly #bounds: HoldBounds
  /** It keeps no time of its own: an answer past its time is still of use. */
  readonly #held: LRUCache<string, Held>

  constructor(clock: Clock, bounds: HoldBounds) {
    this.#clock = clock
    this.#bounds = bounds
    this.#held = new LRUCache({ max: bounds.entriesMax })
  }

  /** How many answers are held. */
  get count(): number {
    return this.#held.size
  }

  /** What is held for the key and need not be asked for again; undefined: nothing. */
  fresh(key: string): TenantFound | undefined {
    const found = this.#held.get(key)?.found
    return found !== undefined && this.#clock() < found.freshUntilMs ? found : undefined
  }

  /** The answer that still serves while nobody can be asked, fresh for no time; undefined: there is none. */
  stale(key: string): TenantFound | undefined {
    const held = this.#staleHeld(key)
    return held === undefined ? undefined : { ...held.found, freshUntilMs: this.#clock() }
  }

  /** Holds what was found, and gives what is to be told: after a failure the answer that was held before, if it still serves. */
  keep(key: string, { tenant, isWhole }: LookedUp): TenantFound {
    const { answerMs, partMs, staleMs } = this.#bounds
    if (!tenant.known) return this.#keepFailure(key, tenant)
    const freshUntilMs = this.#clock() + (isWhole ? answerMs : partMs)
    const found = { tenant, isCached: true, freshUntilMs }
    this.#held.set(key, { found, staleUntilMs: freshUntilMs + staleMs })
    return { ...found, isCached: false }
  }

  #keepFailure(key: string, tenant: Finding<never>): TenantFound {
    const freshUntilMs = this.#clock() + this.#bounds.failureMs
    const before = this.#staleHeld(key)
    const found = before === undefined ? { tenant, isCached: false, freshUntilMs } : { ...before.found, freshUntilMs }
    this.#held.set(key, { found, staleUntilMs: before?.staleUntilMs ?? freshUntilMs })
    return found
  }

  #staleHeld(key: string): Held | undefined {
    const held = this.#held.get(key)
    return held?.found.tenant.known && this.#clock() < held.staleUntilMs ? held : undefined
  }
}
