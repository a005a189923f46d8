import type { Random } from "./outside-world.ts"

/** The bounds of an exponential backoff. */
export type BackoffBounds = { readonly firstMs: number; readonly maxMs: number }

/** The wait in milliseconds after `failureCount` failures in a row: `firstMs` after the first, doubled after each further one, at most `maxMs`. */
export const backoffMs = (failureCount: number, { firstMs, maxMs }: BackoffBounds): number =>
  failureCount <= 0 ? 0 : Math.min(firstMs * 2 ** (failureCount - 1), maxMs)

/** A wait shortened at random by up to a quarter, so that what failed together is not tried again together. Whole milliseconds. */
export function jitteredMs(ms: number, random: Random): number {
  const [byte = 0] = random(1)
  return Math.round(ms * (1 - byte / 1024))
}
