import type { Stopwatch } from "./outside-world.ts"
import type { RunInterval } from "./time.ts"

/** How often the lag is sampled. */
export const LAG_SAMPLE_MS = 50

/** How many samples in a row count as sustained lag: a single one may be a pause of the machine. */
export const LAG_SAMPLES = 4

/** The shortest pause that is logged: only a stop of the process or of its host takes so long. */
const STALL_MS_MIN = 5000

/** The lag of the event loop: the delay of timers, and so of incoming requests. */
export type EventLoopLag = {
  /** The least lag of the last `LAG_SAMPLES` samples, in milliseconds. */
  readonly sustainedMs: () => number
  /** The greatest lag since the last call, in milliseconds. */
  readonly takeMaxMs: () => number
  /** Stops sampling. */
  readonly stop: () => void
}

/** Starts sampling. `onStall` is called with the length of a long pause, when the loop runs again. */
export function measureEventLoopLag(
  stopwatch: Stopwatch,
  runInterval: RunInterval,
  onStall: (stalledMs: number) => void = () => undefined,
): EventLoopLag {
  const samples = new Float64Array(LAG_SAMPLES)
  let samplesCount = 0
  let sampledAtMs = stopwatch()
  let sustainedMs = 0
  let maxMs = 0
  const stop = runInterval(LAG_SAMPLE_MS, () => {
    const nowMs = stopwatch()
    const lagMs = Math.max(0, nowMs - sampledAtMs - LAG_SAMPLE_MS)
    samples[samplesCount++ % LAG_SAMPLES] = lagMs
    sustainedMs = Math.min(...samples)
    maxMs = Math.max(maxMs, lagMs)
    sampledAtMs = nowMs
    if (lagMs >= STALL_MS_MIN) onStall(lagMs)
  })
  return {
    sustainedMs: () => sustainedMs,
    takeMaxMs: () => {
      const takenMs = maxMs
      maxMs = 0
      return takenMs
    },
    stop,
  }
}
