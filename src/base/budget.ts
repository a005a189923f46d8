import type { Later } from "./timer.ts"

/**
 * A span of time that several pieces of work have together. It begins with the first wait, so that what need not wait
 * takes no timer, and whoever made it ends it when all is done.
 */
export class Budget {
  readonly #later: Later
  readonly #ms: number
  readonly #waiting = new Set<() => void>()
  #callOff: (() => void) | null = null
  #isOver = false

  constructor(later: Later, ms: number) {
    this.#later = later
    this.#ms = ms
  }

  /** Whether the time has run out. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** What is promised, or `late` when the time has run out before it is there. It rejects when the promise does in time. */
  wait<T>(promised: Promise<T>, late: T): Promise<T> {
    this.#callOff ??= this.#later(this.#ms, () => this.#runOut())
    return new Promise((resolve, reject) => {
      const giveUp = (): void => resolve(late)
      if (this.#isOver) giveUp()
      else this.#waiting.add(giveUp)
      // What comes too late is heard all the same: a rejection that nobody hears would end the process.
      promised.then(
        value => {
          this.#waiting.delete(giveUp)
          resolve(value)
        },
        error => {
          this.#waiting.delete(giveUp)
          reject(error)
        },
      )
    })
  }

  /** Ends the time before it has run out. It may never have begun. */
  end(): void {
    this.#callOff?.()
  }

  #runOut(): void {
    this.#isOver = true
    for (const giveUp of this.#waiting) giveUp()
    this.#waiting.clear()
  }
}
