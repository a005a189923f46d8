/** Gives a slot back. It is called once. */
export type Leave = () => void

/** Who waits, as a chain: taking the first from an array of ten thousand would move all others. */
type Waiting = { readonly begin: () => void; next: Waiting | null }

/** A bounded number of slots for work that is under way, and a bounded queue of who waits for one, first come first served. */
export class Slots {
  readonly #waitingMax: number
  #first: Waiting | null = null
  #last: Waiting | null = null
  #waitingCount = 0
  #free: number

  constructor(slotsMax: number, waitingMax: number) {
    this.#free = slotsMax
    this.#waitingMax = waitingMax
  }

  /** A slot that is free now; null: none is, and whoever wants one waits. */
  takeNow(): Leave | null {
    if (this.#free === 0) return null
    this.#free--
    return this.#leave
  }

  /** Resolves with a slot when there is one; null: too many wait already. */
  take(): Promise<Leave> | null {
    const free = this.takeNow()
    if (free !== null) return Promise.resolve(free)
    if (this.#waitingCount >= this.#waitingMax) return null
    return new Promise(resolve => this.#wait(() => resolve(this.#leave)))
  }

  #wait(begin: () => void): void {
    const waiting: Waiting = { begin, next: null }
    if (this.#last === null) this.#first = waiting
    else this.#last.next = waiting
    this.#last = waiting
    this.#waitingCount++
  }

  /** A slot that is given back is the next one's in the queue. */
  readonly #leave: Leave = () => {
    const next = this.#first
    if (next === null) {
      this.#free++
      return
    }
    this.#first = next.next
    if (this.#first === null) this.#last = null
    this.#waitingCount--
    next.begin()
  }
}
