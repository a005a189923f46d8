/** Gives a slot back. It is called once. */
export type Leave = () => void

/** A bounded number of slots for work that is under way, and a bounded queue of who waits for one, first come first served. */
export class Slots {
  readonly #waitingMax: number
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(slotsMax: number, waitingMax: number) {
    this.#free = slotsMax
    this.#waitingMax = waitingMax
  }

  /** Resolves with a slot when there is one; null: too many wait already. */
  take(): Promise<Leave> | null {
    if (this.#free > 0) {
      this.#free--
      return Promise.resolve(this.#leave)
    }
    if (this.#waiting.length >= this.#waitingMax) return null
    return new Promise(resolve => {
      this.#waiting.push(() => resolve(this.#leave))
    })
  }

  /** A slot that is given back is the next one's in the queue. */
  readonly #leave: Leave = () => {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
