import type { Clock } from "../../../base/outside-world.ts"
import type { RunInterval } from "../../../base/time.ts"

/** What one process of a node does for all of them, and how many slots it has. */
const CLAIM_SLOTS = { poll: 1, heartbeat: 1, settings: 1, seen_changes: 1, request_log: 1, pruning: 16 } as const
type Claimed = keyof typeof CLAIM_SLOTS

const SLOTS_COUNT = Object.values(CLAIM_SLOTS).reduce((sum, count) => sum + count, 0)

/** The size of the claims of a node in the memory that its workers share. */
export const NODE_CLAIMS_BYTES = SLOTS_COUNT * Float64Array.BYTES_PER_ELEMENT

/** An interval counts as over when so much of it has passed: timers are not exact, and a claim that is missed by a millisecond costs a whole one. */
const INTERVAL_PART_MIN = 0.9

/**
 * When a process of a node has last done a piece of work that one of them does for all. Whoever claims it does it, and no other before the
 * interval is over; a process that ends or hangs keeps nobody from the next claim. Two that claim at the same instant both do it, which does no harm.
 */
export class NodeClaims {
  readonly #claimedAtMs: Float64Array<ArrayBufferLike>
  readonly #clock: Clock

  /** `memory` is shared by the workers of a node, and zero at first; absent: the node has one process. */
  constructor(clock: Clock, memory: Float64Array<ArrayBufferLike> = new Float64Array(SLOTS_COUNT)) {
    this.#clock = clock
    this.#claimedAtMs = memory
  }

  /** Claims the work unless it was claimed within the last `everyMs`. A clock that was set back does not put it off. */
  take(work: Claimed, everyMs: number, slot = 0): boolean {
    const index = firstSlot(work) + slot
    const nowMs = this.#clock()
    const ageMs = nowMs - (this.#claimedAtMs[index] ?? 0)
    if (ageMs >= 0 && ageMs < everyMs) return false
    this.#claimedAtMs[index] = nowMs
    return true
  }

  /** Intervals whose work one process of the node does at a time. Each has a slot, in the order of the calls. */
  intervals(work: Claimed, runInterval: RunInterval): RunInterval {
    let used = 0
    return (everyMs, run) => {
      const slot = used++ % CLAIM_SLOTS[work]
      return runInterval(everyMs, () => {
        if (this.take(work, everyMs * INTERVAL_PART_MIN, slot)) run()
      })
    }
  }
}

function firstSlot(work: Claimed): number {
  let first = 0
  for (const [name, count] of Object.entries(CLAIM_SLOTS)) {
    if (name === work) return first
    first += count
  }
  return first
}
