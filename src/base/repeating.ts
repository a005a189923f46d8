/** Calls `work` every so many milliseconds until the returned function is called. */
export type Every = (everyMs: number, work: () => void) => () => void

/** Works that are done again and again between `begin` and `end`, each by its time. */
export function repeating(
  every: Every,
  works: readonly (readonly [everyMs: number, work: () => void])[],
): { readonly begin: () => void; readonly end: () => void } {
  const ends: (() => void)[] = []
  return {
    begin: () => {
      for (const [everyMs, work] of works) ends.push(every(everyMs, work))
    },
    end: () => {
      for (const end of ends.splice(0)) end()
    },
  }
}
