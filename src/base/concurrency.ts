import type { SetTimer, Stopwatch } from "./outside-world.ts"

/** Gives a slot back. Call it once. */
export type Release = () => void

/** A waiter in a linked list: taking the first element from an array of ten thousand would move all others. */
type Waiter = { readonly resume: () => void; next: Waiter | null }

/** A counting semaphore with a bounded queue: slots are given in the order of asking. */
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

  /** How many slots are free. */
  get availableCount(): number {
    return this.#available
  }

  /** Takes a free slot; `null` means that none is free. */
  tryAcquire(): Release | null {
    if (this.#available === 0) return null
    this.#available--
    return this.#release
  }

  /** Resolves with a slot as soon as one is free; `null` means that the queue is full. */
  acquire(): Promise<Release> | null {
    const release = this.tryAcquire()
    if (release !== null) return Promise.resolve(release)
    if (this.#waitingCount >= this.#waitingMax) return null
    return new Promise(resolve => this.#enqueue(() => resolve(this.#release)))
  }

  #enqueue(resume: () => void): void {
    const waiter: Waiter = { resume, next: null }
    if (this.#last === null) this.#first = waiter
    else this.#last.next = waiter
    this.#last = waiter
    this.#waitingCount++
  }

  /** Passes the slot on to the first waiter, or makes it available. */
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

/** The semaphore of a key. Each holder and each waiter is a user. */
type KeyedEntry = { readonly semaphore: Semaphore; userCount: number }

/** A semaphore for each key, so that none can take the slots of another. A key without holders takes no memory. */
export class KeyedSemaphore<K> {
  readonly #slotsMax: number
  readonly #waitingMax: number
  readonly #entries = new Map<K, KeyedEntry>()

  /** The bounds of each key. */
  constructor(slotsMax: number, waitingMax: number) {
    this.#slotsMax = slotsMax
    this.#waitingMax = waitingMax
  }

  /** A free slot of the key; `null` means that none is free. */
  tryAcquire(key: K): Release | null {
    const entry = this.#entryOf(key)
    const release = entry.semaphore.tryAcquire()
    return release === null ? null : this.#addUser(key, entry)(release)
  }

  /** A slot of the key, or a promise of one; `null` means that its queue is full. */
  acquire(key: K): Release | Promise<Release> | null {
    const entry = this.#entryOf(key)
    const slot = entry.semaphore.tryAcquire() ?? entry.semaphore.acquire()
    if (slot === null) return null
    const withCleanUp = this.#addUser(key, entry)
    return slot instanceof Promise ? slot.then(withCleanUp) : withCleanUp(slot)
  }

  #entryOf(key: K): KeyedEntry {
    return this.#entries.getOrInsertComputed(key, () => ({
      semaphore: new Semaphore(this.#slotsMax, this.#waitingMax),
      userCount: 0,
    }))
  }

  /** Counts a holder or waiter. Gives what makes the release of its slot remove the entry after the last one. */
  #addUser(key: K, entry: KeyedEntry): (release: Release) => Release {
    entry.userCount++
    return release => () => {
      release()
      entry.userCount--
      if (entry.userCount === 0) this.#entries.delete(key)
    }
  }
}

/** Work that waits for something until a deadline. */
export type Expiring = { readonly expire: () => void }

/**
 * A time limit that several pieces of work share. It starts with the first wait, so that work which never waits needs no
 * timer. Its creator cancels it when all work is done.
 */
export class Deadline {
  readonly #setTimer: SetTimer
  readonly #ms: number
  /** The first work, since most deadlines have no other, and a set costs a microsecond. */
  #first: Expiring | null = null
  #others: Set<Expiring> | null = null
  #cancelTimer: (() => void) | null = null
  #isExpired = false

  constructor(setTimer: SetTimer, ms: number) {
    this.#setTimer = setTimer
    this.#ms = ms
  }

  /** Whether the time has run out. */
  get isExpired(): boolean {
    return this.#isExpired
  }

