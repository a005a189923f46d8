import { type Release, Semaphore } from "../../../base/concurrency.ts"
import { type Finding, unknown } from "../../../base/finding.ts"
import type { DnsAnswer, DnsQuestion, Resolver } from "../dns-types.ts"

type ConcurrencyBounds = {
  /** How many questions are asked at once. */
  readonly inFlightMax: number
  /** How many more wait, in the order in which they came. */
  readonly waitingMax: number
}

/** Asks at most so many questions at once, lets at most so many wait, and gives `unavailable` at once to the rest. */
export function withConcurrencyLimit(resolver: Resolver, { inFlightMax, waitingMax }: ConcurrencyBounds): Resolver {
  const slots = new Semaphore(inFlightMax, waitingMax)
  const asked = async (question: DnsQuestion, leave: Release): Promise<Finding<DnsAnswer>> => {
    const finding = await resolver(question)
    leave()
    return finding
  }
  return async question => {
    const free = slots.tryAcquire()
    if (free !== null) return asked(question, free)
    const slot = slots.acquire()
    return slot === null ? unknown("unavailable") : asked(question, await slot)
  }
}
