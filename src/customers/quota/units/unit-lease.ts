import { assert } from "../../../base/errors.ts"

/** The result of taking units. */
export type TakeUnitsResult = {
  /** False: fewer are left than requested, and none was taken. */
  readonly isTaken: boolean
  /** The day of the units, counted from 1 January 1970 UTC, which a refund has to name. */
  readonly day: number
  /** How many are left of the day, as far as this process knows: units leased by other processes count as used. */
  readonly remaining: number
}

/** The size of a lease and how long it lasts (DECISIONS 32). */
export type LeaseBounds = {
  readonly blockMax: number
  /** A block that is used up sooner than this is followed by one of twice its size. */
  readonly blockMs: number
  /** How long units stay unused before they are returned to the store. */
  readonly idleMs: number
  /** How long a value read from the store may be used to refuse a request. */
  readonly refusalMs: number
}

/** The size of the first block, until use is known to be faster. */
const BLOCK_UNITS_FIRST = 10

/** A block is at most this fraction of the day's quota, and of what is left: other processes need some, and a crash loses it. */
const BLOCK_PART_OF_DAY = 100
const BLOCK_PART_OF_LEFT = 4

/** How many requests of one subject wait at most. More means that the store never answers. */
const WAITING_MAX = 10_000

type WaitingTake = {
  readonly count: number
  readonly resolve: (taken: TakeUnitsResult) => void
  readonly reject: (error: unknown) => void
}

/**
 * The units of one subject's day that this process has leased and not used, and the requests that wait for more.
 *
 *     0                               leased                 perDay
 *     | used, or held by processes ------|---- left -----------|
 *                         | available |                            remaining = left + available
 *
 * It does not access the store: its owner reads how many units are leased, leases `wantedUnits` and passes them to `grant`.
 */
export class UnitLease {
  readonly subject: string
  readonly day: number
  /** Whether it is in its owner's queue for the store. */
  isQueued = false
  /** Whether the store was never asked for it. */
  isNew = true
  readonly #bounds: LeaseBounds
  readonly #waiting: WaitingTake[] = []
  readonly #readers: (() => void)[] = []
  #perDay: number
  #available = 0
  /** How many units of the day all processes had leased when the store was last read. */
  #leased = 0
  #readAtMs = Number.NEGATIVE_INFINITY
  /** Whether `#leased` is still a bound for what was admitted under the current quota. */
  #isLeasedKnown = false
  #block = BLOCK_UNITS_FIRST
  #grantedAtMs = Number.NEGATIVE_INFINITY
  /** With fewer units available, the next block is leased ahead of need. */
  #lowWatermark = 0
  #isRefillDeferred = false
  #isUsed = false
  #idleSinceMs: number

  constructor(subject: string, day: number, perDay: number, nowMs: number, bounds: LeaseBounds) {
    this.subject = subject
    this.day = day
    this.#perDay = perDay
    this.#idleSinceMs = nowMs
    this.#bounds = bounds
  }

  /** The quota of the day, as the latest request had it. */
  get perDay(): number {
    return this.#perDay
  }

  /** How many units are left of a quota, as far as this process knows; null while nothing is known. */
  remaining(perDay = this.#perDay): number | null {
    return this.#isLeasedKnown ? this.#left(perDay) : null
  }

