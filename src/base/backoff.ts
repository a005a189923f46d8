/** The bounds of an exponential backoff. */
export type BackoffBounds = { readonly firstMs: number; readonly maxMs: number }

/** The wait in milliseconds after `failureCount` failures in a row: `firstMs` after the first, doubled after each further one, at most `maxMs`. */
export const backoffMs = (failureCount: number, { firstMs, maxMs }: BackoffBounds): number =>
  failureCount <= 0 ? 0 : Math.min(firstMs * 2 ** (failureCount - 1), maxMs)
