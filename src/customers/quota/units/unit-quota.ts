import { assert } from "../../../base/errors.ts"
import type { Clock } from "../../../base/outside-world.ts"
import type { Store } from "../../store/core/store.ts"
import { hasWrittenNothing } from "../../store/core/store-error.ts"
import { createMonotonicDay } from "./quota-day.ts"
import { isStoreAvailable, RefundQueue, type UnitRefund } from "./refund-queue.ts"
import { type LeaseBounds, type TakeUnitsResult, UnitLease } from "./unit-lease.ts"
import { type DayUnits, leaseUnits } from "./unit-rows.ts"

/** How many subjects one transaction leases for or gives back for: it keeps everything else waiting for about 10 ms. */
const LEASES_PER_TRANSACTION_MAX = 500

/** How many leases that were used lately are spared, one after the other, when there is no room. */
const SPARED_LEASES_MAX = 100

/**
 * The units that subjects may use a day, exactly: the units that all processes on one store admit never add up to more
 * than the quota, whatever crashes, stops, or does to the clock. A unit is leased on disk before it is used. What is in
 * hand is used without a promise and without the disk, and what a process does not use goes back; a crash loses its
 * units in hand, at most a block a subject.
 */
export class UnitQuota {
  readonly #store: Store
  readonly #clock: Clock
  readonly #bounds: UnitQuotaBounds
  readonly #onError: (error: unknown) => void
  readonly #today = createMonotonicDay()
  /** By subject, roughly in the order of use. */
  readonly #leases = new Map<string, UnitLease>()
  /** Leases for which the store is to be asked, and the work that asks it. */
  readonly #queue = new Set<UnitLease>()
  #processing: Promise<void> | null = null
  /** Leases that run low and wait for the next `tidy`. */
  readonly #lowLeases = new Set<UnitLease>()
  readonly #refunds: RefundQueue
  /** Whether the store could not be had when it was last asked. */
  #isUnavailable = false
  #isMaintaining = false
  #failuresCount = 0

  /** `failed` is told of what failed in the background: leasing ahead of need, or giving back. */
  constructor(store: Store, clock: Clock, bounds: UnitQuotaBounds, failed: (error: unknown) => void) {
    this.#store = store
    this.#refunds = new RefundQueue(store, bounds.subjectsMax)
    this.#clock = clock
    this.#bounds = bounds
    this.#onError = failed
  }

  /**
   * Takes `count` units, all or none, of a quota of `perDay`. Gives a promise only when the store has to be asked; it
   * rejects when that fails, and then nothing was taken. Requests of a subject that wait are answered in their order.
   * A refusal is what the store said, at most `refusalMs` ago.
   */
  take(subject: string, count: number, perDay: number): TakeUnitsResult | Promise<TakeUnitsResult> {
    assert(Number.isSafeInteger(count) && count > 0, "units are taken by whole numbers")
    const now = this.#clock()
    const lease = this.#leaseOf(subject, perDay, now)
    const taken = lease.tryTake(count, perDay, now)
    if (taken !== null) {
      if (lease.isLow) this.#refillAhead(lease)
      return taken
    }
    const later = lease.wait(count)
    this.#enqueue(lease)
    return later
  }

  /**
   * Gives units back that were taken for what then failed by our own fault; `day` is the one that `take` told. Those of a
   * day that is over are worth nothing.
   */
  refund(subject: string, count: number, day: number): void {
    const lease = this.#leases.get(subject)
    if (lease?.day === day) lease.refund(count)
    else this.#queueRefund({ subject, day, count })
  }

  /**
   * How many units are left of a quota of `perDay`, as far as this process knows: what other processes hold counts as
   * used. All of them when nothing is known yet; then the store is asked in the background.
   */
  remaining(subject: string, perDay: number): number {
    const lease = this.#leaseOf(subject, perDay, this.#clock())
    if (lease.isNew) this.#enqueue(lease)
    return lease.remaining(perDay)
  }

