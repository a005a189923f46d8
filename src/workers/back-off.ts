/** A worker that lived as long as this did not die of how it starts. */
const STEADY_MS = 10_000
/** How long a seat stays empty after the second death in a row; each further one doubles it. */
const FIRST_MS = 250
const LONGEST_MS = 30_000

/** Tells how long a seat stays empty after a death. */
export class BackOff {
  #quickDeathsCount = 0

  /** The time until the next worker starts, after one that lived so long: none at first, then more with each quick death in a row. */
  afterMs(livedMs: number): number {
    if (livedMs >= STEADY_MS) this.#quickDeathsCount = 0
    const count = this.#quickDeathsCount++
    return count === 0 ? 0 : Math.min(FIRST_MS * 2 ** (count - 1), LONGEST_MS)
  }
}
