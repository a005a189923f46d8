/** Counts the requests of each caller that are under way. */
export type InFlight = {
  /** Counts one more request of the caller, unless `max` are under way: then it counts nothing and gives false. */
  readonly enter: (caller: string, max: number) => boolean
  /** Ends one request of the caller that has entered. */
  readonly leave: (caller: string) => void
  /** How many callers have a request under way in this process. */
  readonly callersCount: number
}
