import type { Clock } from "../../src/base/outside-world.ts"

/** A clock that stands still until it is told to go on. */
export function stoppedClock(nowMs = Date.UTC(2026, 0, 1)): Clock & { readonly tick: (ms: number) => void } {
  let now = nowMs
  return Object.assign(() => now, {
    tick: (ms: number) => {
      now += ms
    },
  })
}
