import { assert } from "../../base/assert.ts"

/** Counts the requests of each caller that are under way; callers without any take no memory. */
export class InFlight {
  readonly #counts = new Map<string, number>()

  /** Counts one more request of the caller, unless `max` are under way: then it counts nothing and gives false. */
  enter(caller: string, max: number): boolean {
    const count = this.#counts.get(caller) ?? 0
    if (count >= max) return false
    this.#counts.set(caller, count + 1)
    return true
  }

  /** Ends one request of the caller that has entered. */
  leave(caller: string): void {
    const count = this.#counts.get(caller)
    assert(count !== undefined, "only a request that has entered leaves")
    if (count === 1) this.#counts.delete(caller)
    else this.#counts.set(caller, count - 1)
  }

  /** How many callers have a request under way. */
  get callersCount(): number {
    return this.#counts.size
  }
}
