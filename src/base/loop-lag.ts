import type { Stopwatch } from "./clock.ts"
import type { Every } from "./repeating.ts"

/** How often it is looked whether the event loop is late. */
export const LAG_LOOK_MS = 50

/** How many looks in a row must find it late: one alone may be a pause of the machine. */
export const LAG_LOOKS = 4

/** How late the event loop is: what has a time comes so much after it, and so does whatever arrives. */
export type LoopLag = {
  /** How late it was at least at each of the last looks, in milliseconds. */
  readonly lastingMs: () => number
  /** How late it was at most since this was last asked. */
  readonly takeMaxMs: () => number
  /** Looks no more. */
  readonly end: () => void
}

/** Begins to look. */
export function loopLag(stopwatch: Stopwatch, every: Every): LoopLag {
  const looks = new Float64Array(LAG_LOOKS)
  let looksCount = 0
  let lookedAtMs = stopwatch()
  let lastingMs = 0
  let maxMs = 0
  const end = every(LAG_LOOK_MS, () => {
    const nowMs = stopwatch()
    const lagMs = Math.max(0, nowMs - lookedAtMs - LAG_LOOK_MS)
    looks[looksCount++ % LAG_LOOKS] = lagMs
    lastingMs = Math.min(...looks)
    maxMs = Math.max(maxMs, lagMs)
    lookedAtMs = nowMs
  })
  return {
    lastingMs: () => lastingMs,
    takeMaxMs: () => {
      const takenMs = maxMs
      maxMs = 0
      return takenMs
    },
    end,
  }
}