  /** Calls `expire` of the work when the time runs out, if it has not yet and the work is not deleted before. */
  add(work: Expiring): void {
    this.#cancelTimer ??= this.#setTimer(this.#ms, () => this.#expire())
    if (this.#isExpired) return
    if (this.#first === null) this.#first = work
    else {
      this.#others ??= new Set()
      this.#others.add(work)
    }
  }

  delete(work: Expiring): void {
    if (this.#first === work) this.#first = null
    else this.#others?.delete(work)
  }

  /** Resolves like the promise, or with `fallback` if the time runs out first. Rejects if the promise rejects in time. */
  wait<T>(promise: Promise<T>, fallback: T): Promise<T> {
    return new Promise((resolve, reject) => {
      const work = { expire: () => resolve(fallback) }
      this.add(work)
      if (this.#isExpired) work.expire()
      // Handlers stay attached after the deadline: an unhandled rejection would end the process.
      promise.then(
        value => {
          this.delete(work)
          resolve(value)
        },
        error => {
          this.delete(work)
          reject(error)
        },
      )
    })
  }

  /** A deadline of less time, for a part of the work. It knows nothing of this one. */
  ofPart(ms: number): Deadline {
    return new Deadline(this.#setTimer, ms)
  }

  /** Cancels the timer, if it was started. */
  cancel(): void {
    this.#cancelTimer?.()
  }

  #expire(): void {
    this.#isExpired = true
    this.#first?.expire()
    for (const work of this.#others ?? []) work.expire()
    this.#first = null
    this.#others = null
  }
}

/**
 * The slot that `KeyedSemaphore.acquire` gave; `null` if it gave none, or if the deadline expires first: then the slot is released
 * as soon as it comes.
 */
export async function inTime(slot: Release | Promise<Release> | null, deadline: Deadline): Promise<Release | null> {
  if (!(slot instanceof Promise)) return slot
  const release = await deadline.wait<Release | null>(slot, null)
  if (release === null) void slot.then(releaseUnused => releaseUnused())
  return release
}

/** Resolves like the promise, or with `fallback` if `ms` milliseconds pass first. */
export function withTimeout<T, F>(setTimer: SetTimer, ms: number, promise: Promise<T>, fallback: F): Promise<T | F> {
  const { promise: timeout, resolve } = Promise.withResolvers<F>()
  const cancelTimer = setTimer(ms, () => resolve(fallback))
  return Promise.race([promise, timeout]).finally(cancelTimer)
}

/** Resolves like the promise. Rejects with the reason of the signal if it is aborted first. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener("abort", abort, { once: true })
    if (signal.aborted) abort()
    // Handles a late rejection too: an unhandled one would end the process.
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort))
  })
}

/** Resolves when other events were handled. */
export const yieldThread = (): Promise<void> => new Promise(resolve => void setImmediate(resolve))

/** Is called after `stepCount` steps of long work, by default one. A promise is awaited before the next step. */
export type Pause = (stepCount?: number) => void | Promise<void>

/** A pause that lets all other events be handled after every `stepsMax` steps. `nextTick` calls its argument at the end of a turn. */
export function createPause(nextTick: (work: () => void) => void, stepsMax: number): Pause {
  let sincePause = 0
  return (stepCount = 1) => {
    sincePause += stepCount
    if (sincePause < stepsMax) return undefined
    sincePause = 0
    return new Promise(resolve => nextTick(resolve))
  }
}

/** So long may long work take before other events are handled, in milliseconds. */
const PIECE_MS_MAX = 3

/** A pause that lets all other events be handled whenever the steps since the last time took `PIECE_MS_MAX`. */
export function createTimedPause(nextTick: (work: () => void) => void, stopwatch: Stopwatch): Pause {
  let startedAtMs = stopwatch()
  return () => {
    if (stopwatch() - startedAtMs < PIECE_MS_MAX) return undefined
    return new Promise(resolve =>
      nextTick(() => {
        startedAtMs = stopwatch()
        resolve()
      }),
    )
  }
}

/** Waits until all work has ended, so that none is running when it rejects with the first error. */
export async function settleAll<T>(work: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(work)
  return await Promise.all(work)
}
