import type { Log } from "./log.ts"
import type { Clock, Random, SetTimer, Stopwatch } from "./outside-world.ts"
import type { RunInterval } from "./time.ts"

/** What the parts of a process are created from. `Settings`: those that a part reads. */
export type PartContext<Settings = unknown> = {
  readonly system: {
    readonly clock: Clock
    readonly stopwatch: Stopwatch
    readonly random: Random
    readonly setTimer: SetTimer
    readonly runInterval: RunInterval
    /** Calls `work` after this turn of the event loop has handled everything that has arrived. */
    readonly nextTick: (work: () => void) => void
  }
  readonly settings: Settings
  readonly log: Log
}
