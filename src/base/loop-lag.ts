import type { Stopwatch } from "./clock.ts"
import type { Every } from "./repeating.ts"

/** How often it is looked whether the event loop is late. */
export const LAG_LOOK_MS = 50

/** How late the event loop is: what has a time comes so much after it, and so does whatever arrives. */
export type LoopLag = {
  /** How late it was at the last look, in milliseconds. */
  readonly nowMs: () => number
  /** How late it was at most since this was last asked. */
  readonly takeMaxMs: () => number
  /** Looks no more. */
  readonly end: () => void
}

/** Begins to look. */
export function loopLag(stopwatch: Stopwatch, every: Every): LoopLag {
  let lookedAtMs = stopwatch()
  let lastMs = 0
  let maxMs = 0
  const end = every(LAG_LOOK_MS, () => {
    const nowMs = stopwatch()
    lastMs = Math.max(0, nowMs - lookedAtMs - LAG_LOOK_MS)
    maxMs = Math.max(maxMs, lastMs)
    lookedAtMs = nowMs
  })
  return {
    nowMs: () => lastMs,
    takeMaxMs: () => {
      const takenMs = maxMs
      maxMs = 0
      return takenMs
    },
    end,
  }
}
