/** Tells the time: milliseconds since the Unix epoch, UTC. */
export type Clock = () => number

/** Gives `count` bytes from a secure random source. */
export type Random = (count: number) => Uint8Array

/** Milliseconds since some fixed moment; it never goes back. For durations. */
export type Stopwatch = () => number

/** Calls `work` once after `ms` milliseconds; the returned function calls it off. */
export type SetTimer = (ms: number, work: () => void) => () => void
