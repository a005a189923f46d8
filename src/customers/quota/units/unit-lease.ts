import { assert } from "../../../base/errors.ts"

/** What came of asking for units. */
export type TakeUnitsResult = {
  /** False: fewer are left than were asked for, and none was taken. */
  readonly isTaken: boolean
  /** Whose units: the day, counted from 1 January 1970, UTC. To be named when they are given back. */
  readonly day: number
  /** How many are left of the day, as far as this process knows: what others hold counts as used. */
  readonly remaining: number
}

/** How many units one lease takes at most, and how long it stands for. */
export type LeaseBounds = {
  readonly blockMax: number
  /** A block that is used up sooner than this is followed by one of twice its size. */
  readonly blockMs: number
  /** How long units lie unused before they go back to the store. */
  readonly idleMs: number
  /** How long what was read of the store may refuse a request. */
  readonly refusalMs: number
}

/** How many units are leased at once until use is known to be quicker. */
const BLOCK_UNITS_FIRST = 10

/** A block is at most this part of the day's quota, and of what is left of it: others want some, and a crash loses it. */
const BLOCK_PART_OF_DAY = 100
const BLOCK_PART_OF_LEFT = 4

/** How many requests of one subject wait at most; more means that the store never answers. */
const WAITING_MAX = 10_000

type WaitingTake = {
  readonly count: number
  readonly resolve: (taken: TakeUnitsResult) => void
  readonly reject: (error: unknown) => void
}

/**
 * The units of one subject's day that this process has leased and not used yet, and the requests that wait for more.
 *
 *     0                               leased                 perDay
 *     | used, or held by processes ------|---- left -----------|
 *                           | in hand |                            remaining = left + in hand
 *
 * It asks nobody: its owner asks the store how much is leased, leases as much as `wish` says, and has it `receive` that.
 */
export class UnitLease {
  readonly subject: string
  readonly day: number
  /** Whether its owner is about to ask the store for it. */
  isQueued = false
  /** Whether nothing has been asked for it yet. */
  isNew = true
  readonly #bounds: LeaseBounds
  readonly #waiting: WaitingTake[] = []
  #perDay: number
  #available = 0
  /** How many units of the day all processes had leased when the store was last asked. */
  #leased = 0
  #readAtMs = Number.NEGATIVE_INFINITY
  /** Whether `#leased` still bounds what was admitted under the quota as it is now. */
  #isLeasedKnown = false
  #block = BLOCK_UNITS_FIRST
  #grantedAtMs = Number.NEGATIVE_INFINITY
  /** With fewer than so many in hand, the next block is leased before it is needed. */
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

  /** The quota of the day, as the latest request knew it. */
  get perDay(): number {
    return this.#perDay
  }

  /** How many units are left of a quota, as far as is known here; all of them while nothing is. */
  remaining(perDay = this.#perDay): number {
    return Math.max(0, perDay - this.#leased + this.#available)
  }

  /** True when what is in hand runs low and nobody has asked for more. */
  get isLow(): boolean {
    return this.#available < this.#lowWatermark && !this.isQueued
  }

  /** Has it count as low again only when half as much is in hand, unless it gets more before; false: that was done already. */
  deferRefill(): boolean {
    if (this.#isRefillDeferred) return false
    this.#isRefillDeferred = true
    this.#lowWatermark /= 2
    return true
  }

  /** Takes or refuses by what is known; null: the store has to be asked, or others wait already. */
  tryTake(count: number, perDay: number, nowMs: number): TakeUnitsResult | null {
    // Others may have used more than a smaller quota has since the store was asked.
    if (perDay < this.#perDay) this.#isLeasedKnown = false
    this.#perDay = perDay
    if (!this.#isLeasedKnown || this.#waiting.length > 0) return null
    if (count > this.remaining()) return this.#isFresh(nowMs) ? this.#result(false) : null
    return count > this.#available ? null : this.#admit(count)
  }

  /** Waits, behind all that wait already, until the units are there or cannot be. Rejects when the store fails. */
  wait(count: number): Promise<TakeUnitsResult> {
    assert(this.#waiting.length < WAITING_MAX, "too many requests wait for units of one subject")
    return new Promise((resolve, reject) => this.#waiting.push({ count, resolve, reject }))
  }

  /**
   * How many units to lease when `leased` of the day's are: what the next request that can be served needs, or a block.
   * Nothing for requests that cannot be served, and nothing when none was served lately.
   */
  wantedUnits(leased: number): number {
    const left = this.#perDay - leased
    const next = this.#waiting.find(({ count }) => count <= left + this.#available)
    if (next === undefined && (this.#waiting.length > 0 || !this.#isUsed)) return 0
    return Math.max(0, Math.min(left, Math.max(next?.count ?? 0, this.#blockFor(left)) - this.#available))
  }

  /** Puts `granted` units in hand, now that `leased` are leased, and answers those who wait; true: some wait for more. */
  grant(leased: number, granted: number, nowMs: number): boolean {
    this.#leased = leased
    this.#available += granted
    this.#readAtMs = nowMs
    this.#isLeasedKnown = true
    if (granted > 0) this.#adaptBlock(nowMs)
    this.#lowWatermark = this.#blockFor(this.#perDay - leased) / 2
    this.#isRefillDeferred = false
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const isRefused = next.count > this.remaining()
      if (!isRefused && next.count > this.#available) return true
      this.#waiting.shift()
      next.resolve(isRefused ? this.#result(false) : this.#admit(next.count))
    }
    return false
  }

  /** Tells those who wait that the store failed; true when somebody waited. It is not asked ahead of need until it answers. */
  rejectWaiting(error: unknown): boolean {
    this.isQueued = false
    this.#lowWatermark = 0
    const failed = this.#waiting.splice(0)
    for (const { reject } of failed) reject(error)
    return failed.length > 0
  }

  /** Puts units back in hand that were taken of it. */
  refund(count: number): void {
    this.#available += count
  }

  /** Hands over all that is in hand. */
  drain(): number {
    const count = this.#available
    this.#available = 0
    return count
  }

  /** True when nobody waits and the store is not asked: nothing is lost when it is dropped. */
  get isSettled(): boolean {
    return !this.isQueued && this.#waiting.length === 0
  }

  /** True when units were taken since this was last asked. */
  wasUsed(nowMs: number): boolean {
    const wasUsed = this.#isUsed
    if (wasUsed) this.#idleSinceMs = nowMs
    this.#isUsed = false
    return wasUsed
  }

  /** True when units were not taken for so long that they should be others'. A clock that was set back is no reason to wait. */
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
    return { isTaken, day: this.day, remaining: this.remaining() }
  }

  #isFresh(nowMs: number): boolean {
    return nowMs >= this.#readAtMs && nowMs - this.#readAtMs < this.#bounds.refusalMs
  }

  /** Blocks grow until one lasts for about `blockMs`, and shrink with use. */
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
