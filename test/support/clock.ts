import type { Clock } from "../../src/base/outside-world.ts"
import type { TrustedInstant, TrustedTime } from "../../src/base/trusted-clock.ts"

/** A clock that stands still until it is told to go on. */
export function stoppedClock(nowMs = Date.UTC(2026, 0, 1)): Clock & { readonly tick: (ms: number) => void } {
  let now = nowMs
  return Object.assign(() => now, {
    tick: (ms: number) => {
      now += ms
    },
  })
}

/** An instant that a test trusts. */
export const trustedAt = (atMs: number): TrustedInstant => atMs as TrustedInstant

/** A time that a test trusts, whatever it is. */
export const trustedTime = (clock: Clock): TrustedTime => ({
  now: () => trustedAt(clock()),
  reference: clock,
  rowClock: clock,
})
