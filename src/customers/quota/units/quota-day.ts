import { utcDay } from "../../../base/time.ts"

/** A clock set back by no more than a day may be corrected soon, so its day is not believed. Set back further, it was wrong before. */
const CLOCK_SET_BACK_DAYS_MAX = 1

/**
 * Creates a function that returns the UTC day of an instant, counted from 1 January 1970. A clock that is set back over midnight does
 * not bring back the previous day; one that was days ahead and is corrected is believed.
 */
export function createMonotonicDay(): (nowMs: number) => number {
  let latest = Number.NEGATIVE_INFINITY
  return nowMs => {
    const day = utcDay(nowMs)
    if (day > latest || day < latest - CLOCK_SET_BACK_DAYS_MAX) latest = day
    return latest
  }
}