  /** Resolves when the store was asked for it the next time, also when that failed. */
  nextRead(): Promise<void> {
    return new Promise(resolve => this.#readers.push(resolve))
  }

  /** True when few units are available and no refill is queued. */
  get isLow(): boolean {
    return this.#available < this.#lowWatermark && !this.isQueued
  }

  /** Lowers the watermark to half, once for each grant, so that a refill can wait; false: it was lowered already. */
  deferRefill(): boolean {
    if (this.#isRefillDeferred) return false
    this.#isRefillDeferred = true
    this.#lowWatermark /= 2
    return true
  }

  /** Takes or refuses by what is known; null: the store has to be asked, or other requests wait already. */
  tryTake(count: number, perDay: number, nowMs: number): TakeUnitsResult | null {
    // With a smaller quota, other processes may have used more than it since the store was read.
    if (perDay < this.#perDay) this.#isLeasedKnown = false
    this.#perDay = perDay
    if (!this.#isLeasedKnown || this.#waiting.length > 0) return null
    if (count > this.#left()) return this.#isFresh(nowMs) ? this.#result(false) : null
    return count > this.#available ? null : this.#admit(count)
  }

  /** Waits, behind the requests that wait already, until the units are granted or refused. Rejects when the store fails. */
  wait(count: number): Promise<TakeUnitsResult> {
    assert(this.#waiting.length < WAITING_MAX, "too many requests wait for units of one subject")
    return new Promise((resolve, reject) => this.#waiting.push({ count, resolve, reject }))
  }

  /**
   * How many more units to lease when all processes have leased `leased` today: enough for the first waiting request that can still be
   * served, or a block if that is more. Zero when no waiting request can be served, or when there is none and no unit was used lately.
   */
  wantedUnits(leased: number): number {
    const left = this.#perDay - leased
    const next = this.#waiting.find(({ count }) => count <= left + this.#available)
    if (next === undefined && (this.#waiting.length > 0 || !this.#isUsed)) return 0
    return Math.max(0, Math.min(left, Math.max(next?.count ?? 0, this.#blockFor(left)) - this.#available))
  }

  /** Adds `granted` units, now that `leased` are leased in all, and settles waiting requests; true: some still wait. */
  grant(leased: number, granted: number, nowMs: number): boolean {
    this.#leased = leased
    this.#available += granted
    this.#readAtMs = nowMs
    this.#isLeasedKnown = true
    if (granted > 0) this.#adaptBlock(nowMs)
    this.#lowWatermark = this.#blockFor(this.#perDay - leased) / 2
    this.#isRefillDeferred = false
    this.#resolveReaders()
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const isRefused = next.count > this.#left()
      if (!isRefused && next.count > this.#available) return true
      this.#waiting.shift()
      next.resolve(isRefused ? this.#result(false) : this.#admit(next.count))
    }
    return false
  }

  /** Rejects all waiting requests with the error; true when there were any. Until the next grant nothing is leased ahead of need. */
  rejectWaiting(error: unknown): boolean {
    this.isQueued = false
    this.#lowWatermark = 0
    this.#resolveReaders()
    const waiting = this.#waiting.splice(0)
    for (const { reject } of waiting) reject(error)
    return waiting.length > 0
  }

  /** Adds units back that were taken from it. */
  refund(count: number): void {
    this.#available += count
  }

  /** Removes and returns all available units. */
  drain(): number {
    const count = this.#available
    this.#available = 0
    return count
  }

  /** True when no request waits and no refill is queued, so that it can be dropped. */
  get isSettled(): boolean {
    return !this.isQueued && this.#waiting.length === 0
  }

  /** True when units were taken since the last call. */
  wasUsed(nowMs: number): boolean {
    const wasUsed = this.#isUsed
    if (wasUsed) this.#idleSinceMs = nowMs
    this.#isUsed = false
    return wasUsed
  }

  /** True when no units were taken for so long that they should be returned. A clock that was set back does not prolong this. */
  isIdle(nowMs: number): boolean {
    if (!this.isSettled || this.wasUsed(nowMs)) return false
    return nowMs - this.#idleSinceMs >= this.#bounds.idleMs || nowMs < this.#idleSinceMs
  }

  #admit(count: number): TakeUnitsResult {
    this.#available -= count
    this.#isUsed = true
    return this.#result(true)
  }

  #result(isTaken: boolean): TakeUnitsResult {
    return { isTaken, day: this.day, remaining: this.#left() }
  }

  #left(perDay = this.#perDay): number {
    return Math.max(0, perDay - this.#leased + this.#available)
  }

  #resolveReaders(): void {
    for (const resolve of this.#readers.splice(0)) resolve()
  }

  #isFresh(nowMs: number): boolean {
    return nowMs >= this.#readAtMs && nowMs - this.#readAtMs < this.#bounds.refusalMs
  }

  /** Doubles the block when the last one lasted shorter than `blockMs`, otherwise halves it. */
  #adaptBlock(nowMs: number): void {
    const isQuick = nowMs - this.#grantedAtMs < this.#bounds.blockMs
    this.#block = isQuick
      ? Math.min(this.#block * 2, this.#bounds.blockMax)
      : Math.max(this.#block / 2, BLOCK_UNITS_FIRST)
    this.#grantedAtMs = nowMs
  }

  #blockFor(left: number): number {
    const partOfDay = Math.max(1, this.#perDay / BLOCK_PART_OF_DAY)
    return Math.floor(Math.min(this.#block, partOfDay, left / BLOCK_PART_OF_LEFT))
  }
}
