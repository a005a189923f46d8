import type { SetTimer } from "./outside-world.ts"

/** Gives a slot back. It is called once. */
export type Release = () => void

/** Who waits, as a chain: taking the first from an array of ten thousand would move all others. */
type Waiter = { readonly resume: () => void; next: Waiter | null }

/** A bounded number of slots for work that is under way, and a bounded queue of who waits for one, first come first served. */
export class Semaphore {
  readonly #waitingMax: number
  #first: Waiter | null = null
  #last: Waiter | null = null
  #waitingCount = 0
  #available: number

  constructor(slotsMax: number, waitingMax: number) {
    this.#available = slotsMax
    this.#waitingMax = waitingMax
  }

  /** A slot that is free now; null: none is, and whoever wants one waits. */
  tryAcquire(): Release | null {
    if (this.#available === 0) return null
    this.#available--
    return this.#release
  }

  /** Resolves with a slot when there is one; null: too many wait already. */
  acquire(): Promise<Release> | null {
    const free = this.tryAcquire()
    if (free !== null) return Promise.resolve(free)
    if (this.#waitingCount >= this.#waitingMax) return null
    return new Promise(resolve => this.#enqueue(() => resolve(this.#release)))
  }

  #enqueue(resume: () => void): void {
    const waiting: Waiter = { resume, next: null }
    if (this.#last === null) this.#first = waiting
    else this.#last.next = waiting
    this.#last = waiting
    this.#waitingCount++
  }

  /** A slot that is given back is the next one's in the queue. */
  readonly #release: Release = () => {
    const next = this.#first
    if (next === null) {
      this.#available++
      return
    }
    this.#first = next.next
    if (this.#first === null) this.#last = null
    this.#waitingCount--
    next.resume()
  }
}

/**
 * A span of time that several pieces of work have together. It begins with the first wait, so that what need not wait
 * takes no timer, and whoever made it ends it when all is done.
 */
export class Deadline {
  readonly #setTimer: SetTimer
  readonly #ms: number
  readonly #giveUps = new Set<() => void>()
  #cancelTimer: (() => void) | null = null
  #isExpired = false

  constructor(later: SetTimer, ms: number) {
    this.#setTimer = later
    this.#ms = ms
  }

  /** Whether the time has run out. */
  get isExpired(): boolean {
    return this.#isExpired
  }

  /** What is promised, or `late` when the time has run out before it is there. It rejects when the promise does in time. */
  wait<T>(promised: Promise<T>, late: T): Promise<T> {
    this.#cancelTimer ??= this.#setTimer(this.#ms, () => this.#expire())
    return new Promise((resolve, reject) => {
      const giveUp = (): void => resolve(late)
      if (this.#isExpired) giveUp()
      else this.#giveUps.add(giveUp)
      // What comes too late is heard all the same: a rejection that nobody hears would end the process.
      promised.then(
        value => {
          this.#giveUps.delete(giveUp)
          resolve(value)
        },
        error => {
          this.#giveUps.delete(giveUp)
          reject(error)
        },
      )
    })
  }

  /** Ends the time before it has run out. It may never have begun. */
  cancel(): void {
    this.#cancelTimer?.()
  }

  #expire(): void {
    this.#isExpired = true
    for (const giveUp of this.#giveUps) giveUp()
    this.#giveUps.clear()
  }
}
