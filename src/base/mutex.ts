import { assert } from "./errors.ts"

/** How many may wait for one connection; more means that a transaction never ends. */
const WAITING_MAX = 100_000

/** One at a time, in the order of asking: what takes a turn keeps it until its promise settles. */
export class Mutex {
  readonly #waiting: (() => void)[] = []
  #isLocked = false

  /** Runs `work` when all earlier turns are over, and gives what it gives. */
  async runExclusive<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#isLocked) {
      assert(this.#waiting.length < WAITING_MAX, "too many statements wait for one transaction")
      // The turn is passed on taken, so that nobody slips in between the wake-up and the work.
      await new Promise<void>(wake => this.#waiting.push(wake))
    }
    this.#isLocked = true
    try {
      return await work()
    } finally {
      const wake = this.#waiting.shift()
      if (wake === undefined) this.#isLocked = false
      else wake()
    }
  }
}
