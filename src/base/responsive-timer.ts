import type { SetTimer } from "./outside-world.ts"

/** Of how many waits a responsive timer is made, one after the other. */
export const RESPONSIVE_WAITS = 10

/** A timer that has been set. */
export type ResponsiveTimer = {
  /** How much of its time the event loop ran, in milliseconds. */
  readonly ranMs: () => number
  readonly cancel: () => void
}

/**
 * Calls `work` after `ms` milliseconds in which the event loop ran. A loop that stands still, however long, takes one tenth of that time, and
 * reads what has arrived meanwhile before the next tenth. So a process that is starved does not take others for silent.
 */
export function setResponsiveTimer(setTimer: SetTimer, ms: number, work: () => void): ResponsiveTimer {
  let waits = 0
  let cancel = (): void => undefined
  const waitNext = (): void => {
    cancel = setTimer(ms / RESPONSIVE_WAITS, () => {
      waits++
      if (waits === RESPONSIVE_WAITS) work()
      else waitNext()
    })
  }
  waitNext()
  return { ranMs: () => (waits * ms) / RESPONSIVE_WAITS, cancel: () => cancel() }
}