  /** For how many subjects units are in hand, and how often the store failed to lease or to take back. */
  stats(): { readonly subjects: number; readonly failures: number } {
    return { subjects: this.#leases.size, failures: this.#failuresCount }
  }

  /**
   * To be called about every second: leases more of what runs low, and gives back what lies idle, so that other processes can use
   * it. While the store cannot be had it only looks whether it can be: what is in hand stays in use. It never rejects.
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

  /** Gives back all that is in hand: the last call at a clean stop, when no request is under way. It never rejects. */
  async releaseAll(): Promise<void> {
    while (this.#processing !== null) await this.#processing
    for (const lease of this.#leases.values()) this.#dropLease(lease)
    // Where the store cannot be had, it is as after a crash: what is in hand is lost for the day.
    while (this.#refunds.count > 0 && (await this.#refundBatch()));
  }

  /** Lets go of all that is in hand: the database is another one than it was leased in, and knows nothing of it. */
  discardAll(): void {
    this.#refunds.clear()
    for (const lease of this.#leases.values()) lease.drain()
  }

  #leaseOf(subject: string, perDay: number, now: number): UnitLease {
    const day = this.#today(now)
    const held = this.#leases.get(subject)
    if (held?.day === day) return held
    // Requests that still wait for units of the day before get those; what else is in hand of it is worth nothing.
    if (held === undefined && this.#leases.size >= this.#bounds.subjectsMax) this.#evictLease(now)
    const lease = new UnitLease(subject, day, perDay, now, this.#bounds)
    this.#leases.set(subject, lease)
    return lease
  }

  /**
   * Drops a lease that was not used lately. Those that were go to the end; keeping an order of use would cost every
   * request more than looking costs the few that come when there is no room.
   */
  #evictLease(now: number): void {
    let lookedAt = 0
    for (const [subject, lease] of this.#leases) {
      const isSpared = lease.wasUsed(now) && lookedAt < SPARED_LEASES_MAX
      if (lease.isSettled && !isSpared) return void this.#dropLease(lease)
      // Requests wait for every one of them: there are more of them than there should be, until they are answered.
      if (++lookedAt > this.#bounds.subjectsMax) return
      this.#leases.delete(subject)
      this.#leases.set(subject, lease)
    }
  }

  #dropLease(lease: UnitLease): void {
    this.#lowLeases.delete(lease)
    this.#leases.delete(lease.subject)
    this.#queueRefund({ subject: lease.subject, day: lease.day, count: lease.drain() }, lease)
  }

  #queueRefund({ subject, day, count }: DayUnits, of: UnitLease | null = null): void {
    if (count > 0 && day >= this.#today(this.#clock())) this.#refunds.add({ subject, day, count, lease: of })
  }

  /** Keeps in use what did not go back: it is leased still. */
  #restoreUnits({ lease: of, ...units }: UnitRefund): void {
    const held = this.#leases.get(units.subject)
    const lease = held ?? (this.#leases.size < this.#bounds.subjectsMax ? of : null)
    if (lease?.day === units.day) {
      lease.refund(units.count)
      this.#leases.set(lease.subject, lease)
    } else this.#queueRefund(units, of)
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

  /** Asks the store for all that is asked for, until nothing is: what comes meanwhile shares the next transaction. */
  async #processQueue(): Promise<void> {
    while (this.#queue.size > 0) {
      // Before anybody is refused, the store has all that is nobody's here.
      if (this.#refunds.count > 0) await this.#refundBatch()
      // A clock that was days ahead leaves leases of a subject behind, which are asked for one after the other.
      const asked = this.#queue.values().take(LEASES_PER_TRANSACTION_MAX)
      const leases = [...new Map(asked.map(lease => [lease.subject, lease] as const)).values()]
      for (const lease of leases) this.#queue.delete(lease)
      await this.#leaseBatch(leases)
    }
    this.#processing = null
  }

  async #leaseBatch(leases: readonly UnitLease[]): Promise<void> {
    const answers = await this.#store
      .transaction(store => leaseUnits(store, leases))
      .catch((error: unknown) => ({ error }))
    // A transaction that failed may have happened all the same; what it leased is not used, and lost for the day.
    if ("error" in answers) return this.#onLeaseFailure(leases, answers.error)
    this.#isUnavailable = false
    for (const { lease, leased, granted } of answers) {
      lease.isQueued = false
      if (lease.grant(leased, granted, this.#clock())) this.#enqueue(lease)
    }
  }

  #onLeaseFailure(leases: readonly UnitLease[], error: unknown): void {
    this.#failuresCount++
    this.#isUnavailable = hasWrittenNothing(error)
    const isTold = leases.filter(lease => lease.rejectWaiting(error)).length > 0
    if (!isTold) this.#onError(error)
  }

  /** Gives some of what goes back to the store; false: that failed. */
  async #refundBatch(): Promise<boolean> {
    const units = this.#refunds.takeBatch(LEASES_PER_TRANSACTION_MAX)
    if (units.length === 0) return true
    try {
      await this.#refunds.writeRefunds(units)
      this.#isUnavailable = false
      return true
    } catch (error) {
      this.#failuresCount++
      this.#isUnavailable = hasWrittenNothing(error)
      // Else they may have gone back all the same, so they are not used or given back again, and are lost for the day.
      if (this.#isUnavailable) for (const each of units) this.#restoreUnits(each)
      this.#onError(error)
      return false
    }
  }
}

/** How much is held. */
export type UnitQuotaBounds = LeaseBounds & {
  /** How many subjects have units in hand; beyond, those go back that were not used for longest. */
  readonly subjectsMax: number
  /** Whether what runs low waits for the next `tidy`, to be leased together, as long as half of what is low is left. */
  readonly defersRefills: boolean
}

/** Bounds that hold about 35 MB when full. */
export const UNIT_QUOTA_BOUNDS: UnitQuotaBounds = {
  subjectsMax: 100_000,
  blockMax: 100_000,
  blockMs: 1000,
  idleMs: 2000,
  refusalMs: 1000,
  defersRefills: false,
}

/** The same for a store that several hosts share: it is asked less often, for more. */
export const SHARED_UNIT_QUOTA_BOUNDS: UnitQuotaBounds = { ...UNIT_QUOTA_BOUNDS, blockMs: 4000, defersRefills: true }
