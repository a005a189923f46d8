/** Values below this are counted one by one; above it each octave has half as many steps, so a value is off by 1/128 at most. */
const EXACT_BELOW = 256
const STEPS_AN_OCTAVE = EXACT_BELOW / 2
const VALUE_MAX = 0xffff_ffff

/**
 * Counts durations in whole microseconds, in 13 KB whatever is recorded: steps of one below 256, then 128 steps an
 * octave, up to 71 minutes, where longer ones are counted too. The largest value is kept as it is.
 */
export class Histogram {
  readonly #counts = new Uint32Array(stepOf(VALUE_MAX) + 1)
  #count = 0
  #max = 0

  /** Counts one duration; fractions are cut, and what is no positive number counts as 0. */
  record(microseconds: number): void {
    const value = microseconds > 0 ? Math.min(Math.floor(microseconds), VALUE_MAX) : 0
    const step = stepOf(value)
    this.#counts[step] = (this.#counts[step] ?? 0) + 1
    this.#count++
    if (value > this.#max) this.#max = value
  }

  /** How many durations were recorded. */
  get count(): number {
    return this.#count
  }

  /** The longest duration, in microseconds; 0 when there is none. */
  get max(): number {
    return this.#max
  }

  /**
   * A duration, in microseconds, that at least `share` (0 to 1) of all do not pass: the longest that the step of the
   * wanted one can hold, and never more than `max`. 0 when nothing was recorded.
   */
  percentile(share: number): number {
    const wanted = Math.max(1, Math.ceil(share * this.#count))
    let seen = 0
    for (const [step, count] of this.#counts.entries()) {
      seen += count
      if (seen >= wanted) return Math.min(longestIn(step), this.#max)
    }
    return this.#max
  }
}

/** Steps are continuous: the first octave above the exact values starts where they end. */
function stepOf(value: number): number {
  if (value < EXACT_BELOW) return value
  const octave = 24 - Math.clz32(value)
  return octave * STEPS_AN_OCTAVE + (value >>> octave)
}

function longestIn(step: number): number {
  if (step < EXACT_BELOW) return step
  const octave = Math.floor(step / STEPS_AN_OCTAVE) - 1
  return (step - octave * STEPS_AN_OCTAVE + 1) * 2 ** octave - 1
}
