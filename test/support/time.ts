import type { Clock, SetTimer, Stopwatch } from "../../src/base/outside-world.ts"
import { pendingSettled } from "./pending-work.ts"

/** Time that stands still until it is told to go on; what was to be done later is done on the way. */
export type FakeTime = {
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  readonly later: SetTimer
  /** Goes on by `ms`, does what is due in its order, and lets promises settle after each. */
  readonly tick: (ms: number) => Promise<void>
  /** How many pieces of work wait for their time. */
  readonly waiting: () => number
}

/** Builds a time that starts at `nowMs`. */
export function createFakeTime(nowMs = Date.UTC(2026, 0, 1)): FakeTime {
  let now = nowMs
  let next = 0
  const due = new Map<number, { readonly at: number; readonly work: () => void }>()
  const setTimer: SetTimer = (ms, work) => {
    const id = next++
    due.set(id, { at: now + ms, work })
    return () => void due.delete(id)
  }
  const tick = async (ms: number): Promise<void> => {
    const until = now + ms
    await settled()
    for (;;) {
      const [first] = [...due].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at)
      if (first === undefined) break
      const [id, { at, work }] = first
      due.delete(id)
      now = at
      work()
      await settled()
    }
    now = until
  }
  return { clock: () => now, stopwatch: () => now - nowMs, later: setTimer, tick, waiting: () => due.size }
}

/** Repeats work by a timer, until what it gives is called. */
export const repeatingOn =
  (later: SetTimer) =>
  (everyMs: number, work: () => void): (() => void) => {
    let cancel = (): void => undefined
    const next = (): void => {
      cancel = later(everyMs, () => {
        work()
        next()
      })
    }
    next()
    return () => cancel()
  }

/** Lets every promise settle that waits for nothing but others, or for a database server. */
export async function settled(): Promise<void> {
  do for (let turn = 0; turn < 50; turn++) await Promise.resolve()
  while (await pendingSettled())
}

/** Lets work that starts a little in each turn come to its end. */
export async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await settled()
}
