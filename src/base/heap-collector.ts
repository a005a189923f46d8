import type { SetTimer, Stopwatch } from "./outside-world.ts"

/** After so many pieces of work the heap is looked at: each look walks the heap's blocks. */
const WORK_PER_LOOK = 250

/** So long after the last look with work since, everything is collected once more, so that an idle process gives its memory back. */
const IDLE_MS = 5_000

/** How much the heap grows between two collections where there is memory: 40 MB are the garbage of some 2 000 lookups. */
const GROWTH_BYTES = 40 * 1_048_576
/** In a small control group it is this share of the memory. */
const GROWTH_SHARE = 1 / 64

/** Everything stands still during a collection, and then for so many times as long nothing is collected. */
const REST_TIMES = 9
/** A heap that has grown by so many times what it may is collected without a rest: on a busy machine a rest takes long. */
const GROWTH_TIMES_MAX = 2

/** How much the heap may grow between two collections in a process that may use so much memory. */
export const heapGrowthWithin = (memoryBytes: number): number => Math.min(GROWTH_BYTES, memoryBytes * GROWTH_SHARE)

/** So long after its start a server collects what that has left: the runtime lets go of code that ran once only when it is 15 s old. */
const START_MS = 20_000

/** Collects all garbage once, some time after the start. An idle server would hold the 7 MB for good. */
export function createStartCollector({
  setTimer,
  collectGarbage,
}: Pick<HeapCollectorDeps, "setTimer" | "collectGarbage">) {
  let cancel = (): void => undefined
  return {
    start: () => {
      cancel = setTimer(START_MS, collectGarbage)
    },
    stop: () => cancel(),
  }
}

type HeapCollectorDeps = {
  /** How much memory the heap takes, with what it keeps outside of itself. */
  readonly heapBytes: () => number
  /** Collects all garbage, and gives freed memory back to the system. */
  readonly collectGarbage: () => void
  readonly setTimer: SetTimer
  readonly stopwatch: Stopwatch
}

/** Collects garbage by work and by memory. */
export type HeapCollector = {
  /** Counts a piece of work that leaves some ten kilobytes of garbage, such as the lookup of a new name. */
  readonly countWork: () => void
  /** Cancels the collection that waits. */
  readonly stop: () => void
}

/**
 * Collects all garbage when the heap has grown by `growthBytes` since the last time, and once more when the work has ended. The runtime's
 * own collections let the heap grow with the memory of the machine, and look at the young objects alone: what was under way during one stays
 * until a complete one. Collections take a tenth of the time at most, unless the heap has grown by twice as much: work then goes on only as fast
 * as garbage is collected.
 */
export function createHeapCollector(
  { heapBytes, collectGarbage, setTimer, stopwatch }: HeapCollectorDeps,
  growthBytes: number,
): HeapCollector {
  let work = 0
  let workAtLook = 0
  /** The least that the heap took since the last collection. */
  let leastBytes = Number.POSITIVE_INFINITY
  let restsUntilMs = Number.NEGATIVE_INFINITY
  let cancelIdle: (() => void) | null = null
  const collect = (): void => {
    const startedAtMs = stopwatch()
    collectGarbage()
    const endedAtMs = stopwatch()
    restsUntilMs = endedAtMs + REST_TIMES * (endedAtMs - startedAtMs)
    leastBytes = heapBytes()
  }
  const waitForIdle = (): void => {
    const workBefore = work
    cancelIdle = setTimer(IDLE_MS, () => {
      cancelIdle = null
      if (work === workBefore) collect()
      else waitForIdle()
    })
  }
  return {
    countWork: () => {
      work++
      if (work - workAtLook < WORK_PER_LOOK) return
      workAtLook = work
      const bytes = heapBytes()
      leastBytes = Math.min(leastBytes, bytes)
      const grownBytesMax = growthBytes * (stopwatch() < restsUntilMs ? GROWTH_TIMES_MAX : 1)
      if (bytes - leastBytes >= grownBytesMax) collect()
      if (cancelIdle === null) waitForIdle()
    },
    stop: () => cancelIdle?.(),
  }
}
