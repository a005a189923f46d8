/** What leaves garbage: rows that are checked, those of them for which the network is asked, and bytes that are read or written. */
export type WorkCounts = { readonly rows: number; readonly lookups: number; readonly bytes: number }

/** What is counted of checked rows. */
export type CheckedCounts = Pick<WorkCounts, "rows" | "lookups">

/** How much of anything is done between two collections: of the young garbage alone, and of all of it. */
export type CollectionBounds = { readonly young: WorkCounts; readonly all: WorkCounts }

/** The bound of what does not count. */
export const NEVER = Number.POSITIVE_INFINITY

/**
 * Those of a command: a run over millions of rows has 150 MB resident as text and 170 MB as NDJSON, of which 30 MB are in use. With four times
 * as many rows between collections it would be 180 and 240 MB, at some tenth of the processor time less. The runtime's own collections keep whatever is under
 * way in them, and forget it only in a complete one: a list of 100 000 unknown domains took 640 MB without those after look-ups.
 */
export const COLLECTION_BOUNDS: CollectionBounds = {
  young: { rows: 2500, lookups: NEVER, bytes: NEVER },
  all: { rows: 20_000, lookups: 10_000, bytes: NEVER },
}

const NO_WORK: WorkCounts = { rows: 0, lookups: 0, bytes: 0 }

const sum = (one: WorkCounts, other: WorkCounts): WorkCounts => ({
  rows: one.rows + other.rows,
  lookups: one.lookups + other.lookups,
  bytes: one.bytes + other.bytes,
})

const reaches = (done: WorkCounts, bound: WorkCounts): boolean =>
  done.rows >= bound.rows || done.lookups >= bound.lookups || done.bytes >= bound.bytes

/** Counts work and collects garbage when it is time. */
export function createCollector(
  collectGarbage: (isAll: boolean) => void,
  boundsNow: () => CollectionBounds = () => COLLECTION_BOUNDS,
): (done: Partial<WorkCounts>) => void {
  let sinceYoung = NO_WORK
  let sinceAll = NO_WORK
  return part => {
    const done = { ...NO_WORK, ...part }
    sinceYoung = sum(sinceYoung, done)
    sinceAll = sum(sinceAll, done)
    const bounds = boundsNow()
    const isAll = reaches(sinceAll, bounds.all)
    if (!isAll && !reaches(sinceYoung, bounds.young)) return
    sinceYoung = NO_WORK
    if (isAll) sinceAll = NO_WORK
    collectGarbage(isAll)
  }
}
