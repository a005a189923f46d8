import { assert } from "../../base/assert.ts"
import type { Clock } from "../../base/clock.ts"
import type { Store } from "../store/store.ts"
import { isUndone } from "../store/store-fault.ts"
import { steadyDay } from "./day.ts"
import { Lease, type Taken } from "./lease.ts"
import { leaseMore } from "./lease-more.ts"
import { isThere, type Returned, Returning } from "./returning.ts"
import type { DayUnits } from "./unit-rows.ts"
import type { UnitsBounds } from "./units-bounds.ts"

/** How many subjects one transaction leases for or gives back for: it keeps everything else waiting for about 10 ms. */
const WRITTEN_MAX = 500

/** How many leases that were used lately are spared, one after the other, when there is no room. */
const SPARED_MAX = 100

/**
 * The units that subjects may use a day, exactly: the units that all processes on one store admit never add up to more
 * than the quota, whatever crashes, stops, or does to the clock. A unit is leased on disk before it is used. What is in
 * hand is used without a promise and without the disk, and what a process does not use goes back; a crash loses its
 * units in hand, at most a block a subject.
 */
export class Units {
  readonly #store: Store
  readonly #clock: Clock
  readonly #bounds: UnitsBounds
  readonly #failed: (error: unknown) => void
  readonly #today = steadyDay()
  /** By subject, roughly in the order of use. */
  readonly #held = new Map<string, Lease>()
  /** Leases for which the store is to be asked, and the work that asks it. */
  readonly #asked = new Set<Lease>()
  #asking: Promise<void> | null = null
  /** Leases that run low and wait for the next `tidy`. */
  readonly #low = new Set<Lease>()
  readonly #returning: Returning
  /** Whether the store could not be had when it was last asked. */
  #isAway = false
  #isTidying = false
  #failuresCount = 0

  /** `failed` is told of what failed in the background: leasing ahead of need, or giving back. */
  constructor(store: Store, clock: Clock, bounds: UnitsBounds, failed: (error: unknown) => void) {
    this.#store = store
    this.#returning = new Returning(store, bounds.subjectsMax)
    this.#clock = clock
    this.#bounds = bounds
    this.#failed = failed
  }

  /**
   * Takes `count` units, all or none, of a quota of `perDay`. Gives a promise only when the store has to be asked; it
   * rejects when that fails, and then nothing was taken. Requests of a subject that wait are answered in their order.
   * A refusal is what the store said, at most `refusalMs` ago.
   */
  take(subject: string, count: number, perDay: number): Taken | Promise<Taken> {
    assert(Number.isSafeInteger(count) && count > 0, "units are taken by whole numbers")
    const now = this.#clock()
    const lease = this.#leaseOf(subject, perDay, now)
    const taken = lease.take(count, perDay, now)
    if (taken !== null) {
      if (lease.isLow) this.#askAhead(lease)
      return taken
    }
    const later = lease.wait(count)
    this.#ask(lease)
    return later
  }

  /**
   * Gives units back that were taken for what then failed by our own fault; `day` is the one that `take` told. Those of a
   * day that is over are worth nothing.
   */
  giveBack(subject: string, count: number, day: number): void {
    const lease = this.#held.get(subject)
    if (lease?.day === day) lease.putBack(count)
    else this.#giveUp({ subject, day, count })
  }

  /**
   * How many units are left of a quota of `perDay`, as far as this process knows: what other processes hold counts as
   * used. All of them when nothing is known yet; then the store is asked in the background.
   */
  remaining(subject: string, perDay: number): number {
    const lease = this.#leaseOf(subject, perDay, this.#clock())
    if (lease.isNew) this.#ask(lease)
    return lease.remaining(perDay)
  }

