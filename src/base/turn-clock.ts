import type { Clock } from "./clock.ts"

/**
 * Builds a clock that is read once a turn of the event loop: one request asks for the time five times, and what is done in
 * one turn happens at one moment. It is late by a turn at most, about a millisecond under load. `soon` calls its work at the
 * end of a turn.
 */
export function turnClock(clock: Clock, soon: (work: () => void) => void): Clock {
  let now: number | null = null
  const forget = (): void => {
    now = null
  }
  return () => {
    if (now === null) {
      now = clock()
      soon(forget)
    }
    return now
  }
}
