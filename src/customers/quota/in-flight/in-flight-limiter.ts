import { assert } from "../../../base/errors.ts"

/** Limits how many requests of each caller are in flight. */
export type InFlightLimiter = {
  /** Adds a request of the caller. False, and nothing is added, when `max` are in flight already. */
  readonly tryAcquire: (caller: string, max: number) => boolean
  /** Ends a request for which `tryAcquire` was true. */
  readonly release: (caller: string) => void
  /** How many callers have a request in flight in this process. */
  readonly callersCount: number
}

/** How many callers without a request in flight are remembered. */
const IDLE_CALLERS_MAX = 10_000

/**
 * Counts within one process. A caller stays in the map for a while after its last request, since it may come again: two writes to a
 * map for each request cost more than all the rest.
 */
export class LocalInFlightLimiter implements InFlightLimiter {
  readonly #counts = new Map<string, { count: number }>()
  #activeCount = 0

  /** Adds a request of the caller. False, and nothing is added, when `max` are in flight already. */
  tryAcquire(caller: string, max: number): boolean {
    const entry = this.#counts.get(caller)
    const count = entry?.count ?? 0
    if (count >= max) return false
    if (count === 0) this.#activeCount++
    if (entry === undefined) this.#counts.set(caller, { count: 1 })
    else entry.count++
    return true
  }

  /** Ends a request for which `tryAcquire` was true. */
  release(caller: string): void {
    const entry = this.#counts.get(caller)
    assert(entry !== undefined && entry.count > 0, "only an acquired request is released")
    entry.count--
    if (entry.count > 0) return
    this.#activeCount--
    if (this.#counts.size - this.#activeCount > IDLE_CALLERS_MAX) this.#dropIdle()
  }

  /** How many callers have a request in flight in this process. */
  get callersCount(): number {
    return this.#activeCount
  }

  #dropIdle(): void {
    for (const [caller, { count }] of this.#counts) if (count === 0) this.#counts.delete(caller)
  }
}
