/**
 * How long a question holds its slot. The packets of a question that waits longer have left the socket's buffers; the slots
 * of dead domains would keep all others waiting.
 */
export const SLOT_MS = 250

/** What waits for a slot. It gives the slot back with `leave`. */
export type Slotted = {
  /** The next one that waits. */
  nextWaiting: Slotted | null
  /** Called once, when it has its slot. */
  readonly start: () => void
}

/** Limits the questions that were sent within the last `SLOT_MS` and are in flight, and those that wait to be sent. */
export class ConcurrencyLimit {
  readonly #waitingMax: number
  #freeCount: number
  #waitingCount = 0
  #first: Slotted | null = null
  #last: Slotted | null = null
  #isStarting = false

  /** How many hold a slot, and how many more wait, in the order of their arrival. */
  constructor(inFlightMax: number, waitingMax: number) {
    this.#freeCount = inFlightMax
    this.#waitingMax = waitingMax
  }

  /** Starts it now or when a slot is free; false: too many wait already. */
  enter(slotted: Slotted): boolean {
    if (this.#freeCount === 0 && this.#waitingCount >= this.#waitingMax) return false
    if (this.#last === null) this.#first = slotted
    else this.#last.nextWaiting = slotted
    this.#last = slotted
    this.#waitingCount++
    this.#startWaiting()
    return true
  }

  /** Gives a slot back. */
  leave(): void {
    this.#freeCount++
    this.#startWaiting()
  }

  /** A loop, because each of thousands may end while it starts. */
  #startWaiting(): void {
    if (this.#isStarting) return
    this.#isStarting = true
    try {
      for (let next = this.#first; next !== null && this.#freeCount > 0; next = this.#first) {
        this.#first = next.nextWaiting
        if (this.#first === null) this.#last = null
        this.#waitingCount--
        this.#freeCount--
        next.start()
      }
    } finally {
      this.#isStarting = false
    }
  }
}