  /** For how many subjects units are in hand, and how often the store failed to lease or to take back. */
  told(): { readonly subjects: number; readonly failures: number } {
    return { subjects: this.#held.size, failures: this.#failuresCount }
  }

  /**
   * To be called about every second: leases more of what runs low, and gives back what lies idle, so that other processes can use
   * it. While the store cannot be had it only looks whether it can be: what is in hand stays in use. It never rejects.
   */
  async tidy(): Promise<void> {
    if (this.#isTidying) return
    this.#isTidying = true
    const now = this.#clock()
    const today = this.#today(now)
    if (this.#isAway) this.#isAway = !(await isThere(this.#store, today))
    if (!this.#isAway) {
      this.#ask(...this.#low.values().filter(({ day }) => day === today))
      this.#low.clear()
    }
    for (const lease of this.#held.values())
      if (lease.day === today ? !this.#isAway && lease.isIdle(now) : lease.isAtRest) this.#drop(lease)
    if (!this.#isAway) await this.#returnSome()
    this.#isTidying = false
  }

  /** Gives back all that is in hand: the last call at a clean stop, when no request is under way. It never rejects. */
  async release(): Promise<void> {
    while (this.#asking !== null) await this.#asking
    for (const lease of this.#held.values()) this.#drop(lease)
    // Where the store cannot be had, it is as after a crash: what is in hand is lost for the day.
    while (this.#returning.count > 0 && (await this.#returnSome()));
  }

  /** Lets go of all that is in hand: the database is another one than it was leased in, and knows nothing of it. */
  forget(): void {
    this.#returning.clear()
    for (const lease of this.#held.values()) lease.surrender()
  }

  #leaseOf(subject: string, perDay: number, now: number): Lease {
    const day = this.#today(now)
    const held = this.#held.get(subject)
    if (held?.day === day) return held
    // Requests that still wait for units of the day before get those; what else is in hand of it is worth nothing.
    if (held === undefined && this.#held.size >= this.#bounds.subjectsMax) this.#makeRoom(now)
    const lease = new Lease(subject, day, perDay, now, this.#bounds)
    this.#held.set(subject, lease)
    return lease
  }

  /**
   * Drops a lease that was not used lately. Those that were go to the end; keeping an order of use would cost every
   * request more than looking costs the few that come when there is no room.
   */
  #makeRoom(now: number): void {
    let lookedAt = 0
    for (const [subject, lease] of this.#held) {
      const isSpared = lease.wasUsed(now) && lookedAt < SPARED_MAX
      if (lease.isAtRest && !isSpared) return void this.#drop(lease)
      // Requests wait for every one of them: there are more of them than there should be, until they are answered.
      if (++lookedAt > this.#bounds.subjectsMax) return
      this.#held.delete(subject)
      this.#held.set(subject, lease)
    }
  }

  #drop(lease: Lease): void {
    this.#low.delete(lease)
    this.#held.delete(lease.subject)
    this.#giveUp({ subject: lease.subject, day: lease.day, count: lease.surrender() }, lease)
  }

  #giveUp({ subject, day, count }: DayUnits, of: Lease | null = null): void {
    if (count > 0 && day >= this.#today(this.#clock())) this.#returning.add({ subject, day, count, of })
  }

  /** Keeps in use what did not go back: it is leased still. */
  #keep({ of, ...units }: Returned): void {
    const held = this.#held.get(units.subject)
    const lease = held ?? (this.#held.size < this.#bounds.subjectsMax ? of : null)
    if (lease?.day === units.day) {
      lease.putBack(units.count)
      this.#held.set(lease.subject, lease)
    } else this.#giveUp(units, of)
  }

  #askAhead(lease: Lease): void {
    if (this.#bounds.gathersLow && lease.gather()) this.#low.add(lease)
    else this.#ask(lease)
  }

  #ask(...leases: readonly Lease[]): void {
    for (const lease of leases) {
      lease.isNew = false
      this.#low.delete(lease)
      if (lease.isAsked) continue
      lease.isAsked = true
      this.#asked.add(lease)
    }
    if (this.#asked.size > 0) this.#asking ??= this.#askAll()
  }

  /** Asks the store for all that is asked for, until nothing is: what comes meanwhile shares the next transaction. */
  async #askAll(): Promise<void> {
    while (this.#asked.size > 0) {
      // Before anybody is refused, the store has all that is nobody's here.
      if (this.#returning.count > 0) await this.#returnSome()
      // A clock that was days ahead leaves leases of a subject behind, which are asked for one after the other.
      const asked = this.#asked.values().take(WRITTEN_MAX)
      const leases = [...new Map(asked.map(lease => [lease.subject, lease] as const)).values()]
      for (const lease of leases) this.#asked.delete(lease)
      await this.#leaseFor(leases)
    }
    this.#asking = null
  }

  async #leaseFor(leases: readonly Lease[]): Promise<void> {
    const answers = await this.#store
      .transaction(store => leaseMore(store, leases))
      .catch((error: unknown) => ({ error }))
    // A transaction that failed may have happened all the same; what it leased is not used, and lost for the day.
    if ("error" in answers) return this.#fail(leases, answers.error)
    this.#isAway = false
    for (const { lease, leased, granted } of answers) {
      lease.isAsked = false
      if (lease.receive(leased, granted, this.#clock())) this.#ask(lease)
    }
  }

  #fail(leases: readonly Lease[], error: unknown): void {
    this.#failuresCount++
    this.#isAway = isUndone(error)
    const isTold = leases.filter(lease => lease.fail(error)).length > 0
    if (!isTold) this.#failed(error)
  }

  /** Gives some of what goes back to the store; false: that failed. */
  async #returnSome(): Promise<boolean> {
    const units = this.#returning.take(WRITTEN_MAX)
    if (units.length === 0) return true
    try {
      await this.#returning.give(units)
      this.#isAway = false
      return true
    } catch (error) {
      this.#failuresCount++
      this.#isAway = isUndone(error)
      // Else they may have gone back all the same, so they are not used or given back again, and are lost for the day.
      if (this.#isAway) for (const each of units) this.#keep(each)
      this.#failed(error)
      return false
    }
  }
}
