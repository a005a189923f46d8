/** A name that is processed leaves some hundred bytes of garbage, so this many leave ten megabytes or more. */
const PIECES_MAX = 60_000

let pieces = 0

/**
 * Counts pieces of work that leave garbage, and collects it after every sixty thousand. The runtime by itself lets garbage grow
 * with what is alive, so work on hundreds of thousands of names would take several times the memory. Less work costs nothing.
 */
export function countGarbage(count = 1): void {
  pieces += count
  if (pieces < PIECES_MAX) return
  pieces = 0
  Bun.gc(true)
}
