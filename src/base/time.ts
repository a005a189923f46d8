import type { Clock } from "./outside-world.ts"

/** A day, UTC, has no leap seconds to a clock (POSIX). */
export const DAY_MS = 86_400_000

/** The day of an instant in milliseconds, UTC: counted from 1 January 1970, which is day 0. */
export function utcDay(atMs: number): number {
  return Math.floor(atMs / DAY_MS)
}

/** The day as `2026-01-31`. */
export function isoDate(day: number): string {
  return dayStart(day).slice(0, 10)
}

/** The instant at which the day begins: `2026-01-31T00:00:00.000Z`. */
export function dayStart(day: number): string {
  return new Date(day * DAY_MS).toISOString()
}

/**
 * Builds a clock that is read once a turn of the event loop: one request asks for the time five times, and what is done in
 * one turn happens at one moment. It is late by a turn at most, about a millisecond under load. `soon` calls its work at the
 * end of a turn.
 */
export function tickClock(clock: Clock, soon: (work: () => void) => void): Clock {
  let now: number | null = null
  const forget = (): void => {
    now = null
  }
  return () => {
    if (now === null) {
      now = clock()
      soon(forget)
    }
    return now
  }
}

/** Calls `work` every so many milliseconds until the returned function is called. */
export type RunInterval = (everyMs: number, work: () => void) => () => void

/** Works that are done again and again between `begin` and `end`, each by its time. */
export function createIntervals(
  every: RunInterval,
  works: readonly (readonly [everyMs: number, work: () => void])[],
): { readonly start: () => void; readonly stop: () => void } {
  const ends: (() => void)[] = []
  return {
    start: () => {
      for (const [everyMs, work] of works) ends.push(every(everyMs, work))
    },
    stop: () => {
      for (const end of ends.splice(0)) end()
    },
  }
}
