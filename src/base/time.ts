import type { Clock } from "./outside-world.ts"

/** The length of a UTC day. POSIX time has no leap seconds. */
export const DAY_MS = 86_400_000

/** The length of an hour. */
export const HOUR_MS = 3_600_000

/** The UTC day of an instant in milliseconds, counted from 1 January 1970, which is day 0. */
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

/** The seconds until an instant, for a response: at least one, since the clock may be wrong and the instant in the past. */
export function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1000))
}

/** The instant at which the day ends and the next one begins. */
export function dayEndMs(day: number): number {
  return (day + 1) * DAY_MS
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

/** A day of this year in UTC: `27 Nov`. */
export function formatDay(atMs: number): string {
  const at = new Date(atMs)
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`
}

/** A day in UTC: `27 Nov 2026`. */
export const formatDate = (atMs: number): string => `${formatDay(atMs)} ${new Date(atMs).getUTCFullYear()}`

/** An instant in UTC: `27 Nov 2026, 22:33 UTC`. */
export const formatInstant = (atMs: number): string =>
  `${formatDate(atMs)}, ${new Date(atMs).toISOString().slice(11, 16)} UTC`

/**
 * Creates a clock that reads `clock` once per turn of the event loop: one request asks for the time five times, and
 * everything in one turn happens at the same moment. It lags by at most one turn, about a millisecond under load.
 * `nextTick` calls its argument at the end of a turn.
 */
export function tickClock(clock: Clock, nextTick: (work: () => void) => void): Clock {
  let now: number | null = null
  const reset = (): void => {
    now = null
  }
  return () => {
    if (now === null) {
      now = clock()
      nextTick(reset)
    }
    return now
  }
}

/** Calls `work` every `everyMs` milliseconds until the returned function is called. */
export type RunInterval = (everyMs: number, work: () => void) => () => void

/** How often a piece of work is done, the work, and what receives its failures. Absent: it does not fail. */
export type PeriodicWork = readonly [everyMs: number, work: () => unknown, onError?: (error: unknown) => void]

/** Creates a group of intervals that are started and stopped together. */
export function createIntervals(
  runInterval: RunInterval,
  intervals: readonly PeriodicWork[],
): { readonly start: () => void; readonly stop: () => void } {
  const stops: (() => void)[] = []
  return {
    start: () => {
      for (const [everyMs, work, onError] of intervals)
        stops.push(runInterval(everyMs, () => void (onError === undefined ? work() : Promise.try(work).catch(onError))))
    },
    stop: () => {
      for (const stop of stops.splice(0)) stop()
    },
  }
}

/** The instant in ISO 8601, UTC: `2026-01-31T12:00:00.000Z`. */
export function isoInstant(atMs: number): string
/** The same, where `null` stays `null`. */
export function isoInstant(atMs: number | null): string | null
/** The same. */
export function isoInstant(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString()
}

/** Something cached: at `cachedAtMs` and until `freshUntilMs`, in milliseconds since the Unix epoch. */
export type CacheLifetime = { readonly cachedAtMs: number; readonly freshUntilMs: number }

/** Whether it is fresh. If the clock was set back to before it was cached, nobody knows how old it is: it is not fresh. */
export const isFresh = ({ cachedAtMs, freshUntilMs }: CacheLifetime, nowMs: number): boolean =>
  cachedAtMs <= nowMs && nowMs < freshUntilMs

/**
 * A day or an instant of UTC, such as `2027-01-31` or `2027-01-31T12:00:00Z`, in milliseconds since the Unix epoch; null: it is neither, or
 * there is no such day. The runtime takes 30 February for 2 March.
 */
export function parseInstant(text: string): number | null {
  const isWellFormed = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z)?$/.test(text)
  const atMs = isWellFormed ? Date.parse(text) : Number.NaN
  return Number.isNaN(atMs) || isoDate(utcDay(atMs)) !== text.slice(0, 10) ? null : atMs
}
