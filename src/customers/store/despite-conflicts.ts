import type { Random } from "../../base/clock.ts"
import type { Later } from "../../base/timer.ts"
import { StoreFault } from "./store-fault.ts"

/** How often what the engine ended for a conflict is begun in all; one that is begun so often has met others each time. */
export const TRIES_MAX = 8

/** How long it waits at most before it is begun anew, which doubles each time: a second in all. */
const WAIT_FIRST_MS = 8

const BYTE = 256

/** Does work that leaves nothing behind when it fails, again from its start when it failed for a conflict with others. */
export type Again = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Two transactions that wait for each other's rows would wait for ever: the engine ends one of them (deadlock, SQLSTATE
 * 40P01), and one that it cannot put in an order with others (40001). Nothing of it has happened, and by itself it is well:
 * it is begun anew, `TRIES_MAX` times at most, after a wait that chance draws so that the same two do not meet again. Without
 * chance each wait is as long as it may be.
 */
export function despiteConflicts(later: Later, random: Random | undefined): Again {
  const wait = (tried: number): Promise<void> => {
    const part = (random?.(1)[0] ?? BYTE) / BYTE
    return new Promise(resolve => void later(WAIT_FIRST_MS * 2 ** (tried - 1) * part, resolve))
  }
  return async work => {
    for (let tried = 1; tried < TRIES_MAX; tried++)
      try {
        return await work()
      } catch (fault) {
        if (!(fault instanceof StoreFault) || fault.code !== "conflict") throw fault
        await wait(tried)
      }
    return await work()
  }
}
