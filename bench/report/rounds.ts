/** The middle of the values, or the mean of the two middle ones; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** What each round found, by what the same round found of another. */
export const ratios = (over: readonly number[], under: readonly number[]): readonly number[] =>
  over.map((value, round) => value / (under[round] ?? Number.NaN))

/**
 * Measures each subject once a round, one after the other, in an order that turns about each round (A B, B A, …), so
 * that a machine which gets slower harms all alike. Gives each subject's values by round.
 */
export async function interleaved<const N extends string, T>(
  names: readonly N[],
  rounds: number,
  measure: (name: N) => T | Promise<T>,
): Promise<Readonly<Record<N, readonly T[]>>> {
  const values = Object.fromEntries(names.map(name => [name, []])) as unknown as Record<N, T[]> // one list a name
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) values[name].push(await measure(name))
  }
  return values
}
