import { assert } from "../../base/assert.ts"
import type { Clock } from "../../base/clock.ts"
import type { Store } from "../store/store.ts"
import { steadyDay } from "./day.ts"
import { Lease, type LeaseBounds, type Taken } from "./lease.ts"
import { leaseMore } from "./lease-more.ts"
import { type DayUnits, subtractLeased } from "./unit-rows.ts"

/** How much is held. */
export type UnitsBounds = LeaseBounds & {
  /** How many subjects have units in hand; beyond, those go back that were not used for longest. */
  readonly subjectsMax: number
  /** Whether what runs low waits for the next `tidy`, to be leased together, as long as half of what is low is left. */
  readonly gathersLow: boolean
}

/** Bounds that hold about 35 MB when full. */
export const UNITS_BOUNDS: UnitsBounds = {
  subjectsMax: 100_000,
  blockMax: 100_000,
  blockMs: 1000,
  idleMs: 2000,
  refusalMs: 1000,
  gathersLow: false,
}

/** The same for a store that several hosts share: it is asked less often, for more. */
export const SHARED_UNITS_BOUNDS: UnitsBounds = { ...UNITS_BOUNDS, blockMs: 4000, gathersLow: true }

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
  /** Units that are nobody's here and go back to the store, by day and subject. */
  readonly #returning = new Map<string, DayUnits>()
  #failuresCount = 0

  /** `failed` is told of what failed in the background: leasing ahead of need, or giving back. */
  constructor(store: Store, clock: Clock, bounds: UnitsBounds, failed: (error: unknown) => void) {
    this.#store = store
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
   * it. It never rejects.
   */
  async tidy(): Promise<void> {
    const now = this.#clock()
    const today = this.#today(now)
    this.#ask(...this.#low.values().filter(({ day }) => day === today))
    this.#low.clear()
    for (const lease of this.#held.values())
      if (lease.day === today ? lease.isIdle(now) : lease.isAtRest) this.#drop(lease)
    await this.#returnSome()
  }

  /** Gives back all that is in hand: the last call at a clean stop, when no request is under way. It never rejects. */
  async release(): Promise<void> {
    while (this.#asking !== null) await this.#asking
    for (const lease of this.#held.values()) this.#drop(lease)
    while (this.#returning.size > 0) await this.#returnSome()
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
    this.#giveUp({ subject: lease.subject, day: lease.day, count: lease.surrender() })
  }

  #giveUp({ subject, day, count }: DayUnits): void {
    if (count === 0 || day < this.#today(this.#clock())) return
    const key = `${day} ${subject}`
    const others = this.#returning.get(key)
    // A store that cannot keep up with what is given back loses it for the day.
    if (others === undefined && this.#returning.size >= this.#bounds.subjectsMax) return
    this.#returning.set(key, { subject, day, count: count + (others?.count ?? 0) })
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
      if (this.#returning.size > 0) await this.#returnSome()
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
    for (const { lease, leased, granted } of answers) {
      lease.isAsked = false
      if (lease.receive(leased, granted, this.#clock())) this.#ask(lease)
    }
  }

  #fail(leases: readonly Lease[], error: unknown): void {
    this.#failuresCount++
    let isTold = false
    for (const lease of leases) {
      lease.isAsked = false
      if (lease.fail(error)) isTold = true
    }
    if (!isTold) this.#failed(error)
  }

  async #returnSome(): Promise<void> {
    const units = [...this.#returning.values().take(WRITTEN_MAX)].sort(bySubject)
    if (units.length === 0) return
    for (const { subject, day } of units) this.#returning.delete(`${day} ${subject}`)
    try {
      await this.#store.transaction(async store => {
        for (const each of units) await subtractLeased(store, each)
      })
    } catch (error) {
      this.#failuresCount++
      // They may have gone back all the same, so they are not given back again, and are lost for the day.
      this.#failed(error)
    }
  }
}

/** One order for all processes: in an engine that locks rows, two that take the same ones never wait for each other. */
const bySubject = (a: { readonly subject: string }, b: { readonly subject: string }): number =>
  a.subject < b.subject ? -1 : Number(a.subject > b.subject)
