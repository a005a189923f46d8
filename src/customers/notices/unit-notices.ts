import type { Clock } from "../../base/outside-world.ts"
import { isoDate } from "../../base/time.ts"
import type { Store } from "../store/core/store.ts"
import { enqueueNotice } from "./outbox.ts"

/** From this part of the day's units on, in percent, the owner is told. */
const NEAR_PERCENT = 80

/** Accounts that are near the end of their units and watched by one process, and how many of them one look reads. */
const WATCHED_MAX = 10_000
const READ_AT_ONCE_MAX = 100

/** Units that are leased and unused are returned after seconds. What is leased and unused after this time was lost in a crash. */
const LOST_AFTER_MS = 60_000

/** How many units of a subject's day all processes together have leased, of how many. Days count from 1 January 1970 UTC. */
type LeasedUnits = { readonly subject: string; readonly day: number; readonly leased: number; readonly perDay: number }

/** A day of an account of which at least `NEAR_PERCENT` were leased. */
type WatchedDay = {
  readonly day: number
  /** The use that the last look found, and since when it has been the same. */
  used: number
  sinceMs: number
  /** Nothing is left to tell about this day. */
  isSettled: boolean
}

/** Dependencies of the notices about units. */
export type UnitNoticesDeps = {
  readonly store: Store
  readonly clock: Clock
  /** The units a day of a tier; null: without limit. */
  readonly unitsPerDayOf: (tier: number) => number | null
}

/**
 * Tells an account when 80 % and when all of the units of its day are used, each once a day over all processes. What was used is read
 * from the store, where all processes write it. A unit is leased before it is used, so the lease that reaches 80 % makes its process
 * watch the account; no other account costs anything. An account that reaches 100 % at once is told only that.
 */
export class UnitNotices {
  readonly #deps: UnitNoticesDeps
  readonly #watched = new Map<string, WatchedDay>()

  constructor(deps: UnitNoticesDeps) {
    this.#deps = deps
  }

  /** Starts to watch an account whose leased units are near the quota. It is called for every lease, so it only notes. */
  noteLeased({ subject, day, leased, perDay }: LeasedUnits): void {
    // Subjects with a slash are other pools of an account.
    if (leased * 100 < perDay * NEAR_PERCENT || subject.includes("/")) return
    if (this.#watched.get(subject)?.day === day || this.#watched.size >= WATCHED_MAX) return
    this.#watched.set(subject, { day, used: -1, sinceMs: this.#deps.clock(), isSettled: false })
  }

  /** Reads what watched accounts used and adds the mails that are due to the outbox. `today` ends the watch of earlier days. */
  async look(today: number): Promise<void> {
    for (const [accountId, watched] of this.#watched) if (watched.day < today) this.#watched.delete(accountId)
    const open = this.#watched.entries().filter(([, { isSettled }]) => !isSettled)
    for (const [accountId, watched] of [...open.take(READ_AT_ONCE_MAX)]) {
      // The others have their turn in the next look.
      this.#watched.delete(accountId)
      this.#watched.set(accountId, watched)
      if (!(await this.#lookAt(accountId, watched))) this.#watched.delete(accountId)
    }
  }

  /** False: the account need not be watched until it leases units again. */
  async #lookAt(accountId: string, watched: WatchedDay): Promise<boolean> {
    const { store, clock, unitsPerDayOf } = this.#deps
    const row = await store.one<UnitsRow>(READ_UNITS, [accountId, watched.day])
    const limit = row === null ? null : unitsPerDayOf(row.tier)
    if (row === null || limit === null) return false
    const { used, leased } = row
    if (used !== watched.used) {
      watched.used = used
      watched.sinceMs = clock()
    }
    const isFull = leased >= limit
    if (used >= limit || (isFull && clock() - watched.sinceMs >= LOST_AFTER_MS)) {
      await this.#tell("units_100", accountId, watched, limit)
      watched.isSettled = true
      return true
    }
    const isNear = used * 100 >= limit * NEAR_PERCENT
    if (isNear) await this.#tell("units_80", accountId, watched, limit)
    return isFull || (!isNear && leased * 100 >= limit * NEAR_PERCENT)
  }

  async #tell(
    kind: "units_80" | "units_100",
    accountId: string,
    { day, used }: WatchedDay,
    limit: number,
  ): Promise<void> {
    const { store, clock } = this.#deps
    const subject = isoDate(day)
    // A look outside a transaction first: a transaction each time would block the other writers.
    const key = [accountId, kind, subject]
    if ((await store.one(FIND_MAIL, key)) !== null) return
    await store.transaction(inner =>
      enqueueNotice(inner, clock(), { accountId, kind, subject, params: { used, limit, day } }),
    )
  }
}

const FIND_MAIL = "SELECT 1 AS found FROM outbox WHERE account_id = $1 AND notice = $2 AND subject = $3"

type UnitsRow = { readonly tier: number; readonly used: number; readonly leased: number }

const READ_UNITS = `SELECT tier,
  (SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) FROM usage WHERE account_id = $1 AND day = $2 AND measure = 'used') AS used,
  (SELECT COALESCE(MAX(leased), 0) FROM units WHERE subject = $1 AND day = $2) AS leased
  FROM accounts WHERE id = $1`
