import type { Stopwatch } from "./outside-world.ts"
import type { RunInterval } from "./time.ts"

/** How often it is looked whether the event loop is late. */
export const LAG_SAMPLE_MS = 50

/** How many looks in a row must find it late: one alone may be a pause of the machine. */
export const LAG_SAMPLES = 4

/** How late the event loop is: what has a time comes so much after it, and so does whatever arrives. */
export type EventLoopLag = {
  /** How late it was at least at each of the last looks, in milliseconds. */
  readonly sustainedMs: () => number
  /** How late it was at most since this was last asked. */
  readonly takeMaxMs: () => number
  /** Looks no more. */
  readonly stop: () => void
}

/** Begins to look. */
export function measureEventLoopLag(stopwatch: Stopwatch, every: RunInterval): EventLoopLag {
  const looks = new Float64Array(LAG_SAMPLES)
  let looksCount = 0
  let lookedAtMs = stopwatch()
  let lastingMs = 0
  let maxMs = 0
  const stop = every(LAG_SAMPLE_MS, () => {
    const nowMs = stopwatch()
    const lagMs = Math.max(0, nowMs - lookedAtMs - LAG_SAMPLE_MS)
    looks[looksCount++ % LAG_SAMPLES] = lagMs
    lastingMs = Math.min(...looks)
    maxMs = Math.max(maxMs, lagMs)
    lookedAtMs = nowMs
  })
  return {
    sustainedMs: () => lastingMs,
    takeMaxMs: () => {
      const takenMs = maxMs
      maxMs = 0
      return takenMs
    },
    stop,
  }
}
