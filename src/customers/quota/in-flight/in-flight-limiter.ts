import { assert } from "../../../base/errors.ts"

/** Counts the requests of each caller that are under way. */
export type InFlightLimiter = {
  /** Counts one more request of the caller, unless `max` are under way: then it counts nothing and gives false. */
  readonly tryAcquire: (caller: string, max: number) => boolean
  /** Ends one request of the caller that has entered. */
  readonly release: (caller: string) => void
  /** How many callers have a request under way in this process. */
  readonly callersCount: number
}

/** How many callers without a request under way are remembered. */
const IDLE_CALLERS_MAX = 10_000

/**
 * Counts within one process. A caller is remembered for a while when its last request has ended, since it may come again:
 * to write a map twice for each request costs more than all the rest.
 */
export class LocalInFlightLimiter implements InFlightLimiter {
  readonly #counts = new Map<string, { count: number }>()
  #activeCount = 0

  /** Counts one more request of the caller, unless `max` are under way: then it counts nothing and gives false. */
  tryAcquire(caller: string, max: number): boolean {
    const held = this.#counts.get(caller)
    const count = held?.count ?? 0
    if (count >= max) return false
    if (count === 0) this.#activeCount++
    if (held === undefined) this.#counts.set(caller, { count: 1 })
    else held.count++
    return true
  }

  /** Ends one request of the caller that has entered. */
  release(caller: string): void {
    const held = this.#counts.get(caller)
    assert(held !== undefined && held.count > 0, "only a request that has entered leaves")
    held.count--
    if (held.count > 0) return
    this.#activeCount--
    if (this.#counts.size - this.#activeCount > IDLE_CALLERS_MAX) this.#dropIdle()
  }

  /** How many callers have a request under way in this process. */
  get callersCount(): number {
    return this.#activeCount
  }

  #dropIdle(): void {
    for (const [caller, { count }] of this.#counts) if (count === 0) this.#counts.delete(caller)
  }
}
