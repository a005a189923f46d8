import { CAUSES, type Cause } from "./outcome.ts"

const COUNTS = ["checked", "unchecked", "cached", "requests", "retries"] as const

/** What a client has counted since it was created. Checks and items of batches are counted alike. */
export type MailkindStats = Readonly<Record<(typeof COUNTS)[number], number>> & {
  readonly uncheckedBecause: Readonly<Record<Cause, number>>
}

/** Counts in memory. */
export type ClientStatistics = {
  readonly count: (name: (typeof COUNTS)[number]) => void
  readonly countUnchecked: (because: Cause) => void
  readonly stats: () => MailkindStats
}

/** Starts at zero. */
export function createStatistics(): ClientStatistics {
  const counts = { checked: 0, unchecked: 0, cached: 0, requests: 0, retries: 0 }
  const causes = Object.fromEntries(Object.keys(CAUSES).map(cause => [cause, 0])) as Record<Cause, number> // the keys of a table are its type's
  return {
    count: name => {
      counts[name]++
    },
    countUnchecked: because => {
      counts.unchecked++
      causes[because]++
    },
    stats: () => ({ ...counts, uncheckedBecause: { ...causes } }),
  }
}
