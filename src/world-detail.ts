/** Whether every line of the log is wanted, whatever the settings say. */
export type Detail = {
  readonly isWanted: () => boolean
  readonly want: (isWanted: boolean) => void
  /** From now on SIGUSR2 changes it; `told` gets what it is then. */
  readonly follow: (told: (isWanted: boolean) => void) => void
}

/** What the log says of it from now on. */
export const detailWords = (isWanted: boolean): string =>
  isWanted ? "every line is logged" : "the log is as it was set"

/** That of this process: the usual lines until the signal comes. */
export function realDetail(): Detail {
  let isWanted = false
  return {
    isWanted: () => isWanted,
    want: wanted => {
      isWanted = wanted
    },
    follow: told =>
      void process.on("SIGUSR2", () => {
        const next = !isWanted
        // What is told of the change is logged either way.
        isWanted = true
        told(next)
        isWanted = next
      }),
  }
}
