/** Returns the time in milliseconds since the Unix epoch (UTC). */
export type Clock = () => number

/** Returns `count` bytes from a cryptographically secure random source. */
export type Random = (count: number) => Uint8Array

/** Returns milliseconds since some fixed moment and never goes back. For durations. */
export type Stopwatch = () => number

/** Calls `work` once after `ms` milliseconds. The returned function cancels the call. */
export type SetTimer = (ms: number, work: () => void) => () => void

/** Random bytes of the machine. */
export const secureRandom: Random = count => crypto.getRandomValues(new Uint8Array(count))
