import { assert } from "./errors.ts"

/** More waiters mean that the work which holds the lock never ends. */
const WAITING_MAX = 100_000

/** Runs one piece of work at a time, in the order of asking. A piece holds the lock until its promise settles. */
export class Mutex {
  readonly #waiting: (() => void)[] = []
  #isLocked = false

  /** Runs `work` after all earlier work and gives its result. */
  async runExclusive<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#isLocked) {
      assert(this.#waiting.length < WAITING_MAX, "too many statements wait for one transaction")
      // The lock is handed over while locked, so that nothing runs between waking up and working.
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
