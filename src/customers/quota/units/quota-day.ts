import { DAY_MS, utcDay } from "../../../base/time.ts"

/** A clock that is set back no further than to the day before may be right again soon; beyond, it was wrong before. */
const CLOCK_SET_BACK_DAYS_MAX = 1

/** The instant at which a day, counted from 1 January 1970 UTC, is over and its quota begins anew. */
export function dayEndMs(day: number): number {
  return (day + 1) * DAY_MS
}

/**
 * Builds what tells the day of an instant, UTC, counted from 1 January 1970, which is day 0. Instants that are set back
 * over midnight do not bring back the day before; those of a clock that was days ahead and is corrected are believed.
 */
export function createMonotonicDay(): (nowMs: number) => number {
  let latest = Number.NEGATIVE_INFINITY
  return nowMs => {
    const day = utcDay(nowMs)
    if (day > latest || day < latest - CLOCK_SET_BACK_DAYS_MAX) latest = day
    return latest
  }
}
