/** A day, UTC, has no leap seconds to a clock (POSIX). */
export const DAY_MS = 86_400_000

/** The day of an instant in milliseconds, UTC: counted from 1 January 1970, which is day 0. */
export function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS)
}

/** The day as `2026-01-31`. */
export function dateOf(day: number): string {
  return startOf(day).slice(0, 10)
}

/** The instant at which the day begins: `2026-01-31T00:00:00.000Z`. */
export function startOf(day: number): string {
  return new Date(day * DAY_MS).toISOString()
}
