/** The bounds of a wait that doubles. */
export type BackoffBounds = { readonly firstMs: number; readonly maxMs: number }

/** The wait after so many failures in a row, in milliseconds: `firstMs` after the first, twice as long after each further one, `maxMs` at most. */
export const backoffMs = (failureCount: number, { firstMs, maxMs }: BackoffBounds): number =>
  failureCount <= 0 ? 0 : Math.min(firstMs * 2 ** (failureCount - 1), maxMs)
