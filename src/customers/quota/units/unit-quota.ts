import { assert } from "../../../base/errors.ts"
import type { Clock } from "../../../base/outside-world.ts"
import type { Store } from "../../store/core/store.ts"
import { hasWrittenNothing } from "../../store/core/store-error.ts"
import { createMonotonicDay } from "./quota-day.ts"
import { isStoreAvailable, RefundQueue, type UnitRefund } from "./refund-queue.ts"
import { type LeaseBounds, type TakeUnitsResult, UnitLease } from "./unit-lease.ts"
import { type DayUnits, leaseUnits } from "./unit-rows.ts"

/** How many subjects one transaction leases or returns units for: it blocks other writers for about 10 ms. */
const LEASES_PER_TRANSACTION_MAX = 500

/** How many recently used leases are spared in a row when one has to be evicted. */
const SPARED_LEASES_MAX = 100

/**
 * The units that subjects may use a day, exactly: what all processes over one store admit never exceeds the quota, whatever crashes,
 * stops, or happens to the clock (DECISIONS 32). A unit is leased on disk before it is used. Available units are taken synchronously
 * and without the disk; unused ones are returned. A crash loses the available units, at most a block for each subject.
 */
export class UnitQuota {
  readonly #store: Store
  readonly #clock: Clock
  readonly #bounds: UnitQuotaBounds
  readonly #onError: (error: unknown) => void
  readonly #onLeased: (leased: LeasedDay) => void
  readonly #today = createMonotonicDay()
  /** By subject, roughly in the order of use. */
  readonly #leases = new Map<string, UnitLease>()
  /** Leases for which the store has to be asked, and the work that does so. */
  readonly #queue = new Set<UnitLease>()
  #processing: Promise<void> | null = null
  /** Leases that run low and wait for the next `maintain`. */
  readonly #lowLeases = new Set<UnitLease>()
  readonly #refunds: RefundQueue
  /** Whether the store was unreachable at the last attempt. */
  #isUnavailable = false
  #isMaintaining = false
  #failuresCount = 0

  /**
   * `onError` gets errors of background work: leasing ahead of need, and returning units. `onLeased` gets how many units of a day are
   * leased in all whenever the store said so; it must be quick.
   */
  constructor(
    store: Store,
    clock: Clock,
    bounds: UnitQuotaBounds,
    onError: (error: unknown) => void,
    onLeased: (leased: LeasedDay) => void = () => undefined,
  ) {
    this.#store = store
    this.#refunds = new RefundQueue(store, bounds.subjectsMax)
    this.#clock = clock
    this.#bounds = bounds
    this.#onError = onError
    this.#onLeased = onLeased
  }

  /**
   * Takes `count` units, all or none, of a quota of `perDay`. Returns a promise only when the store has to be asked; it rejects when the
   * store fails, and then nothing was taken. Waiting requests of a subject are settled in their order. A refusal relies on a read of
   * the store that is at most `refusalMs` old.
   */
  take(subject: string, count: number, perDay: number): TakeUnitsResult | Promise<TakeUnitsResult> {
    assert(Number.isSafeInteger(count) && count > 0, "units are taken by whole numbers")
    const now = this.#clock()
    const lease = this.#leaseOf(subject, perDay, now)
    const result = lease.tryTake(count, perDay, now)
    if (result !== null) {
      if (lease.isLow) this.#refillAhead(lease)
      return result
    }
    const waiting = lease.wait(count)
    this.#enqueue(lease)
    return waiting
  }

  /** Returns units that were taken for work that then failed through our fault. `day` is that of the result of `take`; units of a past day expire. */
  refund(subject: string, count: number, day: number): void {
    const lease = this.#leases.get(subject)
    if (lease?.day === day) lease.refund(count)
    else this.#queueRefund({ subject, day, count })
  }

  /**
   * How many units are left of a quota of `perDay`, as far as this process knows: units leased by other processes count as used. Null
   * while nothing is known; then the store is asked in the background.
   */
  remaining(subject: string, perDay: number): number | null {
    const lease = this.#leaseOf(subject, perDay, this.#clock())
    if (lease.isNew) this.#enqueue(lease)
    return lease.remaining(perDay)
  }

