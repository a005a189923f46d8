import type { SetTimer, Stopwatch } from "../base/outside-world.ts"

/** What decides whether rows of a job may be checked. */
export type TurnDeps = {
  readonly nextTick: (work: () => void) => void
  readonly setTimer: SetTimer
  readonly stopwatch: Stopwatch
  /** Whether live requests come. */
  readonly isLive: () => boolean
  /** The number of jobs that take turns. */
  readonly jobsCount: () => number
  /** Whether live requests are under way. */
  readonly isBusy: () => boolean
  /** Whether the server has more to do than it can. */
  readonly isUnderPressure: () => boolean
}

/** For so long after a request there may be more of them. */
const LIVE_MS = 250

/** Creates a function that tells whether live requests come, given how many were accepted so far. */
export function createLiveWatch(liveCount: () => number, stopwatch: Stopwatch): () => boolean {
  let seenCount = liveCount()
  let liveUntilMs = Number.NEGATIVE_INFINITY
  return () => {
    const nowMs = stopwatch()
    if (liveCount() !== seenCount) liveUntilMs = nowMs + LIVE_MS
    seenCount = liveCount()
    return nowMs < liveUntilMs
  }
}

/**
 * While there are, a job rests for so many times what it worked, and for at most so long, so that at most two or three of a hundred live
 * requests arrive while a job works.
 */
const REST = { factor: 40, mostMs: 50 } as const
/**
 * A turn is over after so long while there are. The answers to its look-ups come at the same time, and each takes as long to handle: with
 * sixteen rows in a turn one request of a hundred waited for 6 ms, and with these few it waits for 2 ms.
 */
const LIVE_TURN_MS = 0.1
/** After so much work a job waits for requests in flight and for pressure to end: in each of its short turns it would hardly come on. */
const WORK_BETWEEN_WAITS_MS = 0.5
/** How long a few rows wait for live requests, and how often they look. Requests that only wait for their bodies must not stop jobs. */
const BUSY_WAIT_MS = { most: 20, step: 2 } as const
/** The same under pressure. */
const PRESSURE_WAIT_MS = { most: 500, step: 50 } as const

/** When rows of a job may be checked. */
export type Turns = {
  /** Resolves when the next few rows may be checked. */
  readonly wait: () => Promise<void>
  /** Whether the next row must wait for a turn of its own, because live requests come. */
  readonly isOver: () => boolean
}

/**
 * Creates the turns of jobs: a few rows are checked after everything that has arrived was handled, and live requests have gone first. While
 * requests come, jobs leave most of the processor to them.
 */
export function createTurns(deps: TurnDeps): Turns {
  const { nextTick, setTimer, stopwatch, isLive, jobsCount, isBusy, isUnderPressure } = deps
  const sleep = (ms: number): Promise<void> => new Promise(resolve => void setTimer(ms, resolve))
  const waitWhile = async (isHeldUp: () => boolean, { most, step }: { most: number; step: number }): Promise<void> => {
    for (let waited = 0; waited < most && isHeldUp(); waited += step) await sleep(step)
  }
  let beganAtMs = stopwatch()
  let workedSinceWaitMs = WORK_BETWEEN_WAITS_MS
  const wait = async (): Promise<void> => {
    const workedMs = Math.max(0, stopwatch() - beganAtMs)
    if (isLive()) await sleep(Math.min(REST.mostMs, Math.max(1, REST.factor * jobsCount() * workedMs)))
    else await new Promise<void>(resolve => nextTick(resolve))
    workedSinceWaitMs += workedMs
    if (workedSinceWaitMs >= WORK_BETWEEN_WAITS_MS) {
      workedSinceWaitMs = 0
      await waitWhile(isBusy, BUSY_WAIT_MS)
      await waitWhile(isUnderPressure, PRESSURE_WAIT_MS)
    }
    beganAtMs = stopwatch()
  }
  return { wait, isOver: () => isLive() && stopwatch() - beganAtMs >= LIVE_TURN_MS }
}
