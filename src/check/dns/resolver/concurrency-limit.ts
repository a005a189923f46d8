import { type Release, Semaphore } from "../../../base/concurrency.ts"
import { type Finding, unknown } from "../../../base/finding.ts"
import type { SetTimer } from "../../../base/outside-world.ts"
import type { DnsAnswer, DnsQuestion, Resolver } from "../dns-types.ts"

/**
 * How long a question holds its slot. The packets of a question that waits longer have left the socket's buffers; the slots
 * of dead domains would keep all others waiting.
 */
export const SLOT_MS = 250

type ConcurrencyBounds = {
  /** How many questions hold a slot. */
  readonly inFlightMax: number
  /** How many more wait, in the order of their arrival. */
  readonly waitingMax: number
  readonly setTimer: SetTimer
}

/**
 * Limits the questions that were sent within the last `SLOT_MS` and are in flight, and those that wait to be sent. Any further
 * question is `unavailable` at once.
 */
export function withConcurrencyLimit(
  resolver: Resolver,
  { inFlightMax, waitingMax, setTimer }: ConcurrencyBounds,
): Resolver {
  const semaphore = new Semaphore(inFlightMax, waitingMax)
  const resolveAndRelease = (question: DnsQuestion, release: Release): Promise<Finding<DnsAnswer>> => {
    let isHeld = true
    const cancelTimer = setTimer(SLOT_MS, () => {
      isHeld = false
      release()
    })
    return resolver(question).then(finding => {
      cancelTimer()
      if (isHeld) release()
      return finding
    })
  }
  return question => {
    const free = semaphore.tryAcquire()
    if (free !== null) return resolveAndRelease(question, free)
    const waiting = semaphore.acquire()
    return waiting === null
      ? Promise.resolve(unknown("unavailable"))
      : waiting.then(release => resolveAndRelease(question, release))
  }
}