  /** The same, but asks the store first. Null: the store failed, and nothing was known. Never rejects. */
  async readRemaining(subject: string, perDay: number): Promise<number | null> {
    const lease = this.#leaseOf(subject, perDay, this.#clock())
    this.#enqueue(lease)
    await lease.nextRead()
    return lease.remaining(perDay)
  }

  /** The time by which days begin. What remains of one is told by it alone. */
  now(): number {
    return this.#clock()
  }

  /** The day whose units are taken now, counted from 1 January 1970 UTC. It differs from the clock's when the clock was set back. */
  today(): number {
    return this.#today(this.#clock())
  }

  /** The count of subjects with a lease, and how often leasing or returning units failed. */
  stats(): { readonly subjects: number; readonly failures: number } {
    return { subjects: this.#leases.size, failures: this.#failuresCount }
  }

  /**
   * Leases more of what runs low, and returns idle units, so that other processes can use them. To be called about every second. While
   * the store is unreachable it only checks whether it answers, and available units stay in use. Never rejects.
   */
  async maintain(): Promise<void> {
    if (this.#isMaintaining) return
    this.#isMaintaining = true
    const now = this.#clock()
    const today = this.#today(now)
    if (this.#isUnavailable) this.#isUnavailable = !(await isStoreAvailable(this.#store, today))
    if (!this.#isUnavailable) {
      this.#enqueue(...this.#lowLeases.values().filter(({ day }) => day === today))
      this.#lowLeases.clear()
    }
    for (const lease of this.#leases.values())
      if (lease.day === today ? !this.#isUnavailable && lease.isIdle(now) : lease.isSettled) this.#dropLease(lease)
    if (!this.#isUnavailable) await this.#refundBatch()
    this.#isMaintaining = false
  }

  /** Returns all available units. The last call of a clean stop, when no request is in flight. Never rejects. */
  async releaseAll(): Promise<void> {
    while (this.#processing !== null) await this.#processing
    for (const lease of this.#leases.values()) this.#dropLease(lease)
    // If the store is unreachable, the units are lost for the day, as after a crash.
    while (this.#refunds.count > 0 && (await this.#refundBatch()));
  }

  /** Returns the available units of subjects, so that the store has what they used. Never rejects. */
  async release(subjects: readonly string[]): Promise<void> {
    for (const subject of subjects) {
      const lease = this.#leases.get(subject)
      if (lease !== undefined) this.#dropLease(lease)
    }
    while (this.#refunds.count > 0 && (await this.#refundBatch()));
  }

  /** Discards all units, since the database was replaced and does not know of these leases. */
  discardAll(): void {
    this.#refunds.clear()
    for (const lease of this.#leases.values()) lease.drain()
  }

  #leaseOf(subject: string, perDay: number, now: number): UnitLease {
    const day = this.#today(now)
    const current = this.#leases.get(subject)
    if (current?.day === day) return current
    // Requests that wait for units of the previous day still get those; its other units expire.
    if (current === undefined && this.#leases.size >= this.#bounds.subjectsMax) this.#evictLease(now)
    const lease = new UnitLease(subject, day, perDay, now, this.#bounds)
    this.#leases.set(subject, lease)
    return lease
  }

  /**
   * Drops a lease that was not used lately, and moves used ones to the end. Keeping an exact order of use would cost every request more
   * than this search costs the few that come when there is no room.
   */
  #evictLease(now: number): void {
    let visitedCount = 0
    for (const [subject, lease] of this.#leases) {
      const isSpared = lease.wasUsed(now) && visitedCount < SPARED_LEASES_MAX
      if (lease.isSettled && !isSpared) return void this.#dropLease(lease)
      // Requests wait for every lease: the bound is exceeded until they are settled.
      if (++visitedCount > this.#bounds.subjectsMax) return
      this.#leases.delete(subject)
      this.#leases.set(subject, lease)
    }
  }

  #dropLease(lease: UnitLease): void {
    this.#lowLeases.delete(lease)
    this.#leases.delete(lease.subject)
    this.#queueRefund({ subject: lease.subject, day: lease.day, count: lease.drain() }, lease)
  }

  #queueRefund({ subject, day, count }: DayUnits, lease: UnitLease | null = null): void {
    if (count > 0 && day >= this.#today(this.#clock())) this.#refunds.add({ subject, day, count, lease: lease })
  }

  /** Makes units available again that could not be returned: they are still leased. */
  #restoreUnits({ lease: formerLease, ...units }: UnitRefund): void {
    const current = this.#leases.get(units.subject)
    const lease = current ?? (this.#leases.size < this.#bounds.subjectsMax ? formerLease : null)
    if (lease?.day === units.day) {
      lease.refund(units.count)
      this.#leases.set(lease.subject, lease)
    } else this.#queueRefund(units, formerLease)
  }

  #refillAhead(lease: UnitLease): void {
    if (this.#bounds.defersRefills && lease.deferRefill()) this.#lowLeases.add(lease)
    else this.#enqueue(lease)
  }

  #enqueue(...leases: readonly UnitLease[]): void {
    for (const lease of leases) {
      lease.isNew = false
      this.#lowLeases.delete(lease)
      if (lease.isQueued) continue
      lease.isQueued = true
      this.#queue.add(lease)
    }
    if (this.#queue.size > 0) this.#processing ??= this.#processQueue()
  }

  /** Asks the store until the queue is empty. Leases that are queued meanwhile share the next transaction. */
  async #processQueue(): Promise<void> {
    while (this.#queue.size > 0) {
      // Refunds go first, so that the store knows of all free units before any request is refused.
      if (this.#refunds.count > 0) await this.#refundBatch()
      // A clock that was days ahead leaves several leases of a subject, which are processed one after the other.
      const queued = this.#queue.values().take(LEASES_PER_TRANSACTION_MAX)
      const leases = [...new Map(queued.map(lease => [lease.subject, lease] as const)).values()]
      for (const lease of leases) this.#queue.delete(lease)
      await this.#leaseBatch(leases)
    }
    this.#processing = null
  }

  async #leaseBatch(leases: readonly UnitLease[]): Promise<void> {
    const grants = await this.#store
      .transaction(store => leaseUnits(store, leases))
      .catch((error: unknown) => ({ error }))
    // A transaction that failed may have been committed all the same; its units are not used and are lost for the day.
    if ("error" in grants) return this.#onLeaseFailure(leases, grants.error)
    this.#isUnavailable = false
    for (const { lease, leased, granted } of grants) {
      lease.isQueued = false
      this.#onLeased({ subject: lease.subject, day: lease.day, leased, perDay: lease.perDay })
      if (lease.grant(leased, granted, this.#clock())) this.#enqueue(lease)
    }
  }

  #onLeaseFailure(leases: readonly UnitLease[], error: unknown): void {
    this.#failuresCount++
    this.#isUnavailable = hasWrittenNothing(error)
    const hasRejected = leases.filter(lease => lease.rejectWaiting(error)).length > 0
    if (!hasRejected) this.#onError(error)
  }

  /** Returns some of the queued units to the store; false: that failed. */
  async #refundBatch(): Promise<boolean> {
    const refunds = this.#refunds.takeBatch(LEASES_PER_TRANSACTION_MAX)
    if (refunds.length === 0) return true
    try {
      await this.#refunds.writeRefunds(refunds)
      this.#isUnavailable = false
      return true
    } catch (error) {
      this.#failuresCount++
      this.#isUnavailable = hasWrittenNothing(error)
      // After other errors the units may have been returned all the same, so they are neither used nor returned again.
      if (this.#isUnavailable) for (const refund of refunds) this.#restoreUnits(refund)
      this.#onError(error)
      return false
    }
  }
}

/** How many units of a subject's day all processes together have leased, of how many. */
type LeasedDay = {
  readonly subject: string
  readonly day: number
  readonly leased: number
  readonly perDay: number
}

/** The bounds of a unit quota. */
export type UnitQuotaBounds = LeaseBounds & {
  /** How many subjects have a lease. Beyond that, the one that was unused for longest is dropped. */
  readonly subjectsMax: number
  /** Whether leases that run low wait for the next `maintain`, to be refilled together, while half of the watermark is left. */
  readonly defersRefills: boolean
}

/** Bounds that take about 35 MB when full. */
export const UNIT_QUOTA_BOUNDS: UnitQuotaBounds = {
  subjectsMax: 100_000,
  blockMax: 100_000,
  blockMs: 1000,
  idleMs: 2000,
  refusalMs: 1000,
  defersRefills: false,
}

/** The same for a store that several hosts share: it is asked less often, for more units. */
export const SHARED_UNIT_QUOTA_BOUNDS: UnitQuotaBounds = { ...UNIT_QUOTA_BOUNDS, blockMs: 4000, defersRefills: true }
