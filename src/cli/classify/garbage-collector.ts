/**
 * Garbage is collected after so many rows, and every tenth time completely. Otherwise the heap of a run over millions of rows
 * grows to 240 MB resident, of which 30 MB are in use. With both kinds it stays under 190 MB and takes no more processor time
 * than the runtime's own collections did; with only one kind it does not.
 */
const ROWS_PER_COLLECTION = 10_000
const COLLECTIONS_PER_FULL = 10

/** Counts finished rows and collects garbage when it is time. */
export function createCollector(collectGarbage: (isAll: boolean) => void): (rowsCount: number) => void {
  let rows = 0
  let times = 0
  return rowsCount => {
    rows += rowsCount
    if (rows < ROWS_PER_COLLECTION) return
    rows = 0
    times++
    collectGarbage(times % COLLECTIONS_PER_FULL === 0)
  }
}
