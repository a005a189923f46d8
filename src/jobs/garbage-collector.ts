/** What collecting garbage after look-ups needs. */
export type CollectorDeps = {
  /** Collects all garbage, which takes tens of milliseconds. */
  readonly collectGarbage: () => void
  /** The number of live requests that were accepted so far. */
  readonly acceptedCount: () => number
}

/**
 * All garbage is collected after so many look-ups of jobs in the network: the runtime's own collections keep whatever is under way in them, and
 * a list of 40 000 unknown domains took 340 MB without this. While live requests come, they are spared it for longer.
 */
const LOOKUPS_PER_COLLECTION = { quiet: 4000, live: 16_000 } as const

/** Counts look-ups and collects garbage when it is time. */
export function createLookupCollector({ collectGarbage, acceptedCount }: CollectorDeps): (lookups: number) => void {
  let lookups = 0
  let seenCount = acceptedCount()
  return more => {
    lookups += more
    const isLive = acceptedCount() !== seenCount
    seenCount = acceptedCount()
    if (lookups < LOOKUPS_PER_COLLECTION[isLive ? "live" : "quiet"]) return
    lookups = 0
    collectGarbage()
  }
}
