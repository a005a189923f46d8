import { Ring } from "./ring.ts"

/**
 * When each request of an open loop is due: at even distances, whatever the server does. A request that is due and cannot
 * be sent waits; while as many wait as may, the ones that become due are given up. All times are in milliseconds of one
 * clock.
 */
export class Arrivals {
  readonly #perSecond: number
  readonly #waiting: Ring<number>
  readonly #givenUp: (dueAt: number) => void
  #startedAt = 0
  #due = 0

  /** `givenUp` is told of each request that finds `waitingMax` others waiting. */
  constructor(perSecond: number, waitingMax: number, givenUp: (dueAt: number) => void) {
    this.#perSecond = perSecond
    this.#waiting = new Ring(waitingMax)
    this.#givenUp = givenUp
  }

  /** The first request is due at `now`. */
  start(now: number): void {
    this.#startedAt = now
  }

  /** When the next request becomes due. Counted from the start each time, so that no rounding adds up. */
  get nextAt(): number {
    return this.#startedAt + (this.#due * 1000) / this.#perSecond
  }

  /**
   * Takes the request that has waited longest: when it was due, or undefined when none is. Nothing is taken between two
   * calls, so it is the same whether arrivals are seen as they come or only now.
   */
  take(now: number): number | undefined {
    for (let dueAt = this.nextAt; dueAt <= now; dueAt = this.nextAt) {
      this.#due++
      if (!this.#waiting.put(dueAt)) this.#givenUp(dueAt)
    }
    return this.#waiting.take()
  }
}
