/** Where a result came from, and how long it is fresh. */
export type CacheStatus = {
  /** Every part came from a cache, fresh or stale. False: nothing was queried, or a part was not cached or failed. */
  readonly isCached: boolean
  /** Until when a new query would give the same, in milliseconds since the Unix epoch. */
  readonly freshUntilMs: number
}
